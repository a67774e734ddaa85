package secret

import (
	"encoding/base64"
	"strings"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// schemes are the words between Authorization: and the secret.
var schemes = []string{
	"bearer", "basic", "token", "digest", "apikey", "api-key", "negotiate", "bot", "key", "splunk", "sso-key",
}

// authorization masks the credentials of an Authorization header in any form: a header
// line, a member of an object, an option.
func (s *scan) authorization(_, end int) {
	at := end
	for _, quote := range []string{`\"`, `\'`, `"`, `'`} {
		if strings.HasPrefix(s.text[at:], quote) {
			at += len(quote)
			break
		}
	}
	at = s.blanks(at)
	if at >= len(s.text) || s.text[at] != ':' && s.text[at] != '=' {
		return
	}
	at = s.blanks(at + 1)
	for _, open := range []string{`\"`, `\'`, `"`, `'`, "`"} {
		if strings.HasPrefix(s.text[at:], open) {
			at += len(open)
			break
		}
	}
	scheme := ""
	for _, word := range schemes {
		if len(s.text)-at > len(word) && strings.EqualFold(s.text[at:at+len(word)], word) &&
			isBlank(s.text[at+len(word)]) {
			scheme, at = word, s.blanks(at+len(word))
			break
		}
	}
	v := s.value(at)
	text := s.cut(v)
	if v.quoted || isPlaceholder(text) || hasWord(constants+" "+typeWords+" "+ownNames, strings.ToLower(text)) ||
		len(text) < 4 || scheme == "" && !sensitive.IsRandom(text) && len(text) < 20 {
		return
	}
	if strings.ContainsAny(text, "+") && v.next < len(s.text) && isBlank(s.text[v.next]) && !sensitive.IsRandom(text) {
		return // an expression
	}
	s.addSpan(v.start, v.end, "authorization", named)
}

// bearer masks a token after the word, in any context.
func (s *scan) bearer(start, end int) {
	at := s.blanks(end)
	if at == end || start > 0 && isWord(s.text[start-1]) {
		return
	}
	v := s.value(at)
	if text := s.cut(v); !v.quoted && !isPlaceholder(text) && len(text) >= 12 &&
		(sensitive.IsRandom(text) || sensitive.IsKeyLike(text)) {
		s.addSpan(v.start, v.end, "authorization", named)
	}
}

// basic masks a user and password in base64.
func (s *scan) basic(start, end int) {
	if start > 0 && isWord(s.text[start-1]) {
		return
	}
	v := s.value(s.blanks(end))
	if text := s.cut(v); !v.quoted && encodedPair(text) {
		s.addSpan(v.start, v.end, "authorization", named)
	}
}

// encodedPair reports whether a value is user:password in base64.
func encodedPair(text string) bool {
	if len(text) < 8 {
		return false
	}
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return false
	}
	colon := false
	for _, c := range plain {
		if c < ' ' || c > '~' {
			return false
		}
		colon = colon || c == ':'
	}
	return colon
}

// cookies masks the values of cookies that look random.
func (s *scan) cookies(_, end int) {
	if end >= len(s.text) || strings.IndexByte(`:"'`, s.text[end]) < 0 {
		return
	}
	line := s.text[end:s.reach(end)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	s.spent += len(line)
	for at := 0; at < len(line); {
		sign := strings.IndexByte(line[at:], '=')
		if sign < 0 {
			return
		}
		at += sign + 1
		stop := strings.IndexAny(line[at:], "; \"'\\\r")
		if stop < 0 {
			stop = len(line) - at
		}
		if text := line[at : at+stop]; len(text) >= 12 && !isPlaceholder(text) &&
			(sensitive.IsRandom(text) || sensitive.IsKeyLike(text)) {
			s.addSpan(end+at, end+at+stop, "cookie", named)
		}
		at += stop
	}
}

// signature masks an address's signature, because anybody who has it may use the address.
func (s *scan) signature(start, end int) {
	left := start
	for left > 0 && isName(s.text[left-1]) {
		left--
	}
	if left == 0 || strings.IndexByte("?&,; ;\"'", s.text[left-1]) < 0 {
		return
	}
	const enough = 20
	v := s.value(end)
	if text := s.cut(v); !v.quoted && len(text) >= enough && !isPlaceholder(text) &&
		(sensitive.IsRandom(text) || sensitive.IsKeyLike(text)) {
		s.addSpan(v.start, v.end, "signature", named)
	}
}

// queryKey masks ?key=VALUE in an address.
func (s *scan) queryKey(start, end int) {
	if start == 0 || s.text[start-1] != '?' && s.text[start-1] != '&' {
		return
	}
	const enough = 16
	v := s.value(end)
	if text := s.cut(v); !v.quoted && len(text) >= enough && !isPlaceholder(text) && sensitive.IsRandom(text) {
		s.addSpan(v.start, v.end, "key", named)
	}
}
