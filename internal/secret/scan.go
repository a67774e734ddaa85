package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A span is a secret in a text.
type span struct {
	start, end int
	rule       string
	how        certainty
}

// A certainty rates how specific a rule is. If two rules find the same secret, the more
// specific name is shown.
type certainty uint8

const (
	named  certainty = iota // its name says that it is secret
	shaped                  // it looks like a token
	exact                   // it has the shape of one issuer's tokens
)

// A source is the scanned text. Its methods only read it.
type source struct{ text string }

// A scan searches one text for secrets.
type scan struct {
	source

	spans   []span
	read    map[string]int // how far each kind was read
	covered int            // the end of the tokens found so far
	valued  int            // the end of the named values found so far
	spent   int            // bytes read as values
}

// addSpan records a secret.
func (s *scan) addSpan(start, end int, rule string, how certainty) {
	if start >= end {
		return
	}
	if end-start >= surelyCut {
		end += runLength(s.text[end:])
	}
	s.spans = append(s.spans, span{start, end, rule, how})
	if how == exact {
		s.covered = max(s.covered, end)
	}
}

// readTo records how far something was read, so nothing is read twice.
func (s *scan) readTo(what string, end int) {
	if s.read == nil {
		s.read = map[string]int{}
	}
	s.read[what] = end
}

// Values are read far at first. A text full of names without values would then take quadratic time,
// so after reading a few times the text's length, only short values are read.
const (
	maxValue   = 4096
	surelyCut  = maxValue - 64 // a value this long may have been cut
	shortValue = 128
	maxRounds  = 8
)

// reach returns how far a value may be read from a position.
func (s *scan) reach(at int) int {
	far := maxValue
	if s.spent > maxRounds*len(s.text)+maxValue {
		far = shortValue
	}
	return min(len(s.text), at+far)
}

// An action is tried at a literal from start to end.
type action func(s *scan, start, end int)

// table has the finder and the actions for scanning a text.
type table struct {
	finder  *finder
	actions [][]action // by literal
	lengths []int
}

// theTable is made on first use, so a process that masks nothing does not pay for it.
var theTable = sync.OnceValue(makeTable)

func makeTable() *table {
	byLiteral := map[string][]action{}
	for i := range scannerRules {
		r := &scannerRules[i]
		for _, l := range r.literals {
			byLiteral[l] = append(byLiteral[l], func(s *scan, start, _ int) { s.match(r, start) })
		}
	}
	for _, own := range ownRules() {
		for _, l := range own.literals {
			byLiteral[l] = append(byLiteral[l], own.try)
		}
	}
	t := &table{}
	var literals []string
	for l, actions := range byLiteral {
		literals = append(literals, l)
		t.actions = append(t.actions, actions)
		t.lengths = append(t.lengths, len(l))
	}
	t.finder = newFinder(literals)
	return t
}

// An ownRule is one of our own rules.
type ownRule struct {
	literals []string
	try      action
}

func ownRules() []ownRule {
	return append(nameRules(), []ownRule{
		{[]string{"authorization"}, (*scan).authorization},
		{[]string{"bearer"}, (*scan).bearer},
		{[]string{"basic "}, (*scan).basic},
		{[]string{"cookie"}, (*scan).cookies},
		{[]string{"://"}, (*scan).address},
		{[]string{"/bot", "/api/webhooks/"}, (*scan).pathToken},
		{[]string{"@tcp(", "@unix("}, (*scan).dataSource},
		{[]string{"sig=", "signature="}, (*scan).signature},
		{[]string{"key="}, (*scan).queryKey},
		{[]string{"pass:"}, (*scan).passSource},
		{programLiterals(), (*scan).program},
		{[]string{"--password-stdin", "--with-token", "sudo -s", "chpasswd", "passwd --stdin"}, (*scan).piped},
		{[]string{"-----begin"}, (*scan).block},
		{[]string{"kind"}, (*scan).manifest},
		{[]string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$argon2"}, (*scan).passwordHash},
		{prefixLiterals(), (*scan).prefixed},
	}...)
}

// findSecrets returns the secrets of a text in order, without overlaps. Text inside a
// mask is not a secret.
func findSecrets(text string) []span {
	t := theTable()
	var s *scan // nil until the first candidate, which most texts lack
	masks := masksIn(text)
	left := masks
	t.finder.eachLiteral(text, func(literal uint16, end int) {
		start := end - t.lengths[literal]
		for len(left) > 0 && left[0].end <= start {
			left = left[1:]
		}
		if len(left) > 0 && left[0].start <= start {
			return
		}
		if s == nil {
			s = &scan{source: source{text}}
		}
		for _, try := range t.actions[literal] {
			try(s, start, end)
		}
	})
	if s == nil {
		return nil
	}
	return mergeSpans(removeMasked(s.spans, masks))
}

// removeMasked removes existing masks from spans.
func removeMasked(spans, masks []span) []span {
	if len(spans) == 0 || len(masks) == 0 {
		return spans
	}
	var rest []span
	for _, found := range spans {
		first, _ := slices.BinarySearchFunc(
			masks, found.start, func(m span, at int) int { return cmp.Compare(m.end, at+1) },
		)
		for _, m := range masks[first:] {
			if m.start >= found.end {
				break
			}
			if before := found; before.start < m.start {
				before.end = m.start
				rest = append(rest, before)
			}
			found.start = m.end
		}
		if found.start < found.end {
			rest = append(rest, found)
		}
	}
	return rest
}

// masksIn returns the masks in a text, in order.
func masksIn(text string) (masks []span) {
	for at := 0; ; {
		begin := strings.Index(text[at:], maskBegin)
		if begin < 0 {
			return masks
		}
		begin += at
		at = begin + len(maskBegin)
		end := at
		for end < len(text) && (isLower(text[end]) || isDigit(text[end]) || text[end] == '-' || text[end] == ':') {
			end++
		}
		if end > at && end < len(text) && text[end] == ']' {
			at = end + 1
			masks = append(masks, span{start: begin, end: at})
		}
	}
}

// mergeSpans merges overlapping spans into one, with the name of the most certain one.
func mergeSpans(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	merged := spans[:0]
	for _, next := range spans {
		if len(merged) == 0 || merged[len(merged)-1].end <= next.start {
			merged = append(merged, next)
			continue
		}
		last := &merged[len(merged)-1]
		last.end = max(last.end, next.end)
		if next.how > last.how {
			last.rule, last.how = next.rule, next.how
		}
	}
	return merged
}
