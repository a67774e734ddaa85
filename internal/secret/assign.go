package secret

import (
	"strings"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// assigned masks the value of a name: NAME=VALUE, name: value, "name": "value", --name
// value, <name>value</name> and the like.
func (s *scan) assigned(t tier, start, end int) {
	n, ok := s.nameAt(t, start, end)
	if !ok || start < s.valued {
		return
	}
	form, at := s.operator(n)
	if form == noForm {
		form, at = s.listed(n)
	}
	if form == noForm || at >= len(s.text) {
		return
	}
	if form == fallbackForm {
		s.fallback(n, at)
		return
	}
	v := s.value(at)
	if s.accepts(n, form, v) {
		s.valued = v.next
		s.addSpan(v.start, v.end, ruleName(n, s.text[start:end]), named)
	}
}

// fallback masks the value in ${NAME:-value}.
func (s *scan) fallback(n name, at int) {
	s.spent += s.reach(at) - at
	end := strings.IndexAny(s.text[at:s.reach(at)], "}\n")
	if end <= 0 {
		return
	}
	v := value{start: at, end: at + end, next: at + end}
	if s.accepts(n, tightForm, v) {
		s.addSpan(v.start, v.end, ruleName(n, "password"), named)
	}
}

func ruleName(n name, word string) string {
	switch {
	case n.tier == passwordTier:
		return "password"
	case strings.HasSuffix(strings.ToLower(word), "token"):
		return "token"
	case strings.HasSuffix(strings.ToLower(word), "key"):
		return "key"
	}
	return "secret"
}

// A form is the syntax that connects a value to its name.
type form uint8

const (
	noForm       form = iota
	tightForm         // NAME=value, as in a shell
	spaceForm         // --name value, set NAME value
	looseForm         // name = value, name := value, name => value
	colonForm         // name: value
	elementForm       // <name>value</name>
	fallbackForm      // ${NAME:-value}
)

// operator returns the form of a name's value, and where the value starts.
func (s *scan) operator(n name) (form, int) {
	at := n.end
	if n.variable {
		for _, op := range []string{":-", ":=", "-"} {
			if s.text[n.start-1] == '{' && strings.HasPrefix(s.text[at:], op) {
				return fallbackForm, at + len(op)
			}
		}
		return noForm, 0
	}
	for _, end := range []string{`\"`, `\'`, `"]`, `']`, `"`, `'`} {
		if strings.HasPrefix(s.text[at:], end) {
			at += len(end)
			break
		}
	}
	blank := s.blanks(at)
	rest := s.text[blank:]
	switch {
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "=~") || strings.HasPrefix(rest, "::"):
		return noForm, 0
	case strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, "=>"):
		return looseForm, s.blanks(blank + 2)
	case strings.HasPrefix(rest, "=") && blank == n.end && !n.loose(s, blank+1):
		return tightForm, blank + 1
	case strings.HasPrefix(rest, "+=") && blank == n.end && !n.loose(s, blank+2):
		return tightForm, blank + 2
	case strings.HasPrefix(rest, "="):
		return looseForm, s.blanks(blank + 1)
	case strings.HasPrefix(rest, ":"):
		return colonForm, s.blanks(blank + 1)
	case strings.HasPrefix(rest, ">") && n.start > 0 && s.text[n.start-1] == '<':
		if end := strings.IndexByte(s.text[blank:s.reach(blank)], '<'); end < 0 ||
			!strings.HasPrefix(s.text[blank+end:], "</") {
			return noForm, 0
		}
		return elementForm, blank + 1
	case blank > at && (n.option || s.setBefore(n.start)):
		return spaceForm, blank
	}
	return noForm, 0
}

// listed returns where the value starts in a list of environment variables:
//
//   - name: NAME
//     value: VALUE
func (s *source) listed(n name) (form, int) {
	const behind = 64
	left := strings.TrimRight(s.text[max(0, n.start-len("name:  ")):n.start], ` "'`)
	if !strings.HasSuffix(strings.ToLower(left), "name:") && !strings.HasSuffix(strings.ToLower(left), `name":`) {
		return noForm, 0
	}
	rest := s.text[n.end:min(len(s.text), n.end+behind)]
	trimmed := strings.TrimLeft(rest, "\"', \t\r\n")
	at := n.end + len(rest) - len(trimmed)
	for _, word := range []string{"value:", "Value:", `value":`, `Value":`} {
		if strings.HasPrefix(trimmed, word) && strings.Contains(rest[:at-n.end], "\n") {
			return colonForm, s.blanks(at + len(word))
		}
	}
	return noForm, 0
}

// loose reports whether a blank follows the sign. In a shell the value is then empty;
// elsewhere the blank is ignored.
func (n name) loose(s *scan, at int) bool { return at < len(s.text) && isBlank(s.text[at]) }

func (s *source) blanks(at int) int {
	for at < len(s.text) && isBlank(s.text[at]) {
		at++
	}
	return at
}

// setBefore reports whether a command or a file sets the name.
func (s *source) setBefore(at int) bool {
	left := s.text[max(0, at-64):at]
	left = left[strings.LastIndexByte(left, '\n')+1:]
	fields := strings.Fields(left)
	if len(fields) == 0 || !strings.HasSuffix(left, " ") {
		return false
	}
	for len(fields) > 1 && strings.HasPrefix(fields[len(fields)-1], "-") {
		fields = fields[:len(fields)-1] // set -gx NAME value
	}
	last := fields[len(fields)-1]
	// .netrc: login somebody password something
	return last == "set" || last == "setenv" || last == "ENV" && isUpper(s.text[at]) ||
		len(fields) > 1 && fields[len(fields)-2] == "login"
}

