package policy

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A segment is one part of a pattern between slashes.
type segment struct {
	text string // without escapes if literal
	sort segmentSort
	// other is a second reading of a command's pattern segment.
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

// newGlobs compiles a valid pattern. action is the action of its rule. Patterns of allow rules
// match exactly as written, others at any depth, and deny patterns ignore case.
func newGlobs(pattern string, action umpire.Verdict, o *Options) []glob {
	return (&compiler{opts: o}).newGlobs(pattern, action)
}

func (k *compiler) newGlobs(pattern string, action umpire.Verdict) []glob {
	folded := action == umpire.Deny || k.folds || k.opts.FoldCase
	if folded {
		pattern = wildcard.FoldCase(pattern)
	}
	alternatives := []string{pattern}
	if strings.Contains(pattern, "{") {
		var err error
		if alternatives, err = wildcard.ExpandBraces(pattern); err != nil {
			return nil
		}
	}
	globs := k.globs.take(len(alternatives))[:0]
	for _, text := range alternatives {
		rest, home := strings.CutPrefix(text, "~")
		switch {
		case strings.HasPrefix(text, "/"):
			globs = append(globs, glob{segs: k.cutPattern(nil, text, folded), fold: folded})
		case action != umpire.Allow && !strings.Contains(text, "/") && text != "~" && text != "**" && text != ".":
			globs = append(globs, glob{segs: k.cutPattern(nil, text, folded), fold: folded, anyDepth: true})
		case home:
			if folder := k.opts.homeSegments(folded); len(folder) > 0 && (rest == "" || rest[0] == '/') {
				globs = append(globs, glob{segs: k.cutPattern(folder, rest, folded), fold: folded})
				continue
			}
			for _, folder := range k.opts.homes(action) {
				globs = append(globs, glob{segs: k.cutPattern(nil, folder+rest, folded), fold: folded})
			}
		case driveLetter(text):
			globs = append(globs, glob{segs: k.cutPattern(nil, text, folded), fold: folded})
		default:
			globs = append(globs, glob{segs: k.cutPattern(k.opts.rootSegments(folded), text, folded), fold: folded})
		}
	}
	return globs
}

// homes returns the patterns of the folders that ~ stands for. Without a known home, a pattern
// below it protects every home and allows nothing in any.
func (o *Options) homes(action umpire.Verdict) []string {
	switch {
	case o.Home != "":
		return o.homePattern[:]
	case action == umpire.Allow:
		return nil
	}
	return anyHome
}

var anyHome = []string{"/home/*", "/Users/*", "/root"}

// cutPattern splits a pattern below a folder into segments.
func (k *compiler) cutPattern(folder []segment, pattern string, folded bool) []segment {
	segs := k.segs.take(len(folder) + strings.Count(strings.TrimPrefix(pattern, "/"), "/") + 1)
	return appendSegments(append(segs[:0], folder...), pattern, folded)
}

// splitSegments splits a pattern at its slashes.
func splitSegments(pattern string, folded bool) []segment {
	return appendSegments(make([]segment, 0, strings.Count(pattern, "/")+1), pattern, folded)
}

// appendSegments appends the segments of a pattern, skipping empty and "." segments.
func appendSegments(segs []segment, pattern string, folded bool) []segment {
	for text := range strings.SplitSeq(pattern, "/") {
		if text == "" || text == "." {
			continue
		}
		s := newSegment(text)
		if n := len(segs); s.sort == deep && n > 0 && segs[n-1].sort == deep {
			continue
		}
		if folded {
			s.text = wildcard.FoldCase(s.text)
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
		// Only a command can contain such a pattern. Its meaning depends on the shell.
		return segment{text: "*", sort: wild}
	}
	return segment{text: singleStars(text), sort: wild}
}

// singleStars replaces runs of stars within a segment with one, which means the same.
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
	return s.sort == deep || matchesWild(s.text, name) || s.other != "" && matchesWild(s.other, name)
}

// matchesWild reports whether a pattern matches a name. It compares the first and the last
// character first, because a full match takes ten times as long.
func matchesWild(pattern, name string) bool {
	if name != "" && pattern != "" {
		first, last := pattern[0], pattern[len(pattern)-1]
		if first != name[0] && first < utf8.RuneSelf && strings.IndexByte(`*?[{\`, first) < 0 ||
			last != name[len(name)-1] && last < utf8.RuneSelf && strings.IndexByte(`*?]}\`, last) < 0 {
			return false
		}
	}
	return doublestar.MatchUnvalidated(pattern, name)
}

// match reports whether the glob matches the path. An anyDepth pattern ignores the leading
// segments of the root; without options there is no root.
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

// matchSegments is the classic match with one star: if a segment does not fit, only the last **
// needs to be extended, so the time is at most the product of the two lengths.
func matchSegments(pattern []segment, names []string) bool {
	p, n := 0, 0
	star, retry := -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p].sort == deep:
			if p++; !slices.ContainsFunc(pattern[p:], isDeep) {
				// The segments after the last ** must be the end of the path.
				end := len(names) - (len(pattern) - p)
				return end >= n && matchSegments(pattern[p:], names[end:])
			}
			star, retry = p-1, n
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

func isDeep(s segment) bool { return s.sort == deep }

// countLiterals returns the number of leading segments without wildcards.
func countLiterals(segs []segment) int {
	n := 0
	for n < len(segs) && segs[n].sort == literal {
		n++
	}
	return n
}

// coversTree reports whether the glob is a literal folder followed by **, and that folder
// contains everything that the target, a pattern itself, can match.
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

// drivePath finds a Windows path within a path that was made absolute on another system, and
// returns it with slashes.
func drivePath(p string) (string, bool) {
	colon := strings.IndexByte(p, ':')
	if colon < 1 || !driveLetter(p[colon-1:]) || colon > 1 && p[colon-2] != '/' && p[colon-2] != '\\' {
		return "", false
	}
	return path.Clean("/" + strings.ReplaceAll(p[colon-1:], `\`, "/")), true
}
