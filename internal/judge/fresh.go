package judge

import (
	"cmp"
	"os"

	"github.com/umpirehq/umpire"
)

// isFresh reports whether a write reaches only missing files or files that the session made.
// Writing to a folder changes nothing in it unless the access covers its whole tree.
func (j *Judge) isFresh(session umpire.SessionID, a *umpire.Access) bool {
	switch info, err := os.Lstat(a.Resolved); {
	case a.Glob:
		return false
	case err != nil:
		return isMissing(a.Resolved)
	case info.IsDir():
		return !a.Tree
	}
	return j.Made != nil && j.Made(session, a.Resolved)
}

// WrittenOutside returns the files outside the project that a call may create or replace and is
// allowed to write. It uses only the fields of a decision that survive its JSON form.
func WrittenOutside(d *umpire.Decision) (paths []string) {
	if d.Verdict != umpire.Allow {
		return nil
	}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		path := cmp.Or(a.Resolved, a.Target)
		if a.Kind != umpire.KindWrite || a.Place != umpire.PlaceOutside || a.Glob {
			continue
		}
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			paths = append(paths, path)
		}
	}
	return paths
}
