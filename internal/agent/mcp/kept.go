package mcp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// keptTools is the content of a file with one entry for each tool, by its server and name.
type keptTools[V any] struct {
	Version int          `json:"version"`
	Tools   map[string]V `json:"tools"`
}

// readKept reads such a file of at most limit bytes. If it does not exist, the result is empty.
func readKept[V any](path string, limit int64) (map[string]V, error) {
	data, err := files.ReadSmall(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]V{}, nil
	}
	var kept keptTools[V]
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && (kept.Version != 1 || kept.Tools == nil) {
		err = errors.New("want version 1, with tools")
	}
	if err != nil {
		return nil, umpire.Errorf("remembered MCP tools, in %q: %w", path, err)
	}
	return kept.Tools, nil
}

// writeKept replaces such a file.
func writeKept[V any](path string, tools map[string]V) error {
	data, err := json.Marshal(keptTools[V]{Version: 1, Tools: tools})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = files.Replace(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return umpire.Errorf("remember MCP tools: %w", err)
	}
	return nil
}
