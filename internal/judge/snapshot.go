package judge

import (
	"errors"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// maxSize is the maximum size of a snapshot, enough for about 20,000 rules.
const maxSize = 8 << 20

// A SnapshotKey identifies a snapshot by its folder and its owner.
type SnapshotKey struct {
	Dir      string // the folder that identifies the project, absolute
	Home     string // umpire's own folder
	UserHome string
}

// A Snapshot holds everything needed to decide calls in the project of a folder, read and checked
// in advance. Without it, a hook that runs without a gate would read it all for each call.
//
// It is valid while every file that it was made of has the same inode, size, permissions and times,
// and every missing file is still missing. A recently changed file may change again within the
// resolution of its times, so SaveSnapshot refuses it. Snapshots lie in umpire's own folder, which
// the policy guards like the rules.
type Snapshot struct {
	SnapshotKey

	policy.Settings

	Root string
	// Degraded says why deny or ask rules may be missing, or is "".
	Degraded string
	Rules    []SnapshotRule
	// Files are all files that the snapshot was made of.
	Files []SnapshotFile // the last field: see fields
}

// A SnapshotRule is a rule with its source, file, line and reason, which its own JSON leaves out.
type SnapshotRule struct {
	umpire.Rule

	From umpire.Source `json:"from"`
	In   string        `json:"in"`
	At   int           `json:"at"`
	Own  umpire.Phrase `json:"says,omitempty"`
}

// A SnapshotFile records the state of one file. The stamp of a missing file is "".
type SnapshotFile struct {
	Path  string
	Stamp string
}

// NewSnapshotRule keeps a rule together with its file and line.
func NewSnapshotRule(r umpire.Rule) SnapshotRule {
	kept := SnapshotRule{Rule: r, From: r.Source, In: r.File, At: r.Line, Own: r.Says}
	kept.Source, kept.File, kept.Line, kept.Says = 0, "", 0, ""
	return kept
}

// path returns the snapshot's file name. The name is a hash that another key may share, so the
// file contains the key too.
func (p SnapshotKey) path() string {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, p.Dir) // it never fails
	return filepath.Join(p.Home, "state", "snapshots", strconv.FormatUint(sum.Sum64(), 16)+".json")
}

// LoadSnapshot returns the snapshot for a key if there is a valid one.
func LoadSnapshot(p SnapshotKey) (*Snapshot, bool) {
	data, err := readOwn(p.path())
	if err != nil {
		return nil, false
	}
	s, err := unmarshal(data)
	if err != nil || s.SnapshotKey != p || len(s.Files) == 0 {
		return nil, false
	}
	for _, f := range s.Files {
		if now, _, err := files.Stamp(f.Path); err != nil || now != f.Stamp {
			return nil, false
		}
	}
	return s, true
}

// readOwn reads a file that no other user could have written.
func readOwn(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || info.Size() > maxSize || !files.Owned(info) {
		return nil, errors.New("not umpire's snapshot")
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// SaveSnapshot makes and stores a snapshot unless a valid one exists. It calls take twice to
// read the files. Both results must be equal, and the files must not change from before the
// second call to after it.
func SaveSnapshot(p SnapshotKey, take func() (*Snapshot, error)) error {
	if _, ok := LoadSnapshot(p); ok {
		return nil
	}
	first, err := take()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := first.stamp(began); err != nil {
		return err
	}
	again, err := take()
	if err != nil {
		return err
	}
	if err := again.stamp(began); err != nil {
		return err
	}
	if first.SnapshotKey != p || !reflect.DeepEqual(first, again) {
		return errors.New("its source files are changing")
	}
	return first.write()
}

// stamp records the current state of the files.
func (s *Snapshot) stamp(now time.Time) error {
	for i := range s.Files {
		f := &s.Files[i]
		text, changed, err := files.Stamp(f.Path)
		if err != nil {
			return err
		}
		if text != "" && now.Sub(changed) < settled {
			return umpire.Errorf("%s has just changed", f.Path)
		}
		f.Stamp = text
	}
	return nil
}

// write stores a snapshot, provided that it decodes to the same value.
func (s *Snapshot) write() error {
	data, err := s.marshal()
	if err != nil {
		return err
	}
	back, err := unmarshal(data)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(back, s) || len(data) > maxSize {
		return errors.New("it would read back differently")
	}
	name := s.path()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // created with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Judge returns a judge for the snapshot. It fails if the folder now belongs to a different
// root, because the snapshot then describes another project.
func (s *Snapshot) Judge() (*Judge, error) {
	bounds, err := place.Open(s.Dir, place.Options{Added: s.AddDirs, Home: s.UserHome})
	if err != nil {
		return nil, err
	}
	if bounds.Root != s.Root {
		return nil, umpire.Errorf("the root of %q is now %q; it was %q", s.Dir, bounds.Root, s.Root)
	}
	rules := make([]umpire.Rule, 0, len(s.Rules))
	for _, kept := range s.Rules {
		r := kept.Rule
		r.Source, r.File, r.Line, r.Says = kept.From, kept.In, kept.At, kept.Own
		rules = append(rules, r)
	}
	made, err := policy.New(rules, policy.Options{
		Settings: s.Settings, Root: bounds.Root, Home: bounds.Home, StateDir: s.Home, FoldCase: bounds.FoldCase,
	})
	return &Judge{
		Bounds: bounds, Policy: made, Degraded: s.Degraded, Home: s.UserHome, Sandbox: s.Sandbox,
		Code: CodeLedger{Dir: filepath.Join(s.Home, LedgerDir)},
	}, err
}
