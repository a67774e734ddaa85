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

// maxEdited is the maximum number of files to look up for one call.
const maxEdited = 5000

// EditsByAutonomy reports whether a call changes project files and the person's autonomy settings
// allow it.
func EditsByAutonomy(d *umpire.Decision) bool {
	byAutonomy := func(r umpire.Reason) bool { return r.Code == umpire.CodeAutonomy }
	return d.Verdict == umpire.Allow && slices.ContainsFunc(d.Reasons, byAutonomy) &&
		slices.ContainsFunc(d.Accesses, changesProject)
}

func changesProject(a umpire.Access) bool {
	return a.Place == umpire.PlaceInside && (a.Kind == umpire.KindWrite || a.Kind == umpire.KindDelete)
}

// EditedFiles returns the files, links and folders below roots that such a call may change, delete,
// move or replace, so an undo can restore them. It includes paths that do not exist yet and, in
// case of doubt, files that the call does not change. It returns none for other calls or if there
// are more than maxEdited. It uses only the fields of a decision that survive its JSON form.
func EditedFiles(d *umpire.Decision, roots []string) []string {
	paths, whole := editedFiles(d, roots)
	if !whole {
		return nil
	}
	return paths
}

// editedFiles is like EditedFiles but reports whether the list is complete.
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
			e.addEntry(link) // writing through a link's name may replace the link
		}
		if below := strings.TrimPrefix(path, root); strings.ContainsAny(below, special) {
			e.addMatches(root, files.Components(below))
		}
	}
	slices.Sort(e.found)
	e.found = slices.Compact(e.found)
	return e.found, len(e.found) <= maxEdited
}

// canonicalName resolves the links above a path but not the path itself.
func canonicalName(path string) string {
	if d, err := files.Follow(path, false); err == nil {
		return d.Path
	}
	return path
}

// deepestOf returns the deepest folder that contains path, or "" if none does.
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

// addPath adds a path that is not a folder, even if it does not exist yet. For a folder it adds
// the sources that a formatter rewrites; other changes to a folder lose nothing.
func (e *edits) addPath(path string) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir() && e.formats:
		e.addSources(path)
	case err == nil && info.IsDir():
	case err == nil:
		e.found = append(e.found, path)
	default:
		// cp a b also names b/a, which can exist only if b is a folder.
		if above, err := os.Stat(filepath.Dir(path)); err != nil || above.IsDir() {
			e.found = append(e.found, path)
		}
	}
}

// addMoved adds all files below a moved folder and their destination: inside an existing folder, or in its place.
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
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error { // the record reports unreadable paths
		if e.found = append(e.found, path); len(e.found) > maxEdited {
			return fs.SkipAll
		}
		return nil
	})
}

// addSources adds the sources below a folder and the targets of links there.
func (e *edits) addSources(folder string) {
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if len(e.found) > maxEdited {
			return fs.SkipAll
		}
		if err == nil && filepath.Ext(path) == ".go" { // an unreadable folder cannot change either
			if source, err := filepath.EvalSymlinks(path); err == nil {
				e.addEntry(source)
			}
		}
		return nil
	})
}

// addEntry adds a path if it exists and is not a folder.
func (e *edits) addEntry(path string) {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		e.found = append(e.found, path)
	}
}

// special are the characters that make a name a pattern.
const special = `*?[]\(){}`

// addMatches adds the files below a folder that match the pattern in parts. Shells differ in
// their patterns, so it may add more files than the call changes.
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
	entries, _ := os.ReadDir(folder) // an unreadable folder has no matches
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
