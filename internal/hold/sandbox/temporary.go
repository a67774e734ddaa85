package sandbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Temporary is the folder under which a command sees its temporary files, whether they are its own or
// the machine's.
const Temporary = "/tmp"

// A TemporaryFolder passes files between [Temporary] as a trial sees it and the real folder. The zero value
// passes none.
//
//	rest, err := folder.Lend(trial, seen) // before the trial
//	err = folder.Adopt(trial)             // if it is kept
type TemporaryFolder struct {
	// Path is the real folder.
	Path string `json:"path,omitempty"`
	// Named are the files that the command names and may write, as it sees them.
	Named []string `json:"named,omitempty"`
	// Session is the session whose files they are, and Ledger records that.
	Session umpire.SessionID `json:"-"`
	Ledger  ScratchLedger    `json:"-"`
}

// Limits of the files that a command does not name. The rest of them are lost.
const (
	maxUnnamed      = 1000
	maxUnnamedBytes = 256 << 20
)

// Lend copies the named files that the session has made to the folder of a trial, and makes the
// folders of the others that are there. It returns the paths among seen that it has not copied.
func (f *TemporaryFolder) Lend(trial string, seen []string) (rest []string, err error) {
	if f.Path == "" {
		return seen, nil
	}
	lent := map[string]bool{}
	for _, name := range f.Named {
		below, ok := strings.CutPrefix(name, Temporary+"/")
		if info, err := os.Stat(filepath.Join(f.Path, path.Dir(below))); !ok || err != nil || !info.IsDir() {
			continue
		}
		if err := os.MkdirAll(filepath.Join(trial, path.Dir(below)), 0o700); err != nil {
			return nil, err
		}
		if !f.isOwn(below) {
			continue
		}
		if err := copyNew(filepath.Join(f.Path, below), filepath.Join(trial, below)); err != nil {
			return nil, err
		}
		lent[name] = true
	}
	return slices.DeleteFunc(slices.Clone(seen), func(name string) bool { return lent[name] }), nil
}

// isOwn reports whether the session may replace a file that exists in the real folder.
func (f *TemporaryFolder) isOwn(below string) bool {
	file := filepath.Join(f.Path, below)
	if f.Path == Temporary {
		return f.Ledger.Made(f.Session, file)
	}
	info, err := os.Lstat(file) // the folder is the session's own
	return err == nil && info.Mode().IsRegular()
}

func copyNew(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Adopt copies the files that a kept trial has left in its folder to the real one, and claims them
// for the session: new files, and changed ones that were lent to it. It changes no other file.
//
// A folder's files count only if the command names one of them, or if the folder has the name of a
// new temporary folder. Programs look for compiled code in other folders.
func (f *TemporaryFolder) Adopt(trial string) error {
	if f.Path == "" {
		return nil
	}
	from, err := os.OpenRoot(trial)
	if err != nil {
		return files.IgnoreMissing(err)
	}
	defer from.Close()
	if f.Path != Temporary {
		_ = os.Mkdir(f.Path, 0o700) // the session's first command makes it otherwise
	}
	to, err := os.OpenRoot(f.Path)
	if err != nil {
		return files.IgnoreMissing(err)
	}
	defer to.Close()
	a := adoption{folder: f, from: from, to: to}
	if err := fs.WalkDir(from.FS(), ".", a.visit); err != nil {
		return err
	}
	if f.Path == Temporary {
		var claims []string
		for _, name := range a.created {
			claims = append(claims, filepath.Join(f.Path, name))
		}
		if err := f.Ledger.Claim(f.Session, claims); err != nil {
			return err
		}
	}
	for _, name := range a.created {
		if err := a.create(name); err != nil {
			return err
		}
	}
	for _, name := range a.changed {
		if err := a.copyTo(name, os.O_WRONLY|os.O_TRUNC, 0); err != nil {
			return err
		}
	}
	return nil
}

// An adoption collects the files to copy, relative to both folders.
type adoption struct {
	folder   *TemporaryFolder
	from, to *os.Root

	created, changed []string
	unnamed          int
	unnamedBytes     int64
}

// visit adds a file that may be copied.
func (a *adoption) visit(name string, e fs.DirEntry, err error) error {
	if err != nil {
		return fs.SkipDir // the command has made it unreadable
	}
	named := slices.ContainsFunc(a.folder.Named, func(path string) bool {
		below, ok := strings.CutPrefix(path, Temporary+"/")
		return ok && (below == name || e.IsDir() && files.Within(name, below))
	})
	if e.IsDir() {
		if name == "." || named || strings.HasPrefix(name, "tmp") {
			return nil
		}
		return fs.SkipDir
	}
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() || !named && !a.hasRoom(name, info) {
		return nil //nolint:nilerr // a file that cannot be copied is lost
	}
	switch _, err := a.to.Lstat(name); {
	case files.Missing(err):
		a.created = append(a.created, name)
	case err == nil && named && a.folder.isOwn(name) && a.differs(name):
		a.changed = append(a.changed, name)
	}
	return nil
}

// hasRoom reports whether a file without a name in the command may be copied.
func (a *adoption) hasRoom(name string, info fs.FileInfo) bool {
	a.unnamed++
	a.unnamedBytes += info.Size()
	return !strings.HasPrefix(name, ".") && a.unnamed <= maxUnnamed && a.unnamedBytes <= maxUnnamedBytes
}

// differs reports whether a file has another content than the real one.
func (a *adoption) differs(name string) bool {
	before, err := a.to.ReadFile(name)
	if err != nil {
		return true
	}
	after, err := a.from.ReadFile(name)
	return err != nil || !bytes.Equal(before, after)
}

// create copies a new file. It skips one whose place somebody else has taken, or whose folder
// belongs to somebody else.
func (a *adoption) create(name string) error {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if err := a.to.Mkdir(name[:i], 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := a.to.Lstat(name[:i]); err != nil || !info.IsDir() || !files.Owned(info) {
			return err
		}
	}
	info, err := a.from.Lstat(name)
	if err != nil {
		return err
	}
	err = a.copyTo(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (a *adoption) copyTo(name string, flags int, perm fs.FileMode) error {
	in, err := a.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := a.to.OpenFile(name, flags, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
