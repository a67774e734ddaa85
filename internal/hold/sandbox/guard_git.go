package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// git guards a git directory below a folder, and those of its submodules and worktrees.
func (g *guarded) git(root, dir string) {
	info, err := os.Lstat(dir)
	if err != nil {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		g.inside(root, dir) // the git directory itself is found as a bare repository
		return
	}
	switch {
	case filepath.Base(dir) == ".git":
		g.tops = append(g.tops, filepath.Dir(dir))
	case !strings.Contains(dir, "/.git/"): // a bare repository
		g.tops = append(g.tops, dir)
	}
	if !info.IsDir() { // a file with the path of the git directory
		g.paths = append(g.paths, dir)
		g.pin(root, filepath.Dir(dir))
		return
	}
	g.gits = append(g.gits, dir)
	g.pin(root, dir)
	for _, p := range guardedPatterns().git {
		if name, whole := p.literal(); whole && len(p.verbs) == 0 && !pointers[name] {
			g.inside(root, filepath.Join(dir, name))
		} else if !p.runs(g.verbs) {
			findMatches(dir, p.parts, func(path string) { g.inside(root, path) })
		}
	}
	g.settings = append(g.settings, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	for _, inner := range []string{"modules", "worktrees"} {
		for _, each := range gitFoldersNamed(filepath.Join(dir, inner), maxModuleDepth) {
			g.git(root, each)
		}
	}
}

// pointers are the files in a linked worktree's git directory that hold paths of others.
// Elsewhere they must not exist.
var pointers = map[string]bool{"commondir": true, "gitdir": true}

// maxModuleDepth limits the number of folders in a submodule's name.
const maxModuleDepth = 8

// gitFoldersNamed returns the git directories below a folder whose names may contain slashes.
func gitFoldersNamed(dir string, depth int) []string {
	entries, _ := os.ReadDir(dir) // most repositories have no such folder
	var found []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case isPresent(filepath.Join(path, "HEAD")):
			found = append(found, path)
		case e.IsDir() && depth > 1:
			found = append(found, gitFoldersNamed(path, depth-1)...)
		}
	}
	return found
}

// isGitFolder reports whether a folder itself is a git directory.
func isGitFolder(dir string) bool {
	return isPresent(filepath.Join(dir, "HEAD")) && isPresent(filepath.Join(dir, "objects"))
}
