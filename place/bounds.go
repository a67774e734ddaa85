package ground

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// enclose sets the folders that count as inside. The root is known as it was
// written too: a project opened through a link is spoken of through that link.
func (p *Ground) enclose(dir string, o Options) {
	p.encloseRoot(dir, o.Root)
	for _, added := range o.Added {
		if path, ok := p.enter(added); ok {
			p.Added = append(p.Added, path)
		}
	}
	for _, scratch := range o.Scratch {
		p.enter(scratch)
	}
}

// encloseRoot adds the root. A repository at the home directory or at the root
// of the file system, which keeps somebody's settings, opens the working
// directory only.
func (p *Ground) encloseRoot(dir, root string) {
	bound := p.Root
	if root == "" && p.tooWide(bound) && bound != p.Dir {
		bound = p.Dir
		p.note("root %q is too wide: inside is %q", p.Root, bound)
	}
	if filepath.Dir(bound) == bound {
		p.note("%q is the whole file system: nothing is inside", bound)
		return
	}
	p.bounds = append(p.bounds, bound)
	p.spelled = append(p.spelled, bound)
	if root != "" {
		if written, err := filepath.Abs(root); err == nil {
			p.spell(written)
		}
	}
	if rest, ok := strings.CutPrefix(p.Dir, bound); ok && within(bound, p.Dir, false) {
		p.spell(filepath.Clean(dir))
		if written, ok := strings.CutSuffix(filepath.Clean(dir), rest); ok && written != "" {
			p.spell(written)
		}
	}
}

// enter adds a folder, relative to the working directory. One that cannot be
// resolved stays outside.
func (p *Ground) enter(dir string) (string, bool) {
	written := p.absolute(dir)
	path, err := Canonical(written)
	if dir == "" || err != nil {
		p.note("directory %q is not added: %v", dir, err)
		return "", false
	}
	p.bounds = append(p.bounds, path)
	p.spelled = append(p.spelled, path)
	p.spell(filepath.Clean(written))
	return path, true
}

// spell adds another way to write a bound, unless it leads elsewhere.
func (p *Ground) spell(written string) {
	if slices.Contains(p.spelled, written) {
		return
	}
	path, err := Canonical(written)
	if err == nil && inside(path, p.bounds, nil, p.FoldCase) {
		p.spelled = append(p.spelled, written)
	}
}

// inside reports whether a path lies in one of the bounds and not in a hole of
// that bound.
func inside(path string, bounds, holes []string, fold bool) bool {
	for _, bound := range bounds {
		if within(bound, path, fold) && !inHole(path, bound, holes, fold) {
			return true
		}
	}
	return false
}

func inHole(path, bound string, holes []string, fold bool) bool {
	for _, hole := range holes {
		if hole != bound && within(bound, hole, fold) && within(hole, path, fold) {
			return true
		}
	}
	return false
}

// Within reports whether a clean path is base or lies below it, in the same case.
func Within(base, path string) bool { return within(base, path, false) }

// within reports whether a clean path is base or lies below it. It compares by
// segments: /a/bc does not lie within /a/b.
func within(base, path string, fold bool) bool {
	if len(path) < len(base) || base == "" {
		return false
	}
	head, rest := path[:len(base)], path[len(base):]
	if head != base && !(fold && strings.EqualFold(head, base)) {
		return false
	}
	return rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(base[len(base)-1])
}

// foldsCase reports whether the whole of a path may be written in another
// case. It looks, and writes nothing.
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
