package mcp

import (
	"encoding/hex"
	"sync"
)

// A ledger remembers the description of each tool at its last call, from one run to the next: a
// person or a rule agreed to that tool, and a server that its users trust could give the name to
// another one. A tool is recorded when a call of it may run. Without a path nothing is remembered.
// It is safe for concurrent use; if two processes write at once, one entry may be lost, and its
// tool then counts as new.
type ledger struct {
	path string

	mu sync.Mutex
}

// maxLedger bounds the file; an entry takes some hundred bytes.
const maxLedger = 4 << 20

func ledgerKey(t *offer) string { return t.server.name + "/" + t.name }

// compare marks the tools whose description has changed since their last call. If the ledger is
// unreadable, it marks all tools.
func (l *ledger) compare(offers []*offer) error {
	if l.path == "" || len(offers) == 0 {
		return nil
	}
	kept, err := readKept[string](l.path, maxLedger)
	for _, t := range offers {
		was, known := kept[ledgerKey(t)]
		t.anew = err != nil || known && was != hex.EncodeToString(t.print[:])
	}
	return err
}

// rememberTool records the current description of a tool.
func (l *ledger) rememberTool(t *offer) error {
	if l.path == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, err := readKept[string](l.path, maxLedger)
	if err != nil {
		return err
	}
	now := hex.EncodeToString(t.print[:])
	if kept[ledgerKey(t)] == now {
		return nil
	}
	kept[ledgerKey(t)] = now
	return writeKept(l.path, kept)
}