// accepts reports whether the value of a name is a secret.
func (s *scan) accepts(n name, f form, v value) bool {
	text := s.cut(v)
	lower := strings.ToLower(text)
	if isPlaceholder(text) || hasWord(constants, lower) || hasWord(typeWords, lower) ||
		hasWord(ownNames, lower) && !n.given(f) || pathLike(text) || s.isCode(n, f, v, text) {
		return false
	}
	switch f {
	case tightForm, elementForm:
		if v.quoted && s.closes(n, v) {
			return false
		}
		return isWritten(n, text)
	case spaceForm:
		return !s.question(n, text) && isWritten(n, text)
	case looseForm, colonForm:
		if strings.EqualFold(s.text[n.end-len("pass"):n.end], "pass") && !v.quoted {
			return false // PASS: TestSomething
		}
		if v.quoted {
			return quotedValue(n, text)
		}
		return s.endsHere(v.next) && bareValue(n, text)
	case noForm, fallbackForm:
	}
	return false
}

// given reports whether a command or an environment sets the name. Then any word is a
// value.
func (n name) given(f form) bool { return f == spaceForm && n.option || f == tightForm && n.upper }

// isCode reports whether an unquoted value is an expression.
func (s *source) isCode(n name, f form, v value, text string) bool {
	if v.quoted {
		return false
	}
	follows := byte(0)
	if v.next < len(s.text) {
		follows = s.text[v.next]
	}
	dotted := onlyName(text) && strings.ContainsAny(text, ".")
	argument := onlyName(text) && !n.upper && (follows == ')' || v.end < v.next)
	return follows == '(' || dotted || argument || f == spaceForm && strings.HasPrefix(text, "-") ||
		strings.HasPrefix(text, "=")
}

// isWritten accepts a literal value in a command or an environment.
func isWritten(n name, text string) bool {
	switch n.tier {
	case passwordTier:
		// --password PASSWORD
		return !(n.option && text == strings.ToUpper(text) && onlyName(text) && namesItself(text))
	case strongTier:
		if n.variable && onlyName(strings.Trim(text, "#")) {
			return false
		}
		return len(text) >= 4 && !(onlyDigits(text) && len(text) < 12) && !namesItself(text)
	case weakTier:
		return sensitive.IsRandom(text) ||
			len(text) >= 6 && strings.ContainsAny(text, "0123456789") &&
				strings.IndexFunc(text, func(r rune) bool { return r < 'a' && !isDigit(byte(r)) }) < 0 &&
				!onlyDigits(text)
	case noTier:
	}
	return false
}

// namesItself reports whether a value is only a name for a secret: MY_TOKEN.
func namesItself(text string) bool {
	last := text[strings.LastIndexAny(text, "_-.")+1:]
	return hasWord(ownNames+" key", strings.ToLower(last))
}

// quotedValue accepts a quoted value in a program or a document that is neither a
// sentence nor a field name.
func quotedValue(n name, text string) bool {
	if strings.Contains(text, " ") && !sensitive.IsRandom(text) {
		return false
	}
	switch n.tier {
	case passwordTier:
		return !isVersion(text)
	case strongTier:
		return len(text) >= 6 && !(onlyDigits(text) && len(text) < 12) &&
			(strings.ContainsAny(text, "0123456789") || len(text) >= 16 && !onlyName(text))
	case weakTier:
		return isWritten(n, text)
	case noTier:
	}
	return false
}

// bareValue accepts an unquoted value after a colon or a spaced sign, where prose and
// programs have words.
func bareValue(n name, text string) bool {
	if n.upper && n.tier == passwordTier && len(text) >= 4 && !strings.ContainsAny(text, "[({.:") {
		return true // an environment in YAML
	}
	if n.header && n.tier != noTier && strings.ContainsAny(text, "0123456789") {
		return len(text) >= 6
	}
	if n.tier == passwordTier {
		return len(text) >= 4 && !onlyName(strings.ReplaceAll(text, ":", "")) && !strings.ContainsAny(text, "[({")
	}
	return (sensitive.IsRandom(text) ||
		n.tier == strongTier && sensitive.IsKeyLike(text) && strings.ContainsAny(text, "/+=")) &&
		!strings.HasPrefix(strings.TrimPrefix(text, "-"), "0x")
}

// endsHere reports whether a line or an item ends after a value.
func (s *source) endsHere(at int) bool {
	at = s.blanks(at)
	return at >= len(s.text) || strings.IndexByte("\r\n,}])\"'\\#;&<", s.text[at]) >= 0
}

// closes reports whether the quote after a sign ends the text with the name: "password=".
func (s *source) closes(n name, v value) bool {
	return n.start > 0 && s.text[n.start-1] == s.text[v.start-1]
}

// question reports whether an option takes no secret, or makes the program ask for it.
func (s *source) question(n name, text string) bool {
	bare := strings.TrimLeft(strings.ToLower(s.text[n.start:n.end]), "-")
	for _, begin := range questions {
		if strings.HasPrefix(bare, begin) {
			return true
		}
	}
	line := s.text[max(0, n.start-128):n.start]
	line = line[strings.LastIndexAny(line, "\n;|&")+1:]
	return strings.Contains(line, "psql") || strings.Contains(line, "pg_") || strings.Contains(text, "=")
}
