package secret

import (
	"strings"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

func prefixLiterals() (all []string) {
	for p := range strings.FieldsSeq(sensitive.TokenPrefixes + " " + sensitive.TokenWordPrefixes) {
		all = append(all, strings.ToLower(p))
	}
	return all
}

// prefixed masks a token with a known prefix, if the rest is long and not a sequence of
// words.
func (s *scan) prefixed(start, end int) {
	const enough = 16
	if start > 0 && (isWord(s.text[start-1]) || s.text[start-1] == '-') {
		return
	}
	prefix := s.text[start:end]
	known := hasWord(sensitive.TokenPrefixes, prefix)
	if !known && !hasWord(sensitive.TokenWordPrefixes, prefix) {
		return
	}
	stop, run, longest := end, 0, 0
	for limit := s.reach(start); stop < limit && s.inToken(prefix, stop); stop++ {
		if run++; s.text[stop] == '-' || s.text[stop] == '_' || s.text[stop] == '.' {
			run = 0
		}
		longest = max(longest, run)
	}
	if prefix == "eyJ" && !strings.Contains(s.text[start:stop], ".") {
		return // any object in base64
	}
	stop = max(end, len(strings.TrimRight(s.text[:stop], ".-")))
	rest := s.text[end:stop]
	if len(rest) >= enough && (sensitive.IsRandom(rest) || sensitive.IsKeyLike(rest) || known && longest >= enough) &&
		!isPlaceholder(rest) {
		s.addSpan(start, stop, "token", shaped)
	}
}

// inToken reports whether a byte continues a token. Only some tokens have parts separated
// by dots.
func (s *source) inToken(prefix string, at int) bool {
	return isWord(s.text[at]) || s.text[at] == '-' || s.text[at] == '.' && hasWord("eyJ SG. ya29. mfa. AIza", prefix)
}
