package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
)

// This file finds the paths in a writable folder that must stay unchanged: the policy's
// guarded places and those named in git's settings.

// A guarded is the set of paths in writable folders that must stay unchanged.
type guarded struct {
	// paths exist and are made read-only; pinned are the folders above them.
	paths, pinned []string
	// absent do not exist and must not be created.
	absent []string
	// links are watched: they must be unchanged when the command has ended. missing are
	// watched, too, because nothing can be mounted in their place.
	links, missing []string

	// beside are folders that are writable for this command only. Nothing is created in them.
	beside []string

	roots, tops, settings, gits []string // writable folders, and git's work trees, settings and directories in them

	verbs      []string        // git subcommands that the command line itself runs
	seen, pins map[string]bool // already added
}

// folder guards the paths that were found in a folder.
func (g *guarded) folder(root, home string, found *survey) {
	g.roots = append(g.roots, root)
	for _, name := range guardedPatterns().empty {
		if !slices.Contains(g.beside, root) || isPresent(filepath.Join(root, name)) {
			g.add(root, name)
		}
	}
	g.homeFiles(root, home)
	for _, p := range guardedPatterns().whole {
		findMatches("/", p.parts, func(path string) { g.inside(root, path) })
	}
	for _, path := range found.guarded {
		g.inside(root, path)
	}
	for _, dir := range found.gits {
		if files.Within(root, dir) {
			g.git(root, dir)
		}
	}
}

// homeFiles guards the files of a home, for users who work in it, or keep it in a
// repository and link to it.
func (g *guarded) homeFiles(root, home string) {
	if home == "" {
		return
	}
	for _, p := range guardedPatterns().home {
		name, _ := p.literal()
		path := filepath.Join(home, name)
		g.inside(root, path)
		if plain, err := filepath.EvalSymlinks(path); err == nil && plain != path {
			g.inside(root, plain)
		}
	}
}

// inside guards a path if it is in the folder root.
func (g *guarded) inside(root, path string) {
	if files.Within(root, path) && path != root {
		g.add(root, strings.TrimPrefix(path, strings.TrimSuffix(root, "/")+"/"))
	}
}

// add guards one name below a folder. Nothing can be mounted on a link, so its target is
// guarded, and the link itself is checked afterwards.
func (g *guarded) add(root, name string) {
	path := filepath.Join(root, name)
	if g.seen[path] {
		return
	}
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	g.seen[path] = true
	info, err := os.Lstat(path)
	if err != nil && !plainFolder(filepath.Dir(path)) {
		return // a parent is missing or elsewhere, so the name has no effect
	}
	g.pin(root, filepath.Dir(path))
	switch {
	case err == nil && hasMark(path, info):
		g.absent = append(g.absent, path)
	case err != nil && slices.Contains(g.beside, root):
		g.missing = append(g.missing, path)
	case err != nil:
		g.absent = append(g.absent, path)
	case info.Mode()&fs.ModeSymlink == 0:
		g.paths = append(g.paths, path)
	default:
		g.links = append(g.links, path)
		if to, err := filepath.EvalSymlinks(path); err == nil && files.Within(root, to) && to != root {
			g.paths = append(g.paths, to)
			g.pin(root, filepath.Dir(to))
		}
	}
}

// plainFolder reports whether a folder exists and is not a placeholder.
func plainFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir() && !hasMark(path, info)
}

// isPlaceholder reports whether a path is a placeholder, in use or left behind.
func isPlaceholder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && hasMark(path, info)
}

// pin keeps the folders between root and dir from being moved.
func (g *guarded) pin(root, dir string) {
	if g.pins == nil {
		g.pins = map[string]bool{}
	}
	for ; dir != root && files.Within(root, dir) && !g.pins[dir]; dir = filepath.Dir(dir) {
		g.pins[dir] = true
		g.pinned = append(g.pinned, dir)
	}
}

func isPresent(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
