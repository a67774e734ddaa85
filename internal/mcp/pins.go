package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// Pins remember how each tool of a server described itself when umpire first saw it, or when a
// person last let it run: with its schema, as canonical JSON. They are safe for concurrent
// use; of two processes that write at once one may be forgotten.
type Pins struct {
	Path string // of the file

	mu sync.Mutex
}

// maxPins bounds the file, and maxPin one description.
const (
	maxPins = 16 << 20
	maxPin  = 256 << 10
)

// compare returns how a tool is described otherwise than it was, as a diff; "" is not
// otherwise. A tool that was never seen is remembered.
func (p *Pins) compare(key string, tool json.RawMessage) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, err := readKept[json.RawMessage](p.Path, maxPins)
	if err != nil {
		return "", err
	}
	was, known := kept[key]
	switch now, err := describe(tool); {
	case err != nil:
		return "", err
	case !known:
		return "", p.writePin(kept, key, tool)
	default:
		before, err := describe(was)
		return udiff.Unified("before", "now", before, now), err
	}
}

// remember makes a tool as it is now the one that is compared with.
func (p *Pins) remember(key string, tool json.RawMessage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, err := readKept[json.RawMessage](p.Path, maxPins)
	if err != nil || bytes.Equal(kept[key], tool) {
		return err
	}
	return p.writePin(kept, key, tool)
}

func (p *Pins) writePin(kept map[string]json.RawMessage, key string, tool json.RawMessage) error {
	if len(tool) > maxPin {
		return umpire.Errorf("the description of MCP tool %q is larger than %d bytes", key, maxPin)
	}
	kept[key] = tool
	return writeKept(p.Path, kept)
}

// describe writes a tool for comparing: equal for equal tools, and readable in a diff.
func describe(tool json.RawMessage) (string, error) {
	canonical, err := strictjson.Canonical(tool)
	if err != nil {
		return "", err
	}
	var value any
	if err := json.Unmarshal(canonical, &value); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(value, "", "  ")
	return string(text) + "\n", err
}
