package mcp

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
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

// records is the stored shape: the fingerprints, by server and tool.
type records struct {
	Version int               `json:"version"`
	Tools   map[string]string `json:"tools"`
}

func ledgerKey(t *offer) string { return t.server.name + "/" + t.name }

// readTools returns the remembered tools; at first there are none.
func (l *ledger) readTools() (map[string]string, error) {
	data, err := files.ReadSmall(l.path, maxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	var kept records
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && (kept.Version != 1 || kept.Tools == nil) {
		err = errors.New("want version 1, with tools")
	}
	if err != nil {
		return nil, umpire.Errorf("what is remembered of MCP tools, in %q: %w", l.path, err)
	}
	return kept.Tools, nil
}

// compare marks the tools that are described otherwise than when they were last called. A
// ledger that cannot be read marks all tools.
func (l *ledger) compare(offers []*offer) error {
	if l.path == "" || len(offers) == 0 {
		return nil
	}
	kept, err := l.readTools()
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
	kept, err := l.readTools()
	if err != nil {
		return err
	}
	now := hex.EncodeToString(t.print[:])
	if kept[ledgerKey(t)] == now {
		return nil
	}
	kept[ledgerKey(t)] = now
	data, err := json.MarshalIndent(records{Version: 1, Tools: kept}, "", "  ")
	if err != nil {
		return umpire.Errorf("remember MCP tools: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return umpire.Errorf("remember MCP tools: %w", err)
	}
	return files.Replace(l.path, append(data, '\n'), 0o600)
}
