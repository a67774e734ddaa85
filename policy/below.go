package policy

import (
	"path"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// This file decides whether a rule applies to files below a folder if its pattern alone does
// not tell: packages/*/secrets/** applies to packages/foo only if there are secrets in it.

// isLoose reports whether a glob continues after its first wildcard.
func (g *glob) isLoose() bool { return g.anyDepth || len(g.segs)-countLiterals(g.segs) > 1 }

// looksBelow reports whether the rule needs a search below folders for matching files. Built-in
// rules work differently.
func (c *compiled) looksBelow() bool {
	return !c.allows() && !c.named && c.rule.Source != umpire.SourceBuiltin &&
		slices.ContainsFunc(c.globs, func(g glob) bool { return g.isLoose() })
}

// liesBelow reports whether the access reaches a file below its folder that matches the rule.
// Without a listing it returns true.
func (c *compiled) liesBelow(s *subject, o *Options) bool {
	f := s.forms.last()
	return slices.ContainsFunc(c.globs, func(g glob) bool {
		target := append(f.anyTarget(g.fold), segment{text: "**", sort: deep})
		if !g.isLoose() || !g.anyDepth && !mayMeet(g.segs, target) || c.sparedBy(s.access.Kinds, &g, f) {
			return false
		}
		if s.below == nil {
			return true
		}
		paths, whole := s.below(f.literalFolder())
		return !whole || slices.ContainsFunc(paths, func(path string) bool {
			found := newForm(path)
			return s.reaches(&found, target, g.fold) && g.match(&found, o)
		})
	})
}

// literalFolder returns the part of a path or pattern before its first wildcard.
func (f *form) literalFolder() string {
	folder, target := "/", f.anyTarget(false)
	for _, s := range target[:countLiterals(target)] {
		folder += s.text + "/"
	}
	return folder
}

// reaches reports whether the access affects a path found below its folder.
func (s *subject) reaches(found *form, target []segment, folded bool) bool {
	names, last := found.segs, found.folded[len(found.folded)-1]
	if folded {
		names = found.folded
	}
	isLast := func(pattern string) bool {
		fits, err := path.Match(wildcard.FoldCase(pattern), last)
		return fits || err != nil
	}
	fits := func(pattern []segment) bool { return matchSegments(pattern, found.folded) }
	return matchSegments(target, names) &&
		(len(s.access.Kinds) == 0 || slices.Contains(s.access.Kinds, path.Ext(last))) &&
		(len(s.access.Handed) == 0 || slices.ContainsFunc(s.access.Handed, isLast)) &&
		(len(s.filter) == 0 || slices.ContainsFunc(s.filter, fits))
}
