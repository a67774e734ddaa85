package gitdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Change is one path that has changed.
type Change struct {
	Path string // absolute
	// Before and After are the types and permissions, or 0 if the path did not or does not exist.
	Before, After fs.FileMode
	Gone, New     bool
	// File is the path of the new content until it is kept.
	File string
	// Same says that the content is unchanged.
	Same bool
}

// plainSettings are keys that name no program, by section. A star means all keys of a section.
var plainSettings = [][2]string{
	{"core", "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode " +
		"symlinks autocrlf eol safecrlf quotepath abbrev worktree sharedrepository"},
	{"remote", "url pushurl fetch push mirror tagopt prune promisor partialclonefilter gh-resolved"},
	{"branch", "remote merge rebase description gh-merge-base vscode-merge-base"},
	{"user", "name email signingkey"},
	{"submodule", "url active branch"},
	{"extensions", "*"},
	{"advice", "*"},
	{"color", "*"},
	{"lfs", "repositoryformatversion access"},
	{"init", "defaultbranch"},
	{"pull", "rebase ff"},
	{"push", "default autosetupremote"},
	{"commit", "gpgsign"},
	{"tag", "gpgsign"},
	{"gc", "auto autodetach"},
	{"maintenance", "auto strategy"},
	{"receive", "denycurrentbranch denynonfastforwards denydeletes"},
}

// NamesPrograms reports whether a settings file contains more than plain settings, or cannot be
// read.
func NamesPrograms(file string) bool {
	settings, err := ReadConfig(file)
	for _, s := range settings {
		section, _, _ := strings.Cut(s.Key, ".")
		var plain []string
		if at := slices.IndexFunc(plainSettings, func(row [2]string) bool { return row[0] == section }); at >= 0 {
			plain = strings.Fields(plainSettings[at][1])
		}
		if !slices.Contains(plain, "*") && !slices.Contains(plain, s.Key[strings.LastIndexByte(s.Key, '.')+1:]) {
			return true
		}
	}
	return err != nil
}

// runsHooks reports whether a git directory has hooks other than git's own samples.
func runsHooks(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".sample") })
}

// parts are the names by which git recognizes a git directory, and those that define what it runs.
var parts = []string{"HEAD", "objects", "refs", "config", "config.worktree", "commondir", "hooks"}

// namesPart reports whether a component of a path is the name of a part.
func namesPart(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if slices.Contains(parts, name) {
			return true
		}
	}
	return false
}

// A View is the file system with a list of changes applied.
type View map[string]*Change

// NewView returns the file system with changes applied.
func NewView(changes []Change) View {
	v := View{}
	for i := range changes {
		v[changes[i].Path] = &changes[i]
	}
	return v
}

// Has reports whether a path exists.
func (v View) Has(path string) bool {
	if c := v[path]; c != nil {
		return !c.Gone
	}
	_, err := os.Lstat(path)
	return err == nil
}

// File returns the path where the content of path is stored.
func (v View) File(path string) string {
	if c := v[path]; c != nil && !c.Same {
		return c.File
	}
	return path
}

// IsRepository reports whether git would take a folder for a git directory.
func (v View) IsRepository(dir string) bool {
	return v.Has(filepath.Join(dir, "HEAD")) && (v.Has(filepath.Join(dir, "commondir")) ||
		v.Has(filepath.Join(dir, "objects")) && v.Has(filepath.Join(dir, "refs")))
}

// repositories returns the repositories, apart from folders named .git, that exist after the
// changes and of which a part has changed.
func (v View) repositories(changes []Change) (dirs []string) {
	for i := range changes {
		c := &changes[i]
		dir := filepath.Dir(c.Path)
		if filepath.Base(dir) == "hooks" {
			dir = filepath.Dir(dir)
		} else if !slices.Contains(parts, filepath.Base(c.Path)) {
			continue
		}
		if !c.Gone && Directory(c.Path) == "" && !slices.Contains(dirs, dir) && v.IsRepository(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Directory returns the .git directory that contains a path, judging by names alone, or "".
func Directory(path string) string {
	at := 0
	for name := range strings.SplitSeq(path, "/") {
		if at += len(name); strings.EqualFold(name, ".git") && at < len(path) {
			return path[:at]
		}
		at++
	}
	return ""
}

// runsPrograms reports whether a repository that is not named .git could run programs: its
// settings are not all plain, it has hooks, or it takes its settings from elsewhere.
func (v View) runsPrograms(dir string) bool {
	at := func(name string) string { return filepath.Join(dir, name) }
	if v.Has(at("commondir")) || v.isLink(at("config")) || v.isLink(at("hooks")) {
		return true
	}
	for _, name := range []string{"config", "config.worktree"} {
		if v.Has(at(name)) && (v.File(at(name)) == "" || NamesPrograms(v.File(at(name)))) {
			return true
		}
	}
	if !v.isBare(at("config")) {
		return true
	}
	for path, c := range v {
		if filepath.Dir(path) == at("hooks") && !c.Gone && runsHooks([]string{filepath.Base(path)}) {
			return true
		}
	}
	entries, _ := os.ReadDir(at("hooks")) // a missing folder has no entries
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return v.Has(filepath.Join(at("hooks"), e.Name())) && runsHooks([]string{e.Name()})
	})
}

// isBare reports whether the settings declare that the repository has no work tree. Git then
// ignores the files around it.
func (v View) isBare(config string) bool {
	settings, _ := ReadConfig(v.File(config)) // an unreadable file counts as naming programs
	bare := false
	for _, s := range settings {
		if s.Key == "core.worktree" || s.Key == "core.bare" && s.Value != "true" {
			return false
		}
		bare = bare || s.Key == "core.bare"
	}
	return bare
}

func (v View) isLink(path string) bool {
	if c := v[path]; c != nil {
		return c.After&fs.ModeSymlink != 0
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// MadeRepositories returns the paths that would turn a folder into a git repository when
// written. Their content is not known yet, so it may name programs.
func MadeRepositories(paths []string) (found []string) {
	if !slices.ContainsFunc(paths, namesPart) {
		return nil
	}
	changes := []Change{}
	for _, path := range paths {
		for ; path != "/" && path != "." && path != ""; path = filepath.Dir(path) {
			if _, err := os.Lstat(path); err == nil && path != paths[0] && !slices.Contains(paths, path) {
				break
			}
			changes = append(changes, Change{Path: path, New: true})
		}
	}
	dirs := NewView(changes).repositories(changes)
	for _, path := range paths {
		if slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir+"/") }) {
			found = append(found, path)
		}
	}
	return found
}

// Armed returns the new or changed repositories that may run programs.
func (v View) Armed(changes []Change) (found []string) {
	for _, dir := range v.repositories(changes) {
		if v.runsPrograms(dir) {
			found = append(found, dir)
		}
	}
	return found
}
