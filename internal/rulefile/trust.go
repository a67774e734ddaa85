package rulefile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// maxTrustSize bounds the ledger; an entry takes a few hundred bytes.
const maxTrustSize = 16 << 20

// A Trusted is one entry of the trust ledger: this exact content of this file
// in this project may allow.
type Trusted struct {
	Root   string    `json:"root"`
	File   string    `json:"file"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
}

// Trust is the ledger of project files whose allow rules count. It is a file of the
// user, outside every project. The zero value trusts nothing and cannot be written. A
// Trust may be used by several goroutines and processes at once.
type Trust struct {
	Path string
	// Now returns the time of a grant; nil means time.Now.
	Now func() time.Time
}

// ledger is the stored shape.
type ledger struct {
	Version int       `json:"version"`
	Entries []Trusted `json:"entries"`
}

// entries returns the whole ledger. A missing ledger is empty. An invalid one is an
// error, and nothing is trusted.
func (t Trust) entries() ([]Trusted, error) {
	if t.Path == "" {
		return nil, nil
	}
	c, err := readRegular(t.Path, maxTrustSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, umpire.Errorf("trust ledger: %w", err)
	}
	if writableByOthers(c.mode) {
		return nil, umpire.Errorf(
			"trust ledger %s: other users can write it; run chmod 600", escapeControl(t.Path),
		)
	}
	var l ledger
	if err := json.Unmarshal(c.data, &l); err != nil {
		return nil, umpire.Errorf("trust ledger %s: %w", escapeControl(t.Path), err)
	}
	if l.Version != 1 {
		return nil, umpire.Errorf("trust ledger %s: version %d, want 1", escapeControl(t.Path), l.Version)
	}
	return l.Entries, nil
}

// trusted reports whether the file's content with this SHA-256, in hex, is
// trusted. An error means no.
func (t Trust) trusted(root, file, sha256 string) (bool, error) {
	entries, err := t.entries()
	return isTrusted(entries, root, file, sha256), err
}

func isTrusted(entries []Trusted, root, file, sha256 string) bool {
	return root != "" && sha256 != "" && slices.ContainsFunc(entries, func(e Trusted) bool {
		return e.SHA256 == sha256 && e.is(root, file)
	})
}

func (e Trusted) is(root, file string) bool {
	return e.Root == filepath.Clean(root) && e.File == filepath.Clean(file)
}

// Grant trusts exactly this content of the file, and no earlier one.
func (t Trust) Grant(root, file, sha256 string) error {
	return t.change(func(entries []Trusted) []Trusted {
		return append(withoutEntry(entries, root, file), t.entry(root, file, sha256))
	})
}

// Revoke trusts no content of the file any more.
func (t Trust) Revoke(root, file string) error {
	return t.change(func(entries []Trusted) []Trusted { return withoutEntry(entries, root, file) })
}

// trustContent trusts another content of the file in addition to the trusted ones.
func (t Trust) trustContent(root, file, sha256 string) error {
	return t.change(func(entries []Trusted) []Trusted {
		return append(entries, t.entry(root, file, sha256))
	})
}

func (t Trust) entry(root, file, sha256 string) Trusted {
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	return Trusted{Root: filepath.Clean(root), File: filepath.Clean(file), SHA256: sha256, At: now().UTC()}
}

func withoutEntry(entries []Trusted, root, file string) []Trusted {
	return slices.DeleteFunc(slices.Clone(entries), func(e Trusted) bool { return e.is(root, file) })
}

// change replaces the ledger with the result of edit. It leaves an invalid ledger
// unchanged.
func (t Trust) change(edit func([]Trusted) []Trusted) error {
	if t.Path == "" {
		return errors.New("trust ledger: no file is set up for it")
	}
	if err := makeFolder(filepath.Dir(t.Path), userFolderMode); err != nil {
		return umpire.Errorf("trust ledger: %w", err)
	}
	unlock, err := lockFile(t.Path)
	if err != nil {
		return umpire.Errorf("trust ledger: %w", err)
	}
	defer unlock()
	entries, err := t.entries()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(ledger{Version: 1, Entries: edit(entries)}, "", "  ")
	if err != nil {
		return umpire.Errorf("trust ledger: %w", err)
	}
	return files.Replace(t.Path, append(data, '\n'), userFileMode)
}
