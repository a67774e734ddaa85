package wildcard

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// maxExpanded is the maximum number of patterns that braces may expand to.
const maxExpanded = 64

// ExpandBraces expands the {a,b} alternatives of a pattern into patterns without braces,
// because an index cannot handle braces and matching adjacent ones takes time that grows with
// their product. Braces nest; a backslash escapes one. It returns an error for an unclosed
// brace or more than maxExpanded patterns.
func ExpandBraces(pattern string) ([]string, error) {
	open, end, err := firstBraces(pattern)
	if err != nil || open < 0 {
		return []string{pattern}, err
	}
	tails := []string{pattern[end+1:]}
	if strings.Contains(tails[0], "{") {
		if tails, err = ExpandBraces(tails[0]); err != nil {
			return nil, err
		}
	}
	choices := splitChoices(pattern[open+1 : end])
	all := make([]string, 0, min(len(choices)*len(tails), maxExpanded))
	size := len(tails) * (end - open)
	for _, tail := range tails {
		size += len(choices) * (open + len(tail))
	}
	var text strings.Builder // all patterns, one after another
	text.Grow(min(size, maxText))
	for i, choice := range choices {
		middles := choices[i : i+1]
		if strings.ContainsAny(choice, `{}[\`) {
			if middles, err = ExpandBraces(choice); err != nil {
				return nil, err
			}
		}
		if len(all)+len(middles)*len(tails) > maxExpanded {
			return nil, umpire.Errorf("braces give more than %d patterns", maxExpanded)
		}
		for _, middle := range middles {
			for _, tail := range tails {
				start := text.Len()
				joinStars(&text, pattern[:open], middle, tail)
				all = append(all, text.String()[start:])
			}
		}
	}
	return all, nil
}

// maxText is the maximum size to allocate in advance.
const maxText = 4096

// joinStars concatenates three pieces without creating a ** that is not in the pattern.
func joinStars(text *strings.Builder, head, middle, tail string) {
	if endsInStar(head) {
		middle = strings.TrimLeft(middle, "*")
	}
	if endsInStar(middle) || middle == "" && endsInStar(head) {
		tail = strings.TrimLeft(tail, "*")
	}
	text.WriteString(head)
	text.WriteString(middle)
	text.WriteString(tail)
}

func endsInStar(text string) bool {
	return strings.HasSuffix(text, "*") && !strings.HasSuffix(text, `\*`)
}

// firstBraces finds the first group outside character classes. open is -1 if there is no group.
func firstBraces(s string) (open, end int, err error) {
	open = -1
	depth, class := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth == 0 {
				open = i
			}
			depth++
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, nil
			}
		}
	}
	if depth > 0 {
		return 0, 0, umpire.Errorf("a brace is not closed")
	}
	return -1, -1, nil
}

// splitChoices splits at the commas outside nested groups.
func splitChoices(s string) []string {
	choices := make([]string, 0, strings.Count(s, ",")+1)
	start, depth, class := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			choices = append(choices, s[start:i])
			start = i + 1
		}
	}
	return append(choices, s[start:])
}
