package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/wildcard"
)

// A segment is one part of a pattern between slashes.
type segment struct {
	text string // without escapes when literal
	sort segmentSort
	// other is a second pattern of a command's, for what it may also mean.
	other string
}

type segmentSort uint8

const (
	literal segmentSort = iota
	wild                // * ? [ ] within one segment
	deep                // **, any number of segments
)

// A glob is one absolute pattern without braces, cut into segments and folded
// if it ignores case.
type glob struct {
	segs []segment
	fold bool
	// anyDepth marks a pattern without a slash that matches every segment of a
	// path below the root; segs then holds that one segment.
	anyDepth bool
}

// newGlobs compiles a pattern that Validate accepted. allow is whether the
// pattern belongs to a rule that allows: such patterns match exactly as
// written, the others at any depth and without regard to case for deny.
func newGlobs(pattern string, action umpire.Verdict, o *Options) []glob {
	alternatives, err := wildcard.ExpandBraces(pattern)
	if err != nil {
		return nil
	}
	folded := action == umpire.Deny || o.FoldCase
	globs := make([]glob, 0, len(alternatives))
	for _, text := range alternatives {
		switch {
		case strings.HasPrefix(text, "/"):
			globs = append(globs, glob{segs: splitSegments(text, folded), fold: folded})
		case action != umpire.Allow && !strings.Contains(text, "/") && text != "~" && text != "**" && text != ".":
			globs = append(globs, glob{segs: splitSegments(text, folded), fold: folded, anyDepth: true})
		default:
			for _, absolute := range absolutePatterns(text, action, o) {
				globs = append(globs, glob{segs: splitSegments(absolute, folded), fold: folded})
			}
		}
	}
	return globs
}

// absolutePatterns puts a relative pattern on its base. Without a known home a pattern
// below it protects every home, and allows in none.
func absolutePatterns(text string, action umpire.Verdict, o *Options) []string {
	rest, home := strings.CutPrefix(text, "~")
	switch {
	case home && o.Home != "":
		return []string{wildcard.Escape(o.Home) + rest}
	case home && action == umpire.Allow:
		return nil
	case home:
		return []string{"/home/*" + rest, "/Users/*" + rest, "/root" + rest}
	case driveLetter(text):
		return []string{"/" + text}
	}
	return []string{wildcard.Escape(o.Root) + "/" + text}
}

// splitSegments cuts a pattern at its slashes; empty and "." segments say nothing.
func splitSegments(pattern string, folded bool) []segment {
	segs := make([]segment, 0, strings.Count(pattern, "/")+1)
	for text := range strings.SplitSeq(pattern, "/") {
		if text == "" || text == "." {
			continue
		}
		s := newSegment(text)
		if n := len(segs); s.sort == deep && n > 0 && segs[n-1].sort == deep {
			continue
		}
		if folded {
			s.text = foldCase(s.text)
		}
		segs = append(segs, s)
	}
	return segs
}

func newSegment(text string) segment {
	switch {
	case text == "**":
		return segment{text: text, sort: deep}
	case !wildcard.Has(text):
		return segment{text: wildcard.Unescape(text)}
	case !doublestar.ValidatePattern(text):
		// Only a command can hold such a pattern; what it means depends on the shell.
		return segment{text: "*", sort: wild}
	}
	return segment{text: singleStars(text), sort: wild}
}

// singleStars writes runs of stars within a segment as one, which they mean.
func singleStars(s string) string {
	if !strings.Contains(s, "**") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		switch s[i] {
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '*':
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
		}
	}
	return b.String()
}

// matches reports whether one segment of a pattern matches one of a path.
func (s *segment) matches(name string) bool {
	if s.sort == literal {
		return s.text == name
	}
	return s.sort == deep || doublestar.MatchUnvalidated(s.text, name) ||
		s.other != "" && doublestar.MatchUnvalidated(s.other, name)
}

// match reports whether the glob matches the path. An anyDepth pattern does not look at the leading
// segments that are the root's; without options there is no root.
func (g *glob) match(p *form, o *Options) bool {
	segs := p.segs
	if g.fold {
		segs = p.folded
	}
	if !g.anyDepth {
		return matchSegments(g.segs, segs)
	}
	return slices.ContainsFunc(segs[min(o.below(p), len(segs)):], g.segs[0].matches)
}

// matchSegments is the classic match with one star: when a segment does not
// fit, only the last ** needs to be tried longer, so the time is at most the
// product of the two lengths.
func matchSegments(pattern []segment, names []string) bool {
	p, n := 0, 0
	star, retry := -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p].sort == deep:
			star, retry = p, n
			p++
		case p < len(pattern) && pattern[p].matches(names[n]):
			p++
			n++
		case star >= 0:
			retry++
			p, n = star+1, retry
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p].sort == deep {
		p++
	}
	return p == len(pattern)
}

// countLiterals returns how many leading segments hold no wildcard.
func countLiterals(segs []segment) int {
	n := 0
	for n < len(segs) && segs[n].sort == literal {
		n++
	}
	return n
}

// coversTree reports whether the glob is a literal folder followed by **, and
// that folder holds everything that the target, a pattern itself, can match.
func (g *glob) coversTree(target []segment) bool {
	n := countLiterals(g.segs)
	return !g.anyDepth && len(g.segs) == n+1 && g.segs[n].sort == deep && countLiterals(target) >= n &&
		slices.EqualFunc(g.segs[:n], target[:n], hasSameText)
}

// driveLetter reports whether a path begins like C:/ or C:\.
func driveLetter(s string) bool {
	if len(s) < 2 || s[1] != ':' {
		return false
	}
	letter := s[0] | 0x20
	return ('a' <= letter && letter <= 'z' || s[0] == '?') && (len(s) == 2 || s[2] == '/' || s[2] == '\\')
}

// drivePath finds a Windows path within one that was made absolute on
// another system, and writes it with slashes.
func drivePath(p string) (string, bool) {
	colon := strings.IndexByte(p, ':')
	if colon < 1 || !driveLetter(p[colon-1:]) || colon > 1 && p[colon-2] != '/' && p[colon-2] != '\\' {
		return "", false
	}
	return path.Clean("/" + strings.ReplaceAll(p[colon-1:], `\`, "/")), true
}

// refold makes a pattern ignore case. Built-in patterns protect alike on every file
// system, also where they only ask.
func (g *glob) refold() {
	if g.fold {
		return
	}
	g.fold = true
	for i := range g.segs {
		g.segs[i].text = foldCase(g.segs[i].text)
	}
}
