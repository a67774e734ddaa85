package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

const (
	// maxLinks is how many links one path may lead through, as in the kernel.
	maxLinks = 40
	// maxPath is the longest path that is looked at. The kernel takes none
	// longer, and a megabyte of "a/../" would keep us busy for long.
	maxPath = 4096
)

var (
	errRelative = errors.New("path is not absolute")
	errNUL      = errors.New("path contains a NUL byte")
)

// A Destination is where a path leads.
type Destination struct {
	Path string
	// Process says that the way leads through a link in /proc, which leads
	// elsewhere for the process that will use the path.
	Process bool
	// Links are those that the way leads through.
	Links []Link
}

// A Link is a symbolic link: its own path, of which only the last part is a link, and what it holds.
type Link struct{ Path, Target string }

// Canonical returns the path without links. A path that does not exist resolves to where it
// would be.
func Canonical(path string) (string, error) {
	d, err := Follow(path, true)
	return d.Path, err
}

// Follow resolves the links of a path as the kernel does: component by
// component, so that ".." after a link is the parent of where the link leads.
// Components that do not exist stay as they are, also those of a dangling link.
// With last false a link in the last component is not followed, unless a slash
// comes after it.
func Follow(path string, last bool) (Destination, error) {
	if err := checkPath(path); err != nil {
		return Destination{}, err
	}
	todo := Components(path)
	d := Destination{Path: rootOf(path)}
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			d.Path = filepath.Dir(d.Path)
			continue
		}
		next := joinChild(d.Path, part)
		target, err := linkTarget(next)
		if err != nil {
			return Destination{}, err
		}
		if target == "" || !last && len(todo) == 0 {
			d.Path = next
			continue
		}
		if links++; links > maxLinks {
			return Destination{}, umpire.Errorf("path leads through more than %d links", maxLinks)
		}
		d.Process = d.Process || strings.HasPrefix(next, "/proc/")
		d.Links = append(d.Links, Link{next, target})
		if filepath.IsAbs(target) {
			d.Path = rootOf(target)
		}
		todo = append(Components(target), todo...)
	}
	return d, nil
}

func checkPath(path string) error {
	switch {
	case strings.ContainsRune(path, 0):
		return errNUL
	case len(path) > maxPath:
		return umpire.Errorf("path is longer than %d bytes", maxPath)
	case !filepath.IsAbs(path):
		return errRelative
	}
	return nil
}

// linkTarget returns where a link leads, and "" for what is not a link or does
// not exist.
func linkTarget(path string) (string, error) {
	info, err := os.Lstat(path)
	if Missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if info.Mode()&os.ModeSymlink == 0 {
		return "", nil
	}
	return os.Readlink(path)
}

// rootOf returns the root that an absolute path starts from.
func rootOf(path string) string {
	return filepath.VolumeName(path) + string(filepath.Separator)
}

// Components splits a path at its separators. A trailing separator leaves an
// empty last component.
func Components(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return strings.Split(filepath.ToSlash(path), "/")
}

// joinChild joins a clean folder and a name.
func joinChild(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// AbsoluteFrom makes a path that a file names absolute. It does not clean it,
// since a link may stand before a "..".
func AbsoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// Within reports whether a clean path is base or lies below it, in the same case.
func Within(base, path string) bool { return WithinCase(base, path, false) }

// WithinAny reports whether a path lies in one of the folders, as Within does.
func WithinAny(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, path) })
}

// HoldsAny reports whether one of the paths lies in a folder.
func HoldsAny(folder string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return Within(folder, path) })
}

// Outermost leaves out what lies in another one of the paths. It sorts them by length.
func Outermost(paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return len(a) - len(b) })
	var kept []string
	for _, path := range paths {
		if !WithinAny(kept, path) {
			kept = append(kept, path)
		}
	}
	return kept
}

// WithinCase reports whether a clean path is base or lies below it, in any case
// with fold. It compares by segments: /a/bc does not lie within /a/b.
func WithinCase(base, path string, fold bool) bool {
	if len(path) < len(base) || base == "" {
		return false
	}
	head, rest := path[:len(base)], path[len(base):]
	if head != base && !(fold && strings.EqualFold(head, base)) {
		return false
	}
	return rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(base[len(base)-1])
}

// Ancestor returns dir or the nearest folder above it that accept likes.
func Ancestor(dir string, accept func(string) bool) string {
	for {
		if accept(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
