package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// Pins remember how each tool of a server described itself when umpire first saw it, or when a
// person last let it run: with its schema, as canonical JSON. They are safe for concurrent
// use; of two processes that write at once one may be forgotten.
type Pins struct {
	Path string // of the file

	mu sync.Mutex
}

// pinned is the stored shape: the descriptions, by server and tool.
type pinned struct {
	Version int                        `json:"version"`
	Tools   map[string]json.RawMessage `json:"tools"`
}

// maxPins bounds the file, and maxPin one description.
const (
	maxPins = 16 << 20
	maxPin  = 256 << 10
)

func (p *Pins) readAll() (map[string]json.RawMessage, error) {
	data, err := files.ReadSmall(p.Path, maxPins)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]json.RawMessage{}, nil
	}
	var kept pinned
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && (kept.Version != 1 || kept.Tools == nil) {
		err = errors.New("want version 1, with tools")
	}
	if err != nil {
		return nil, umpire.Errorf("what is remembered of MCP tools, in %q: %w", p.Path, err)
	}
	return kept.Tools, nil
}

// compare returns how a tool is described otherwise than it was, as a diff; "" is not
// otherwise. A tool that was never seen is remembered.
func (p *Pins) compare(key string, tool json.RawMessage) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, err := p.readAll()
	if err != nil {
		return "", err
	}
	was, known := kept[key]
	switch now, err := describe(tool); {
	case err != nil:
		return "", err
	case !known:
		return "", p.writeAll(kept, key, tool)
	default:
		before, err := describe(was)
		return udiff.Unified("before", "now", before, now), err
	}
}

// remember makes a tool as it is now the one that is compared with.
func (p *Pins) remember(key string, tool json.RawMessage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, err := p.readAll()
	if err != nil || bytes.Equal(kept[key], tool) {
		return err
	}
	return p.writeAll(kept, key, tool)
}

func (p *Pins) writeAll(kept map[string]json.RawMessage, key string, tool json.RawMessage) error {
	if len(tool) > maxPin {
		return umpire.Errorf("the description of MCP tool %q is larger than %d bytes", key, maxPin)
	}
	kept[key] = tool
	data, err := json.Marshal(pinned{Version: 1, Tools: kept})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.Path), 0o700)
	}
	if err == nil {
		err = files.Replace(p.Path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return umpire.Errorf("remember MCP tools: %w", err)
	}
	return nil
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
