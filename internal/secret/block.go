package secret

import (
	"strings"
)

// block masks the body of a private key, up to its end or to the first text that does not
// look like one.
func (s *scan) block(start, end int) {
	const maxHeader = 100
	header := s.text[end:min(len(s.text), end+maxHeader)]
	stop := strings.Index(header, "-----")
	if stop < 0 || !strings.Contains(strings.ToUpper(header[:stop]), "PRIVATE KEY") {
		return
	}
	if s.read["block"] > start {
		return
	}
	first := end + stop + len("-----")
	at := first
	for at < len(s.text) && bodyByte(s.text[at]) && !strings.HasPrefix(s.text[at:], "-----") {
		at++
	}
	if !strings.HasPrefix(s.text[at:], "-----") {
		at = s.cutKey(first, at)
	}
	s.readTo("block", at)
	for first < at && isSpace(s.text[first]) {
		first++
	}
	for at > first && isSpace(s.text[at-1]) {
		at--
	}
	s.addSpan(first, at, "private-key", exact)
}

// cutKey returns the end of a key without an end line: it includes all words long enough
// to be its lines.
func (s *source) cutKey(first, limit int) int {
	const shortestLine = 32
	end := first
	for word := range strings.FieldsSeq(s.text[first:limit]) {
		if len(word) < shortestLine {
			break
		}
		end += strings.Index(s.text[end:limit], word) + len(word)
	}
	return end
}

// bodyByte reports whether a byte may be part of a key's body: base64, headers, and line
// ends, which may be escaped.
func bodyByte(c byte) bool {
	return isWord(c) || isSpace(c) || strings.IndexByte("+/=\\-:,.#!|>", c) >= 0
}

// passwordHash masks a hashed password, as in /etc/shadow, because weak passwords can be
// recovered from it.
func (s *scan) passwordHash(start, end int) {
	const enough = 20
	if s.read["hash"] > start {
		return
	}
	at := end
	for at < len(s.text) && (isWord(s.text[at]) || strings.IndexByte("./$=,+-", s.text[at]) >= 0) {
		at++
	}
	s.readTo("hash", at)
	if at-start >= enough && (start == 0 || !isWord(s.text[start-1])) {
		s.addSpan(start, at, "password-hash", shaped)
	}
}

// manifest masks the values of a Kubernetes Secret: the lines below data: and stringData:
// in the same document, before or after its kind.
func (s *scan) manifest(start, end int) {
	line := strings.TrimLeft(strings.TrimLeft(s.text[end:min(len(s.text), end+40)], `"'`), ": ")
	line = strings.TrimLeft(line, `"'`)
	if !strings.HasPrefix(line, "Secret") || len(line) > len("Secret") && isName(line[len("Secret")]) ||
		s.read["manifest"] > start {
		return
	}
	from, to := s.document(start)
	s.readTo("manifest", to)
	inside, indent := false, 0
	for at := from; at < to; {
		next := lineEnd(s.text, at, to)
		text := strings.TrimRight(s.text[at:next], "\r\n ")
		depth := len(text) - len(strings.TrimLeft(text, " "))
		key, value := splitField(text)
		switch {
		case inside && text != "" && depth <= indent:
			inside = false
			fallthrough
		case !inside:
			if (key == "data" || key == "stringData") && (value == "" || value == "{") {
				inside, indent = true, depth
			}
		default:
			s.field(at, text, key, value)
		}
		at = next
	}
}

// document returns the bounds of the YAML document around a position.
func (s *source) document(at int) (from, to int) {
	const reach = 64 << 10
	from, to = max(0, at-reach), min(len(s.text), at+reach)
	if n := strings.LastIndex(s.text[from:at], "\n---"); n >= 0 {
		from += n + 1
	} else if from > 0 {
		from += strings.IndexByte(s.text[from:at], '\n') + 1 // do not start within a line
	}
	if n := strings.Index(s.text[at:to], "\n---"); n >= 0 {
		to = at + n + 1
	}
	return from, to
}

func lineEnd(text string, at, to int) int {
	if n := strings.IndexByte(text[at:to], '\n'); n >= 0 {
		return at + n + 1
	}
	return to
}

// splitField splits `  "key": "value",` into key and value as written, without quotes.
func splitField(line string) (key, value string) {
	key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	if !ok {
		return "", strings.Trim(strings.TrimSpace(line), `"',`)
	}
	return strings.Trim(key, `"' `), strings.Trim(strings.TrimSpace(value), `"',`)
}

// field masks the value in one line of a Secret's data.
func (s *scan) field(at int, line, key, value string) {
	if value == "" || value == "|" || value == ">" || value == "|-" || value == "}" || isPlaceholder(value) {
		return
	}
	if key == "" || strings.LastIndex(line, value) > 0 {
		begin := at + strings.LastIndex(line, value)
		s.addSpan(begin, begin+len(value), "kubernetes-secret", shaped)
	}
}
