package mcp

import (
	"encoding/hex"
	"sync"
)

// A ledger remembers how each tool was described when it was last called, from one run
// to the next: what a person or a rule agreed to was that tool, and a server that has
// its users' trust could give the name to another. A tool is entered when a call of it
// may run. Without a path nothing is remembered. It is safe for concurrent use; of two
// processes that write at once one may be forgotten, whose tool then counts as new.
type ledger struct {
	path string

	mu sync.Mutex
}

// maxLedger bounds the file; an entry takes some hundred bytes.
const maxLedger = 4 << 20

func ledgerKey(t *offer) string { return t.server.name + "/" + t.name }

// compare marks the tools that are described otherwise than when they were last called. A
// ledger that cannot be read marks all tools.
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

// rememberTool remembers a tool as it is described now.
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
