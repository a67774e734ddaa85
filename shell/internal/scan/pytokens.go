package scan

import "strings"

// A pyToken is a lexical token of a program.
type pyToken struct {
	kind pyTokenKind
	text string
	// format means a string with expressions in braces. known means that text is its value.
	format, known bool
}

type pyTokenKind uint8

const (
	endOfCode pyTokenKind = iota
	pyNewline             // ends a statement, as a semicolon does
	pyName
	pyNumber
	pyString
	pyOperator
)

// pythonOperators are the operators with more than one character, longer ones first.
var pythonOperators = [...]string{
	"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=",
	"%=", "&=", "|=", "^=", "@=", ":=",
}

// tokenizePython splits code into tokens. It reports false for code that Python might tokenize differently.
func tokenizePython(code string) ([]pyToken, bool) {
	t := pythonTokenizer{code: code}
	for t.at < len(code) {
		if !t.readToken() {
			return nil, false
		}
	}
	return t.tokens, t.brackets == 0
}

type pythonTokenizer struct {
	code     string
	at       int
	brackets int
	tokens   []pyToken
}

func (t *pythonTokenizer) addToken(kind pyTokenKind, text string) {
	t.tokens = append(t.tokens, pyToken{kind: kind, text: text})
}

func (t *pythonTokenizer) readToken() bool {
	rest := t.code[t.at:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t':
		t.at++
	case c == '\n' || c == ';':
		if t.at++; t.brackets == 0 {
			t.addToken(pyNewline, "")
		}
	case strings.HasPrefix(rest, "\\\n"):
		t.at += 2
	case c == '#':
		comment, _, _ := strings.Cut(rest, "\n")
		t.at += len(comment)
		return plain(comment)
	case c == '"' || c == '\'':
		return t.readString("")
	case isNameByte(c):
		return t.readWord()
	default:
		return t.readOperator()
	}
	return true
}

func (t *pythonTokenizer) readOperator() bool {
	rest := t.code[t.at:]
	for _, op := range pythonOperators {
		if strings.HasPrefix(rest, op) {
			t.at += len(op)
			t.addToken(pyOperator, op)
			return true
		}
	}
	c := rest[0]
	switch {
	case strings.IndexByte("([{", c) >= 0:
		t.brackets++
	case strings.IndexByte(")]}", c) >= 0:
		t.brackets--
	case strings.IndexByte("+-*/%@&|^~<>=.,:", c) < 0:
		return false
	}
	t.at++
	t.addToken(pyOperator, string(c))
	return t.brackets >= 0
}

// readWord reads a name, a number, or a string with a prefix.
func (t *pythonTokenizer) readWord() bool {
	start := t.at
	digit := t.code[start] >= '0' && t.code[start] <= '9'
	for t.at < len(t.code) && (isNameByte(t.code[t.at]) || digit && t.code[t.at] == '.') {
		t.at++
	}
	text := t.code[start:t.at]
	switch {
	case digit:
		t.addToken(pyNumber, text)
		return isNumber(strings.ToLower(text))
	case t.at < len(t.code) && (t.code[t.at] == '"' || t.code[t.at] == '\''):
		prefix := strings.ToLower(text)
		if strings.Trim(prefix, "rbfu") != "" || len(prefix) > 2 {
			return false
		}
		return t.readString(prefix)
	default:
		t.addToken(pyName, text)
	}
	return true
}

// isNumber reports whether a text is a number without a sign in its exponent.
func isNumber(text string) bool {
	if digits, hex := strings.CutPrefix(text, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef_") == ""
	}
	whole, exponent, _ := strings.Cut(text, "e")
	whole, part, _ := strings.Cut(whole, ".")
	return strings.Trim(whole+part+exponent, "0123456789_") == ""
}

// readString reads a string. Before version 3.12 a quote ended it within braces too, so one
// with an open brace is refused.
func (t *pythonTokenizer) readString(prefix string) bool {
	fence := t.code[t.at : t.at+1]
	if strings.HasPrefix(t.code[t.at:], strings.Repeat(fence, 3)) {
		fence = strings.Repeat(fence, 3)
	}
	t.at += len(fence)
	end := t.at
	for end < len(t.code) && !strings.HasPrefix(t.code[end:], fence) {
		if t.code[end] == '\n' && len(fence) == 1 {
			return false
		}
		if t.code[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(t.code) {
		return false
	}
	text := t.code[t.at:end]
	t.at = end + len(fence)
	format := strings.Contains(prefix, "f")
	t.tokens = append(t.tokens, pyToken{kind: pyString, text: text, format: format,
		known: !format && !strings.Contains(text, `\`) && !strings.Contains(prefix, "b")})
	return plain(text)
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// plain reports whether a text has no characters that only some interpreters treat as line ends.
func plain(text string) bool { return !strings.ContainsAny(text, "\r\f\v\x00") }

// A field is an expression within braces of a string, and the text before it.
type field struct {
	before, expression string
	shaped             bool // by a conversion or a format
}

// formatFields splits a string into its expressions. Text after the last one has no expression.
func formatFields(text string) (fields []field, ok bool) {
	before := ""
	for text != "" {
		switch {
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			before, text = before+text[:1], text[2:]
		case text[0] == '}':
			return nil, false
		case text[0] == '{':
			end := endOfField(text)
			if end < 0 {
				return nil, false
			}
			expression, inner, ok := splitField(text[1:end])
			if !ok {
				return nil, false
			}
			fields = append(append(fields, field{before: before, expression: expression}), inner...)
			before, text = "", text[end+1:]
		default:
			before, text = before+text[:1], text[1:]
		}
	}
	return append(fields, field{before: before}), true
}

// endOfField returns the index of the brace that closes the field at the start of a text, or -1.
func endOfField(text string) int {
	depth := 0
	quote := byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return i
			}
		case c == '\\' || c == '#' || c == '\n':
			return -1
		}
	}
	return -1
}

// splitField separates an expression from its conversion and its format, which may contain
// fields too.
func splitField(text string) (expression string, inner []field, ok bool) {
	depth := 0
	quote := byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case depth == 0 && (c == ':' || c == '!' && !strings.HasPrefix(text[i:], "!=")):
			fields, ok := formatFields(text[i+1:])
			for _, f := range fields {
				inner = append(inner, field{expression: f.expression, shaped: true})
			}
			return text[:i], inner, ok && strings.TrimSpace(text[:i]) != ""
		}
	}
	if rest, debug := strings.CutSuffix(strings.TrimSpace(text), "="); debug && !strings.HasSuffix(rest, "=") &&
		!strings.HasSuffix(rest, "!") {
		text = rest
	}
	return text, nil, strings.TrimSpace(text) != ""
}
