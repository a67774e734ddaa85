package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// ErrNoRule means that a file has no rule with the id.
var ErrNoRule = errors.New("no such rule")

// A Writer changes rule files. Several writers, in this process and in others, may
// change one file at once without losing changes. The zero value writes no allow rules,
// and does not update trust.
type Writer struct {
	// Check refuses a rule that would not load.
	Check Check
	// Trust keeps umpire's own changes to a project's file trusted, if the file was
	// trusted before or is new.
	Trust Trust
}

// Add appends a rule to a layer's file, creating the file if needed. It returns the rule's
// id: its own if that is free, or else a similar one. It does not add a rule that the file
// already has.
//
// Add does not write a file that is invalid or reached through a symbolic link. In a
// project's file that is not trusted it writes an allow rule, but the rule sleeps like
// the others there.
func (w Writer) Add(l Layer, r umpire.Rule) (umpire.RuleID, error) {
	if err := w.Check.checkRule(r); err != nil {
		return "", umpire.Errorf("add rule to %s: %w", escapeControl(l.Path), err)
	}
	err := w.change(l, true, func(data []byte) ([]byte, error) {
		e, err := newEdit(l.Path, data)
		if err != nil {
			return nil, err
		}
		if id, ok := w.findSame(e, r); ok {
			r.ID = id
			return data, nil
		}
		if len(e.read) >= maxRules {
			return nil, umpire.Errorf("there are already %d rules", maxRules)
		}
		if r.ID == "" {
			r.ID = derivedID(r)
		}
		r.ID, _ = freeID(r.ID, 1, e.has)
		return e.addRule(r)
	})
	if err != nil {
		return "", umpire.Errorf("add rule to %s: %w", escapeControl(l.Path), err)
	}
	return r.ID, nil
}

// Find returns the id of a rule in force in a layer's file that is equal to r.
func (w Writer) Find(l Layer, r umpire.Rule) (umpire.RuleID, bool) {
	if l.writable() != nil {
		return "", false
	}
	data, err := os.ReadFile(l.Path)
	if err != nil {
		return "", false
	}
	e, err := newEdit(l.Path, data)
	if err != nil {
		return "", false
	}
	return w.findSame(e, r)
}

// findSame finds a rule in force that is equal to r.
func (w Writer) findSame(e *edit, r umpire.Rule) (umpire.RuleID, bool) {
	for _, n := range e.read {
		if n.sound && sameRule(n.rule, r) && w.Check.checkRule(n.rule) == nil {
			return n.rule.ID, true
		}
	}
	return "", false
}

// has reports whether a rule of the file goes by the id.
func (e *edit) has(id umpire.RuleID) bool { return e.findRule(id) >= 0 }

// findRule returns the place in the list of the rule that goes by the id, or -1.
func (e *edit) findRule(id umpire.RuleID) int {
	for i, n := range e.read {
		if n.rule.ID == id {
			return i
		}
	}
	return -1
}

// Remove removes every rule with the id from a layer's file. A rule without an id has the
// one derived on loading. ErrNoRule means that no rule has the id.
func (w Writer) Remove(l Layer, id umpire.RuleID) error {
	err := w.change(l, false, func(data []byte) ([]byte, error) {
		removed := false
		for {
			e, err := newEdit(l.Path, data)
			if err != nil {
				return nil, err
			}
			i := e.findRule(id)
			if i < 0 && !removed {
				return nil, ErrNoRule
			}
			if i < 0 {
				return data, nil
			}
			if data, err = e.remove(i); err != nil {
				return nil, err
			}
			removed = true
		}
	})
	if err != nil {
		return umpire.Errorf("remove rule %q from %s: %w", id, escapeControl(l.Path), err)
	}
	return nil
}

// writable returns why umpire does not write a layer's file, or nil.
func (l Layer) writable() error {
	switch l.Source {
	case umpire.SourceProject, umpire.SourceUser, umpire.SourceFlag:
	case umpire.SourceManaged:
		return errors.New("the managed file belongs to the administrator")
	case umpire.SourceUnknown, umpire.SourceBuiltin, umpire.SourceSession:
		return umpire.Errorf("rules of kind %s cannot be stored in a file", l.Source)
	default:
		return errors.New("the source of the file is unknown")
	}
	if l.Format != FormatUmpire {
		return umpire.Errorf("files of format %s are read, never written", l.Format)
	}
	if l.Source == umpire.SourceProject && (l.Root == "" || !files.Within(l.Root, l.Path)) {
		return errors.New("the file is not in the project")
	}
	return l.refuseLinks()
}

// change replaces a layer's file with the result of edit, under its lock.
func (w Writer) change(l Layer, create bool, edit func([]byte) ([]byte, error)) error {
	if err := l.writable(); err != nil {
		return err
	}
	mode, folderMode := l.modes()
	if create {
		if err := makeFolder(filepath.Dir(l.Path), folderMode); err != nil {
			return err
		}
	}
	unlock, err := lockFile(l.Path)
	if err != nil && !create && errors.Is(err, fs.ErrNotExist) {
		return ErrNoRule
	}
	if err != nil {
		return err
	}
	defer unlock()
	old, err := readRegular(l.Path, maxFileSize)
	fresh := errors.Is(err, fs.ErrNotExist)
	switch {
	case fresh && create:
		old = content{data: []byte(emptyFile), mode: mode}
	case fresh:
		return ErrNoRule
	case err != nil:
		return err
	}
	data, err := edit(old.data)
	if err != nil {
		return err
	}
	if err := verifyReadable(l, data); err != nil {
		return err
	}
	if !fresh && string(data) == string(old.data) {
		return nil
	}
	return w.replace(l, old, data, fresh)
}

// verifyReadable checks before writing that the new content can be read again.
func verifyReadable(l Layer, data []byte) error {
	if len(data) > maxFileSize {
		return umpire.Errorf("the file would be larger than %d bytes", maxFileSize)
	}
	_, problem := parseFile(l, data, Options{})
	if problem != nil {
		return umpire.Errorf("the change would break the file: %w", problem)
	}
	return nil
}

// replace writes a file and keeps it trusted if it was trusted. It trusts the new
// content before writing it, and the old content until it is gone; otherwise a reader
// could find the rules inactive in between.
func (w Writer) replace(l Layer, old content, data []byte, fresh bool) error {
	keep := l.Source == umpire.SourceProject && w.Trust.Path != ""
	if keep && !fresh {
		known, err := w.Trust.trusted(l.Root, l.Path, hashOf(old.data))
		if err != nil {
			return err
		}
		keep = known
	}
	if !keep {
		return files.Replace(l.Path, data, old.mode)
	}
	if err := w.Trust.trustContent(l.Root, l.Path, hashOf(data)); err != nil {
		return err
	}
	if err := files.Replace(l.Path, data, old.mode); err != nil {
		return err
	}
	return w.Trust.Grant(l.Root, l.Path, hashOf(data))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
