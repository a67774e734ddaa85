package place

import (
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire/internal/files"
)

// markers are the files and folders that make their folder the root of a project outside a
// repository.
var markers = [...]string{
	".umpire", ".hg", ".svn", ".jj",
	"go.mod", "go.work", "package.json", "deno.json", "pyproject.toml", "setup.py",
	"Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile",
	"composer.json", "mix.exs", "Package.swift", "CMakeLists.txt", "flake.nix",
}

// discover sets the root and returns the repository around it, if there is one. The nearest
// .git wins over every marker, even if it turns out to be unusable, because going on to a
// repository further up would widen the bounds.
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

// pickRoot returns the folder of the repository, else the nearest folder with a marker, else
// start.
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

// tooWide reports whether a folder is too large to be opened because of a file in it: the home
// directory and the root of the file system.
func (b *Bounds) tooWide(dir string) bool {
	return dir == b.Home || dir == filepath.Dir(dir)
}

// credible reports whether a .git or a marker in dir may make it the root of start. In a shared
// temporary folder any user can leave a .git or a package.json behind.
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
