package judge

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// maxEdited bounds the files of one call that are looked up.
const maxEdited = 5000

// EditsByAutonomy reports whether a call changes files of the project and is allowed by a person's
// autonomy.
func EditsByAutonomy(d *umpire.Decision) bool {
	byAutonomy := func(r umpire.Reason) bool { return r.Code == umpire.CodeAutonomy }
	return d.Verdict == umpire.Allow && slices.ContainsFunc(d.Reasons, byAutonomy) &&
		slices.ContainsFunc(d.Accesses, changesProject)
}

func changesProject(a umpire.Access) bool {
	return a.Place == umpire.PlaceInside && (a.Kind == umpire.KindWrite || a.Kind == umpire.KindDelete)
}

// EditedFiles returns the files, links and folders in some folders that such a call may change, delete, move
// or replace: an undo needs what they hold. It includes paths where nothing is yet, and, in case of doubt,
// files that the call does not change. It returns none for other calls, and for one that may change too
// many files. It uses only the parts of a decision that its JSON has.
func EditedFiles(d *umpire.Decision, roots []string) []string {
	paths, whole := editedFiles(d, roots)
	if !whole {
		return nil
	}
	return paths
}

// editedFiles is EditedFiles, and reports whether these are all.
func editedFiles(d *umpire.Decision, roots []string) (paths []string, whole bool) {
	if !EditsByAutonomy(d) {
		return nil, true
	}
	e := edits{formats: slices.ContainsFunc(d.Accesses, formats)}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		path := a.Resolved
		root := deepestOf(roots, path)
		if root == "" || !changesProject(*a) {
			continue
		}
		if a.Kind == umpire.KindDelete {
			e.addMoved(path, d.Accesses, roots)
		}
		e.addPath(path)
		if link := canonicalName(a.Target); link != path && deepestOf(roots, link) != "" {
			e.addEntry(link) // what is written by the name of a link may replace it
		}
		if below := strings.TrimPrefix(path, root); strings.ContainsAny(below, special) {
			e.addMatches(root, files.Components(below))
		}
	}
	slices.Sort(e.found)
	e.found = slices.Compact(e.found)
	return e.found, len(e.found) <= maxEdited
}

// canonicalName is a path with the links above it resolved, but not itself one.
func canonicalName(path string) string {
	if d, err := files.Follow(path, false); err == nil {
		return d.Path
	}
	return path
}

// deepestOf returns the deepest of some folders that contains a path, or "".
func deepestOf(folders []string, path string) (deepest string) {
	for _, folder := range folders {
		if files.Within(folder, path) && len(folder) > len(deepest) {
			deepest = folder
		}
	}
	return deepest
}

// formats reports whether a program formats all sources below a folder.
func formats(a umpire.Access) bool {
	return a.Kind == umpire.KindExec && slices.Contains([]string{"gofmt", "goimports", "gofumpt"}, a.Program)
}

// edits collects the files that a call may change.
type edits struct {
	found   []string
	formats bool
}

// addPath adds what is at a path and is no folder, what may be put there, or the sources below a folder that
// are formatted. Other changes to a folder lose nothing.
func (e *edits) addPath(path string) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir() && e.formats:
		e.addSources(path)
	case err == nil && info.IsDir():
	case err == nil:
		e.found = append(e.found, path)
	default:
		// cp a b names b/a as well, which can only be where b is a folder.
		if above, err := os.Stat(filepath.Dir(path)); err != nil || above.IsDir() {
			e.found = append(e.found, path)
		}
	}
}

// addMoved adds all that a folder holds that a call moves, and where it goes: into a folder, by its name.
func (e *edits) addMoved(path string, accesses []umpire.Access, roots []string) {
	for i := range accesses {
		a := &accesses[i]
		into := filepath.Join(a.Resolved, filepath.Base(path))
		if a.Kind == umpire.KindWrite && changesProject(*a) && deepestOf(roots, into) != "" {
			if info, err := os.Stat(filepath.Dir(into)); err == nil && info.IsDir() {
				e.found = append(e.found, into)
			}
		}
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return
	}
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error { // a record says what cannot be read
		if e.found = append(e.found, path); len(e.found) > maxEdited {
			return fs.SkipAll
		}
		return nil
	})
}

// addSources adds the sources below a folder, and those that links there lead to.
func (e *edits) addSources(folder string) {
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if len(e.found) > maxEdited {
			return fs.SkipAll
		}
		if err == nil && filepath.Ext(path) == ".go" { // what cannot be read is not changed either
			if source, err := filepath.EvalSymlinks(path); err == nil {
				e.addEntry(source)
			}
		}
		return nil
	})
}

// addEntry adds what is at a path, unless it is a folder.
func (e *edits) addEntry(path string) {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		e.found = append(e.found, path)
	}
}

// special are the characters by which a name may be a pattern.
const special = `*?[]\(){}`

// addMatches adds the files below a folder that match a path if it is a pattern. Shells differ in
// their patterns, so these may be more files than the call changes.
func (e *edits) addMatches(folder string, parts []string) {
	if len(parts) == 0 || len(e.found) > maxEdited {
		e.addEntry(folder)
		return
	}
	first, last := strings.IndexAny(parts[0], special), strings.LastIndexAny(parts[0], special)
	if first < 0 {
		e.addMatches(filepath.Join(folder, parts[0]), parts[1:])
		return
	}
	if parts[0] == "**" {
		e.addMatches(folder, parts[1:])
	}
	entries, _ := os.ReadDir(folder) // a folder that cannot be listed has no matches
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, parts[0][:first]) && strings.HasSuffix(name, parts[0][last+1:]) {
			e.addMatches(filepath.Join(folder, name), parts[1:])
		}
		if parts[0] == "**" && entry.IsDir() {
			e.addMatches(filepath.Join(folder, name), parts)
		}
	}
}
