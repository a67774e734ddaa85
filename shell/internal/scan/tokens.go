package scan

import (
	"strconv"
	"strings"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// homes are expressions whose value is the home directory.
var homes = lazyregexp.Regexp{Text: `\b(?:os\.environ\[['"]HOME['"]\]|os\.environ\.get\(['"]HOME['"]\)|(?:os\.|` +
	`Sys\.)?getenv\(['"]HOME['"]\)|process\.env\.HOME\b|ENV\[['"]HOME['"]\]|` +
	`(?:pathlib\.)?Path\.home\(\)|(?:require\(['"](?:node:)?os['"]\)|os)\.homedir\(\)|` +
	`Dir\.home\b(?:\(\))?|Deno\.env\.get\(['"]HOME['"]\))|\$ENV\{['"]?HOME['"]?\}|\$_(?:SERVER|` +
	`ENV)\[['"]HOME['"]\]`}

// A token is a lexical token of code.
type token struct {
	kind tokenKind
	text string
	open bool // of a string: a part is known only at run time
}

type tokenKind uint8

const (
	punct     tokenKind = iota // one character, or the end of a line
	name                       // with its dots and colons: os.path.join, File::Path
	str                        // a string
	started                    // a string that the shell runs: `…` of Perl, Ruby and PHP
	codeWords                  // a list of words: qw(a b), %w(a b)
)

// tokenize splits code into tokens.
func tokenize(language, code string) []token {
	t := tokenizer{language: language, code: code}
	for t.at < len(t.code) {
		t.readToken()
	}
	return t.tokens
}

type tokenizer struct {
	language, code string
	at             int
	tokens         []token
}

func (t *tokenizer) addToken(kind tokenKind, text string, open bool) {
	t.tokens = append(t.tokens, token{kind, text, open})
}

func (t *tokenizer) restOfCode() string { return t.code[t.at:] }

func (t *tokenizer) readToken() {
	c := t.code[t.at]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\\':
		t.at++
	case t.startsComment():
		end := strings.IndexByte(t.restOfCode(), '\n')
		if end < 0 {
			end = len(t.restOfCode())
		}
		t.at += end
	case strings.HasPrefix(t.restOfCode(), "/*") && !t.isLanguage("python", "ruby", "perl"):
		_, after, _ := strings.Cut(t.restOfCode()[2:], "*/")
		t.at = len(t.code) - len(after)
	case c == '"' || c == '\'' || c == '`':
		t.readQuoted(c)
	case t.isLanguage("perl", "ruby") && t.quoteOperator():
	case nameByte(c) || c == '$' || c == '@':
		t.readName()
	default:
		t.at++
		t.addToken(punct, string(c), false)
	}
}

func (t *tokenizer) isLanguage(languages ...string) bool {
	for _, language := range languages {
		if strings.HasPrefix(t.language, language) {
			return true
		}
	}
	return false
}

// startsComment reports whether the rest of the line is a comment.
func (t *tokenizer) startsComment() bool {
	switch c := t.code[t.at]; {
	case c == '#':
		return !t.isLanguage("node", "deno", "bun", "lua", "groovy")
	case c == '/':
		return strings.HasPrefix(t.restOfCode(), "//") &&
			!t.isLanguage("python", "ruby", "perl", "lua", "R", "julia", "elixir")
	case c == '-':
		return strings.HasPrefix(t.restOfCode(), "--") && t.isLanguage("lua", "osascript")
	}
	return false
}

func nameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// readName reads a name with its qualifiers.
func (t *tokenizer) readName() {
	start := t.at
	for t.at++; t.at < len(t.code); t.at++ {
		next := byte(0)
		if t.at+1 < len(t.code) {
			next = t.code[t.at+1]
		}
		switch c := t.code[t.at]; {
		case nameByte(c), c == '.' && nameByte(next), c == '!' && next != '=':
		case c == ':' && next == ':' || c == '-' && next == '>':
			t.at++
		default:
			t.addToken(name, strings.ReplaceAll(strings.ReplaceAll(t.code[start:t.at], "::", "."), "->", "."), false)
			return
		}
	}
	t.addToken(name, t.code[start:], false)
}

// readQuoted reads a string in quotes.
func (t *tokenizer) readQuoted(quote byte) {
	prefix := ""
	if n := len(t.tokens); n > 0 && t.tokens[n-1].kind == name && t.at > 0 && nameByte(t.code[t.at-1]) &&
		len(t.tokens[n-1].text) < 3 {
		prefix = strings.ToLower(t.tokens[n-1].text)
		t.tokens = t.tokens[:n-1]
	}
	fence := string(quote)
	if strings.HasPrefix(t.restOfCode(), strings.Repeat(fence, 3)) {
		fence = strings.Repeat(fence, 3)
	}
	t.at += len(fence)
	end := t.at
	for end < len(t.code) && !strings.HasPrefix(t.code[end:], fence) {
		if t.code[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(t.code))
	text := t.code[t.at:end]
	t.at = min(end+len(fence), len(t.code))
	runs := quote == '`' && !t.isLanguage("node", "deno", "bun")
	if quote == '`' && t.isLanguage("node", "deno", "bun") && strings.HasSuffix(t.code[:t.at-len(text)-2], "$") {
		runs = true // $`…` of zx and Bun
	}
	t.addString(text, quote == '\'', strings.Contains(prefix, "f"), runs)
}

// addString adds a string, or a string that runs.
func (t *tokenizer) addString(text string, plain, formatted, runs bool) {
	open := formatted && strings.Contains(text, "{") || !plain && strings.Contains(text, "#{") ||
		strings.Contains(text, "${") && !plain
	open = open || !plain && t.isLanguage("perl", "php") && variable.Get().MatchString(text)
	kind := str
	if runs {
		kind = started
	}
	t.addToken(kind, unescape(text), open)
}

var variable = lazyregexp.Regexp{Text: `[$@][A-Za-z_{]`}

var escapes = lazyregexp.Regexp{Text: `\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|.)`}

// unescape returns a string as the program sees it.
func unescape(text string) string {
	return escapes.Get().ReplaceAllStringFunc(text, func(e string) string {
		base, digits := 16, e[2:]
		switch c := e[1]; {
		case len(e) == 2 && c == 'n':
			return "\n"
		case len(e) == 2 && c == 't':
			return "\t"
		case len(e) == 2:
			return e[1:]
		case c != 'x' && c != 'u':
			base, digits = 8, e[1:]
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			return e
		}
		return string(rune(n))
	})
}

var quoteOperators = lazyregexp.Regexp{Text: `^(?:(qx|qq|qw|q)\s*|%(x|w|q|Q|W|i)?)([({\[<|/!])`}

// quoteOperator reads qx{…} and similar operators, and reports whether there is one.
func (t *tokenizer) quoteOperator() bool {
	m := quoteOperators.Get().FindStringSubmatch(t.restOfCode())
	if m == nil || t.at > 0 && nameByte(t.code[t.at-1]) || m[1] == "" && (m[2] == "" || !t.isLanguage("ruby")) {
		return false
	}
	closing := m[3]
	if i := strings.Index("({[<", closing); i >= 0 {
		closing = ")}]>"[i : i+1]
	}
	text, after, found := strings.Cut(t.restOfCode()[len(m[0]):], closing)
	if !found {
		return false
	}
	t.at = len(t.code) - len(after)
	switch m[1] + m[2] {
	case "qx", "x":
		t.addString(text, false, false, true)
	case "qw", "w", "W", "i":
		t.addToken(codeWords, text, false)
	default:
		t.addString(text, m[1] == "q", false, false)
	}
	return true
}
