package umpire

import (
	"fmt"
	"strconv"
	"strings"
)

// A Phrase is what is said to a person, as data: a code, which is a readable phrase in
// kebab case, and its arguments. Its text in a language is looked up when it is shown, and
// a Phrase is never taken for that text. Make one with [Say] or [Verbatim]; a constant of
// type Phrase is a code without arguments. The zero value says nothing.
//
// A Phrase can be compared, stored and sent as it stands. Its form is that of a call,
//
//	cannot-be-judged(unknown-program("nosuch"))
//
// in which a text in quotes stays as it is in every language. A string of another form,
// as older versions stored them, is such a text too.
type Phrase string

// Say returns the message with a code and its arguments. An argument that is a Phrase or an
// error is said in the reader's language; any other stays as fmt prints it.
func Say(code string, args ...any) Phrase {
	if len(args) == 0 {
		return Phrase(code)
	}
	form := append(make([]byte, 0, 64), code...)
	for i, arg := range args {
		form = append(form, "(,"[min(i, 1)])
		switch arg := arg.(type) {
		case Phrase:
			form = append(form, arg.form()...)
		case error:
			form = append(form, PhraseOf(arg).form()...)
		case string:
			form = strconv.AppendQuote(form, arg)
		default:
			form = strconv.AppendQuote(form, fmt.Sprint(arg))
		}
	}
	return Phrase(append(form, ')'))
}

// Verbatim returns the phrase that is a text as it stands, such as a person's own words.
// No text says nothing.
func Verbatim(text string) Phrase {
	if text == "" {
		return ""
	}
	return Phrase(strconv.Quote(text))
}

// form is the phrase as an argument of another.
func (p Phrase) form() Phrase {
	if _, rest, ok := p.cut(); ok && rest == "" {
		return p
	}
	return Phrase(strconv.Quote(string(p)))
}

// Parts returns the phrase's code and arguments. One without a code is a text that is
// shown as it stands.
func (p Phrase) Parts() (code string, args []Phrase, text string) {
	quoted, rest, ok := p.cut()
	if !ok || rest != "" {
		return "", nil, string(p)
	}
	if p[0] == '"' {
		text, _ = strconv.Unquote(string(quoted))
		return "", nil, text
	}
	name, inner, called := strings.Cut(string(p), "(")
	for called && inner != "" {
		arg, after, _ := Phrase(inner).cut()
		args, inner = append(args, arg), string(after[1:])
	}
	return name, args, ""
}

// cut splits off the phrase that begins a form, and reports whether one does.
func (p Phrase) cut() (first, rest Phrase, ok bool) {
	if strings.HasPrefix(string(p), `"`) {
		if quoted, err := strconv.QuotedPrefix(string(p)); err == nil {
			return Phrase(quoted), p[len(quoted):], true
		}
	}
	end := 0
	for end < len(p) && (p[end] == '-' || '0' <= p[end] && p[end] <= '9' || 'a' <= p[end] && p[end] <= 'z') {
		end++
	}
	if end == 0 || end == len(p) || p[end] != '(' {
		return p[:end], p[end:], end > 0
	}
	for rest = p[end:]; rest != "" && rest[0] != ')'; {
		if _, rest, ok = rest[1:].cut(); !ok || rest == "" || rest[0] != ',' && rest[0] != ')' {
			return "", p, false
		}
	}
	if rest == "" {
		return "", p, false
	}
	rest = rest[1:]
	return p[:len(p)-len(rest)], rest, true
}

// String is the phrase for logs and for those who have no table of texts: a text as it
// stands, or the code with its arguments.
func (p Phrase) String() string {
	if code, _, text := p.Parts(); code == "" {
		return text
	}
	return string(p)
}

// Is reports whether the phrase has the code.
func (p Phrase) Is(code string) bool {
	at, _, _ := p.Parts()
	return at == code
}
