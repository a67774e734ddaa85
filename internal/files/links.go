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
	// maxLinks is the maximum number of links in the resolution of a path, as in the kernel.
	maxLinks = 40
	// maxPath is the maximum length of a path in bytes. The kernel accepts no longer
	// ones, and resolving a megabyte of "a/../" would take long.
	maxPath = 4096
)

var (
	errRelative = errors.New("path is not absolute")
	errNUL      = errors.New("path contains a NUL byte")
)

// A Destination is the result of resolving a path.
type Destination struct {
	Path string
	// Process means that the path leads through a link in /proc, which has another target
	// in the process that will use the path.
	Process bool
	// Links are the links on the way.
	Links []Link
}

// A Link is a symbolic link: its path, in which only the last component is a link, and its target.
type Link struct{ Path, Target string }

// Canonical returns the path with links resolved. A path that does not exist resolves to
// where it would be.
func Canonical(path string) (string, error) {
	d, err := Follow(path, true)
	return d.Path, err
}

// Follow resolves the links of a path like the kernel: component by component, so ".."
// after a link is the parent of the link's target. Components that do not exist,
// including those of a dangling link, stay as they are. If last is false, a link in the
// last component is not followed, unless a slash follows it.
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

// linkTarget returns the target of a link, or "" if the path is not a link or does not
// exist.
func linkTarget(path string) (string, error) {
	link, _, err := isLink(path)
	if err != nil || !link {
		return "", err
	}
	return os.Readlink(path)
}

// rootOf returns the root of an absolute path.
func rootOf(path string) string {
	return filepath.VolumeName(path) + string(filepath.Separator)
}

// Components splits a path at its separators. A trailing separator leaves an empty last
// component.
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

// AbsoluteFrom makes a path found in a file absolute. It does not clean the path, because
// there may be a link before a "..".
func AbsoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// Within reports whether a clean path is base or below it. It is case-sensitive.
func Within(base, path string) bool { return WithinCase(base, path, false) }

// WithinAny reports whether a path is in one of the folders, as Within does.
func WithinAny(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return Within(folder, path) })
}

// HoldsAny reports whether one of the paths is in a folder.
func HoldsAny(folder string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return Within(folder, path) })
}

// Outermost returns the paths that are not inside another one. It sorts the argument by length.
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

// WithinCase reports whether a clean path is base or below it, ignoring case if fold is
// set. It compares components: /a/bc is not within /a/b.
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

// Ancestor returns dir or its nearest ancestor for which accept returns true.
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
