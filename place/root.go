package place

import (
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// markers are the files and folders that make their folder the root of a
// project where there is no repository.
var markers = [...]string{
	".umpire", ".hg", ".svn", ".jj",
	"go.mod", "go.work", "package.json", "deno.json", "pyproject.toml", "setup.py",
	"Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile",
	"composer.json", "mix.exs", "Package.swift", "CMakeLists.txt", "flake.nix",
}

// discover sets the root and returns the repository around it, if there is one. The nearest .git
// wins over every marker, even when it turns out to be unusable: going on to a repository further
// up would widen what is inside.
func (b *Bounds) discover(o Options) (Repository, error) {
	start := b.Dir
	if o.Root != "" {
		root, err := files.Canonical(o.Root)
		if err != nil {
			return Repository{}, err
		}
		start, b.Root = root, root
	}
	top := files.Ancestor(start, func(dir string) bool { return files.Exists(dir, ".git") && b.credible(dir, start) })
	repo, err := openRepository(top)
	if err != nil {
		b.addNote("%v", err)
	}
	if b.Root == "" {
		b.Root = b.pickRoot(start, top)
	}
	return repo, nil
}

// pickRoot returns the folder of the repository, else the nearest marked one,
// else where we started.
func (b *Bounds) pickRoot(start, top string) string {
	if top != "" {
		return top
	}
	marked := files.Ancestor(
		start, func(dir string) bool { return !b.tooWide(dir) && hasMarker(dir) && b.credible(dir, start) },
	)
	if marked != "" {
		return marked
	}
	return start
}

// tooWide reports whether a folder is too much to be opened by something found
// in it: the home directory and the root of the file system.
func (b *Bounds) tooWide(dir string) bool {
	return dir == b.Home || dir == filepath.Dir(dir)
}

// credible reports whether what lies in dir may speak for start below it. In a
// shared temporary folder anybody can leave a .git or a package.json behind.
func (b *Bounds) credible(dir, start string) bool {
	if dir == start {
		return true
	}
	info, err := os.Stat(dir)
	return err == nil && !(info.Mode()&os.ModeSticky != 0 && info.Mode()&0o002 != 0)
}

func hasMarker(dir string) bool {
	for _, name := range markers {
		if files.Exists(dir, name) {
			return true
		}
	}
	return false
}
