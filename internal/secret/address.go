package secret

import (
	"strings"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// maxAddress limits how many bytes of an address before its host are read.
const maxAddress = 1024

// address masks the password in scheme://user:password@host, or a token in place of the
// user.
func (s *scan) address(_, end int) {
	limit := min(len(s.text), end+maxAddress)
	stop := end
	for stop < limit && strings.IndexByte(" \t\r\n\"'`<>\\/?#|;", s.text[stop]) < 0 {
		stop++
	}
	at := strings.LastIndexByte(s.text[end:stop], '@')
	if at < 0 {
		at = s.unescaped(end, stop, limit)
	}
	if at < 0 {
		return
	}
	at += end
	if colon := strings.IndexByte(s.text[end:at], ':'); colon >= 0 {
		if password := s.text[end+colon+1 : at]; !isPlaceholder(password) {
			s.addSpan(end+colon+1, at, "url-password", named)
		}
		return
	}
	const enough = 16
	if user := s.text[end:at]; len(user) >= enough && sensitive.IsRandom(user) && !isPlaceholder(user) {
		s.addSpan(end, at, "url-token", named)
	}
}

// unescaped finds the @ after a password with unescaped special characters:
// user:pass/word@host. It returns -1 if they start a path.
func (s *source) unescaped(start, stop, limit int) int {
	colon := strings.IndexByte(s.text[start:stop], ':')
	if colon < 0 || s.text[start] == '[' || stop >= limit || strings.IndexByte("/?#;", s.text[stop]) < 0 {
		return -1
	}
	first := start + colon + 1
	if onlyDigits(s.text[first:stop]) {
		return -1 // a port
	}
	end := stop
	for end < limit && strings.IndexByte(" \t\r\n\"'`<>\\|", s.text[end]) < 0 {
		end++
	}
	at := strings.IndexByte(s.text[first:end], '@')
	if at < 0 {
		return -1
	}
	return first + at - start
}

// dataSource masks the password in user:password@tcp(host).
func (s *scan) dataSource(start, _ int) {
	left, far := start, s.reach(start)-start
	for left > 0 && start-left < far && strings.IndexByte(" \t\r\n\"'`=", s.text[left-1]) < 0 {
		left--
	}
	s.spent += start - left
	if colon := strings.IndexByte(s.text[left:start], ':'); colon > 0 {
		if password := s.text[left+colon+1 : start]; !isPlaceholder(password) {
			s.addSpan(left+colon+1, start, "url-password", named)
		}
	}
}

// pathToken masks the token in the path of some addresses, such as those of bots and
// webhooks.
func (s *scan) pathToken(_, end int) {
	const enough = 24
	at := end
	for at < len(s.text) && isDigit(s.text[at]) {
		at++
	}
	if at == end || at >= len(s.text) || s.text[at] != ':' && s.text[at] != '/' {
		return
	}
	first := at + 1
	for at = first; at < len(s.text) && (isWord(s.text[at]) || s.text[at] == '-'); at++ {
	}
	if at-first >= enough && !isPlaceholder(s.text[first:at]) {
		s.addSpan(first, at, "url-token", shaped)
	}
}
