package mcp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// Pins remember the description of each tool of a server from when umpire first saw it, or when a
// person last let it run: including its schema, as canonical JSON. They are safe for concurrent
// use; if two processes write at once, one entry may be lost.
type Pins struct {
	Path string // of the file

	mu sync.Mutex
}

// maxPins bounds the file, and maxPin one description.
const (
	maxPins = 16 << 20
	maxPin  = 256 << 10
)

// compare returns the changes of a tool's description as a diff, or "" if it is unchanged. It
// remembers a tool seen for the first time.
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

// remember makes a tool's current description the reference for comparisons.
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

// describe returns a tool's description for comparing: equal for equal tools, and readable in a diff.
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
