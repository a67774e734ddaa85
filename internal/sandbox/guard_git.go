package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// gitFiles are the parts of a git directory that name programs which git runs.
var gitFiles = []string{"hooks", "config", "config.worktree", "info/attributes"}

// git guards a git directory below a folder, and those of its submodules and worktrees.
func (g *guarded) git(root, dir string) {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return
	}
	switch {
	case filepath.Base(dir) == ".git":
		g.tops = append(g.tops, filepath.Dir(dir))
	case dir == root: // a bare one
		g.tops = append(g.tops, dir)
	}
	if !info.IsDir() { // it says where the git directory is
		g.paths = append(g.paths, dir)
		g.pin(root, filepath.Dir(dir))
		return
	}
	g.gits = append(g.gits, dir)
	g.pin(root, dir)
	for _, name := range gitFiles {
		g.add(root, strings.TrimPrefix(filepath.Join(dir, name), root+"/"))
	}
	if present(filepath.Join(dir, "commondir")) { // it says where the settings are
		g.add(root, strings.TrimPrefix(filepath.Join(dir, "commondir"), root+"/"))
	}
	g.settings = append(g.settings, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	for _, inner := range []string{"modules", "worktrees"} {
		for _, each := range gitFoldersNamed(filepath.Join(dir, inner), maxModuleDepth) {
			g.git(root, each)
		}
	}
}

// maxModuleDepth is how many folders the name of a submodule may have.
const maxModuleDepth = 8

// gitFoldersNamed are git directories below a folder, with slashes in their names.
func gitFoldersNamed(dir string, depth int) []string {
	entries, _ := os.ReadDir(dir) // most have none
	var found []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case present(filepath.Join(path, "HEAD")):
			found = append(found, path)
		case e.IsDir() && depth > 1:
			found = append(found, gitFoldersNamed(path, depth-1)...)
		}
	}
	return found
}

// The limits of looking for repositories inside of a workspace.
const (
	gitDepth      = 3
	maxGitFolders = 400
)

// gitFolders are the git directories of a folder: its own, and those of repositories
// a few folders down.
func gitFolders(root string) []string {
	var found []string
	if isGitFolder(root) {
		found = append(found, root) // a bare one, or the one that worktrees share
	}
	level := []string{root}
	looked := 0
	for depth := range gitDepth + 1 {
		var next []string
		for _, dir := range level {
			if looked++; looked > maxGitFolders {
				return found
			}
			if path := filepath.Join(dir, ".git"); present(path) {
				found = append(found, path)
			}
			if depth < gitDepth && !isGitFolder(dir) {
				next = append(next, foldersIn(dir)...)
			}
		}
		level = next
	}
	return found
}

// foldersIn are the folders in which repositories are looked for.
func foldersIn(dir string) (all []string) {
	entries, _ := os.ReadDir(dir) // what cannot be read holds nothing that could be written
	for _, e := range entries {
		if e.IsDir() && e.Name() != "node_modules" && e.Name() != ".git" {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

// isGitFolder reports whether a folder is a git directory itself.
func isGitFolder(dir string) bool {
	return present(filepath.Join(dir, "HEAD")) && present(filepath.Join(dir, "objects"))
}
