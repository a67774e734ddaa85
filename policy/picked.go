package policy

import (
	"slices"
	"strings"
)

// sparesPicked reports whether a rule about irrecoverable changes does not apply to files
// selected by a filter: `find ~ -atime +100 -delete` does not delete the home, and `find /
// -name '*.log'` finds no essential program. target is the folder of the search, followed by
// /**/NAME if the filter is a name.
func (c *compiled) sparesPicked(g *glob, target []segment, named bool) bool {
	if !named || len(target) == 0 || len(g.segs) == 0 {
		return c.wholeFolder
	}
	n := countLiterals(g.segs)
	inside := n > 0 && countLiterals(target) >= n && slices.EqualFunc(g.segs[:n], target[:n], hasSameText)
	last, name := &g.segs[len(g.segs)-1], &target[len(target)-1]
	switch {
	case last.sort == literal:
		return false // meeting decides whether the name fits
	case c.wholeFolder || last.sort == deep && !inside:
		return true
	case inside || name.sort == literal:
		return false
	}
	return !sameBeginning(last.text, name.text)
}

// sameBeginning reports whether one pattern's fixed start is a prefix of the other's, and neither is empty.
func sameBeginning(a, b string) bool {
	a, b = a[:wildcardAt(a)], b[:wildcardAt(b)]
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// wildcardAt returns the length of the fixed text at the start of a pattern.
func wildcardAt(pattern string) int {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		return i
	}
	return len(pattern)
}

func hasSameText(a, b segment) bool { return a.text == b.text }
