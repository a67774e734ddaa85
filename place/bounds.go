package place

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// enclose sets the folders that count as inside. It records the root as written too, because
// calls in a project opened through a link use that link.
func (b *Bounds) enclose(dir string, o Options) {
	b.encloseRoot(dir, o.Root)
	for _, added := range o.Added {
		if path, ok := b.addFolder(added); ok {
			b.Added = append(b.Added, path)
		}
	}
	for _, scratch := range o.Scratch {
		b.addFolder(scratch)
	}
}

// encloseRoot adds the root. A repository at the home directory or at the root of the file
// system, which usually holds someone's settings, opens only the working directory.
func (b *Bounds) encloseRoot(dir, root string) {
	bound := b.Root
	if root == "" && b.tooWide(bound) && bound != b.Dir {
		bound = b.Dir
		b.addNote("root %q is too wide: inside is %q", b.Root, bound)
	}
	if filepath.Dir(bound) == bound {
		b.addNote("%q is the whole file system: nothing is inside", bound)
		return
	}
	b.inside = append(b.inside, bound)
	b.spelled = append(b.spelled, bound)
	if root != "" {
		if written, err := filepath.Abs(root); err == nil {
			b.spell(written)
		}
	}
	if rest, ok := strings.CutPrefix(b.Dir, bound); ok && files.WithinCase(bound, b.Dir, false) {
		b.spell(filepath.Clean(dir))
		if written, ok := strings.CutSuffix(filepath.Clean(dir), rest); ok && written != "" {
			b.spell(written)
		}
	}
}

// addFolder adds a folder, relative to the working directory. A folder that cannot be resolved
// stays outside.
func (b *Bounds) addFolder(dir string) (string, bool) {
	written := b.absolute(dir)
	path, err := files.Canonical(written)
	if dir == "" || err != nil {
		b.addNote("directory %q is not added: %v", dir, err)
		return "", false
	}
	b.inside = append(b.inside, path)
	b.spelled = append(b.spelled, path)
	b.spell(filepath.Clean(written))
	return path, true
}

// spell adds another spelling of a bound, unless it leads elsewhere.
func (b *Bounds) spell(written string) {
	if slices.Contains(b.spelled, written) {
		return
	}
	path, err := files.Canonical(written)
	if err == nil && isInside(path, b.inside, nil, b.FoldCase) {
		b.spelled = append(b.spelled, written)
	}
}

// isInside reports whether a path lies in one of the bounds and not in a hole of that bound.
func isInside(path string, bounds, holes []string, fold bool) bool {
	for _, bound := range bounds {
		if files.WithinCase(bound, path, fold) && !inHole(path, bound, holes, fold) {
			return true
		}
	}
	return false
}

func inHole(path, bound string, holes []string, fold bool) bool {
	for _, hole := range holes {
		if hole != bound && files.WithinCase(bound, hole, fold) && files.WithinCase(hole, path, fold) {
			return true
		}
	}
	return false
}

// foldsCase reports whether all of a path may be written in another case. It only looks and
// writes nothing.
func foldsCase(root string) bool {
	other := strings.ToUpper(root)
	if other == root {
		other = strings.ToLower(root)
	}
	if other == root {
		return false
	}
	b, err := os.Stat(other)
	if err != nil {
		return false
	}
	a, err := os.Stat(root)
	return err == nil && os.SameFile(a, b)
}

// PlaceOf returns the place of an absolute, clean path as if no link existed. It looks at no file.
func (b *Bounds) PlaceOf(path string, kind umpire.AccessKind) umpire.Place {
	return min(b.placeOf(path, b.spelled, kind), b.placeOf(path, b.inside, kind))
}

// Landmarks returns the folders and files that PlaceOf tells apart by name.
func (b *Bounds) Landmarks() []string {
	names := slices.Concat(b.inside, b.spelled, b.holes)
	return append(slices.AppendSeq(names, maps.Keys(devices)), "/dev/fd")
}
