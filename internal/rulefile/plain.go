package rulefile

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// A plainFile reads a file in umpire's own format in one pass, which takes a fifth of the time of a
// tree. It stops at a fault, which few files have: only a tree can report problems with their
// positions.
type plainFile struct {
	*reader
	docedit.Lines // of the whole file; the texts of rules are pieces of it

	at     int
	values int
	rules  int
}

// readPlain reads a file without faults. For any other file it returns false without side
// effects, and the caller must use readTree.
func (r *reader) readPlain(data []byte) bool {
	p := plainFile{reader: r, Lines: docedit.Lines{Text: strings.TrimPrefix(string(data), byteOrderMark)}}
	if utf8.ValidString(p.Text) && p.readTop() && p.peek() == 0 && p.at == len(p.Text) {
		return true
	}
	*r = reader{layer: r.layer, check: r.check, short: r.short, keep: r.keep}
	return false
}

// byteOrderMark is the prefix that some editors add to UTF-8 text.
const byteOrderMark = "\xef\xbb\xbf"

func (p *plainFile) readTop() bool {
	versioned := false
	n := strings.Count(p.Text, `"action"`)
	p.doc.rules, p.ids = make([]umpire.Rule, 0, n), make(map[umpire.RuleID]int, n)
	read := func(key string) bool {
		switch key {
		case "version":
			versioned = p.eat('1')
			return versioned
		case "rules":
			return p.readList(p.readRule)
		case "$schema":
			_, ok := p.readText()
			return ok
		}
		return false
	}
	return p.readObject(read) && versioned
}

// readRule reads one rule and adds it to the set.
func (p *plainFile) readRule() bool {
	if p.rules++; p.rules > maxRules {
		return false
	}
	p.peek()
	e := entry{at: p.place(p.At(p.at)), clear: true}
	acted := false
	read := func(key string) bool {
		switch key {
		case "match":
			return p.readObject(func(key string) bool {
				field := matchField(&e.rule.Match, key)
				return field != nil && p.readInto(field)
			})
		case "examples":
			return p.readObject(func(key string) bool {
				texts := exampleField(&e.rule.Examples, key)
				return texts != nil && p.readTexts(texts)
			})
		case "action":
			acted = true
		}
		text, ok := p.readText()
		return ok && isTextField(key) && setText(&e.rule, key, text) == nil
	}
	if !p.readObject(read) || !acted || e.rule.Tool == "" {
		return false
	}
	p.admit(e)
	return true
}

// readObject reads an object, and calls read for each value. Its keys must be unique.
func (p *plainFile) readObject(read func(key string) bool) bool {
	if !p.eat('{') {
		return false
	}
	var seen [16]string
	for n := 0; !p.eat('}'); n++ {
		key, ok := p.readText()
		if !ok || n == len(seen) || slices.Contains(seen[:n], key) {
			return false
		}
		seen[n] = key
		if !p.eat(':') || !read(key) || !p.endsValue('}') {
			return false
		}
	}
	return true
}

// readList reads a list, of which read reads each value.
func (p *plainFile) readList(read func() bool) bool {
	if !p.eat('[') {
		return false
	}
	for !p.eat(']') {
		if !read() || !p.endsValue(']') {
			return false
		}
	}
	return true
}

// endsValue skips the comma after a value. The last value needs no comma.
func (p *plainFile) endsValue(closing byte) bool {
	if p.eat(',') {
		p.values++
		return p.values <= docedit.MaxValues
	}
	return p.peek() == closing
}

// readTexts reads a list of strings.
func (p *plainFile) readTexts(texts *[]string) bool {
	*texts = []string{}
	return p.readList(func() bool {
		text, ok := p.readText()
		*texts = append(*texts, text)
		return ok
	})
}

// readInto reads a string that is not empty.
func (p *plainFile) readInto(field *string) bool {
	text, ok := p.readText()
	*field = text
	return ok && text != ""
}

// readText reads a string.
func (p *plainFile) readText() (string, bool) {
	if p.peek() != '"' {
		return "", false
	}
	from, escaped := p.at, false
	for i := from + 1; i < len(p.Text); i++ {
		switch c := p.Text[i]; {
		case c == '"':
			p.at = i + 1
			if !escaped {
				return p.Text[from+1 : i], true
			}
			literal := hujson.Literal(p.Text[from:p.at])
			return literal.String(), json.Valid(literal)
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// eat passes a character if it is the next one behind blanks and comments.
func (p *plainFile) eat(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// lineSeparators end a line for some editors, and no comment.
const lineSeparators = "\u2028\u2029"

// peek skips blanks and comments, and returns the next byte, or 0 at the end.
func (p *plainFile) peek() byte {
	for ; p.at < len(p.Text); p.at++ {
		switch c := p.Text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		case '/':
			comment := p.Text[p.at : p.at+docedit.CommentLen(p.Text[p.at:])]
			if comment == "" || p.at+len(comment) == len(p.Text) {
				return c // not a comment, or one that may lack its end
			}
			if comment[1] == '/' && strings.ContainsAny(comment, lineSeparators) {
				return c // the text after a separator does not look like a comment, and trees reject it
			}
			p.at += len(comment) - 1
		default:
			return c
		}
	}
	return 0
}
