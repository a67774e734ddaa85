package policy

import (
	"slices"
	"strings"
)

// sparesPicked reports whether a rule about what nothing brings back is not about what a
// filter picks: `find ~ -atime +100 -delete` deletes no home, and `find / -name '*.log'`
// finds no program that everything else needs. Target is the folder of the search, with
// /**/NAME behind it where the filter is a name.
func (c *compiled) sparesPicked(g *glob, target []segment, named bool) bool {
	if !named || len(target) == 0 || len(g.segs) == 0 {
		return c.wholeFolder
	}
	n := countLiterals(g.segs)
	inside := n > 0 && countLiterals(target) >= n && slices.EqualFunc(g.segs[:n], target[:n], hasSameText)
	last, name := &g.segs[len(g.segs)-1], &target[len(target)-1]
	switch {
	case last.sort == literal:
		return false // whether the name fits is what meeting tells
	case c.wholeFolder || last.sort == deep && !inside:
		return true
	case inside || name.sort == literal:
		return false
	}
	return !sameBeginning(last.text, name.text)
}

// sameBeginning reports whether two patterns begin with fixed text, and with the same.
func sameBeginning(a, b string) bool {
	a, b = a[:wildcardAt(a)], b[:wildcardAt(b)]
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// wildcardAt is where the fixed text that a pattern begins with ends.
func wildcardAt(pattern string) int {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		return i
	}
	return len(pattern)
}

func hasSameText(a, b segment) bool { return a.text == b.text }
