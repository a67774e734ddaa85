package secret

import (
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

//go:generate go test -run TestScannerRulesAreCurrent . -update

// A rule finds one kind of token by its shape.
type rule struct {
	id       string
	literals []string // in lower case; every match has one of them
	pattern  string
	longest  int  // maximum bytes of a match and its next byte; 0 means no limit
	lead     int  // maximum bytes before the literal
	group    int  // of the secret; 0 is the first with a match
	word     bool // starts at a word boundary
	plain    bool // the value has no typical shape, so the name must announce a secret
	random   bool // the prefix is too short, so the value must look random
	entropy  float64

	once     sync.Once
	compiled *regexp.Regexp
}

// maxToken limits how far a rule without a maximum length looks. A longer token is masked
// to its end.
const maxToken = 4096

// expression compiles the pattern on first use, because most are never used, and
// compiling all takes longer than everything else.
func (r *rule) expression() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) }) // a test compiles all of them
	return r.compiled
}

// match tries a rule at one of its literals.
func (s *scan) match(r *rule, start int) {
	if start < s.covered || r.word && start > 0 && isWord(s.text[start-1]) {
		return
	}
	if r.lead > 0 && runBefore(s.text[:start], r.lead) < r.lead-1 {
		return
	}
	from := max(0, start-r.lead)
	limit := r.longest
	if limit == 0 {
		limit = maxToken
	}
	piece := s.text[from:min(len(s.text), from+limit+r.lead)]
	groups := r.expression().FindStringSubmatchIndex(piece)
	if groups == nil {
		return
	}
	begin, end := secretGroup(groups, r.group)
	begin, end = from+begin, from+end
	value := s.text[begin:end]
	switch {
	case isPlaceholder(value), r.entropy > 0 && entropyOf(value) <= r.entropy, r.plain && !s.speaks(start, begin),
		r.random && !sensitive.IsRandom(value):
		return
	}
	s.addSpan(begin+addressLength(value), end, r.id, exact)
}

// secretGroup returns the position of the secret in a match.
func secretGroup(groups []int, want int) (begin, end int) {
	if want > 0 && 2*want < len(groups) && groups[2*want] >= 0 {
		return groups[2*want], groups[2*want+1]
	}
	for i := 2; i < len(groups); i += 2 {
		if groups[i] >= 0 && groups[i] < groups[i+1] {
			return groups[i], groups[i+1]
		}
	}
	return groups[0], groups[1]
}

// runLength returns how far a token continues.
func runLength(text string) int {
	for i := range len(text) {
		if !isWord(text[i]) && !strings.ContainsRune("-./+=", rune(text[i])) {
			return i
		}
	}
	return len(text)
}

// runBefore returns how many of the last bytes of a text belong to a token, up to a
// limit.
func runBefore(text string, limit int) int {
	n := 0
	for n < limit && n < len(text) {
		if c := text[len(text)-1-n]; !isName(c) && c != '~' {
			break
		}
		n++
	}
	return n
}

// addressLength returns the length of a secret's public host prefix.
func addressLength(value string) int {
	if !strings.HasPrefix(value, "hooks.slack.com/") && !strings.HasPrefix(value, "webhook.office.com/") {
		return 0
	}
	return strings.IndexByte(value, '/') + 1
}

// nameReach limits how far before a literal its name may start.
const nameReach = 50

// speaks reports whether the name around a literal, or the text between it and the value,
// announces a secret. A commit hash after a company's name is not a secret.
func (s *source) speaks(start, value int) bool {
	left := start
	for left > 0 && start-left < nameReach && isName(s.text[left-1]) {
		left--
	}
	name := strings.ToLower(s.text[left:value])
	for _, word := range []string{"key", "token", "secret", "pass", "pwd", "auth", "cred", "login", "signature"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// entropyOf returns Shannon's entropy in bits per byte.
func entropyOf(value string) float64 {
	var counts [256]int
	for i := range len(value) {
		counts[value[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isWord(c byte) bool  { return isDigit(c) || isLower(c|0x20) || c == '_' }
func isName(c byte) bool  { return isWord(c) || c == '-' || c == '.' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isSpace(c byte) bool { return isBlank(c) || c == '\n' || c == '\r' }
