package umpire

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Phrase is a message for a person, kept as data: an English format and its arguments. It
// becomes text in the reader's language when shown; see [Phrase.In]. Make one with [Say] or
// [Verbatim]; a constant of type Phrase is a format without arguments. The zero value is an
// empty message.
//
// A Phrase can be compared, stored and sent. A message without arguments is its own text.
// Others have the form of a call,
//
//	error("cannot be judged: %s",error("unknown program: %s","nosuch"))
//
// in which a plain quoted text is the same in every language. Older versions stored a code
// instead of the format, such as unknown-program("nosuch").
type Phrase string

// formatHead begins the form of a phrase with a format. Versions that still used codes can read
// it too.
const formatHead = "error("

// Say returns the message of an English format and its arguments, like [fmt.Sprintf]. Each
// argument is used once and in order. An argument that is a Phrase or an error is translated
// into the reader's language; any other stays as fmt prints it. The verb %q quotes a string,
// and %s fits any argument.
func Say(format string, args ...any) Phrase {
	if len(args) == 0 {
		return Phrase(format)
	}
	form := append(make([]byte, 0, 256), formatHead...)
	form = strconv.AppendQuote(form, format)
	rest := format
	for _, arg := range args {
		verb, after := nextVerb(rest)
		if err, is := arg.(error); is {
			arg = PhraseOf(err)
		}
		form, rest = appendArgument(append(form, ','), arg, verb == 'q'), after
	}
	return Phrase(append(form, ')'))
}

// nextVerb returns the first verb of a format and the format after it, or 0 if it has no verb.
func nextVerb(format string) (verb byte, rest string) {
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 || at+1 == len(format) {
			return 0, ""
		}
		format = format[at+1:]
		end := strings.IndexFunc(format, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.[]*", r) })
		if end < 0 {
			return 0, ""
		}
		verb, format = format[end], format[end+1:]
		if verb != '%' {
			return verb, format
		}
	}
}

// appendArgument appends an argument to a form.
func appendArgument(form []byte, arg any, quoted bool) []byte {
	var text string
	switch arg := arg.(type) {
	case Phrase:
		return arg.appendForm(form)
	case string:
		text = arg
	default:
		text = fmt.Sprint(arg)
	}
	if quoted {
		text = strconv.Quote(text)
	}
	return strconv.AppendQuote(form, text)
}

// plain returns the phrase of a text without arguments, even if it looks like another form.
func plain(text string) Phrase {
	return Phrase(appendPlain(nil, text))
}

func appendPlain(form []byte, text string) []byte {
	return append(strconv.AppendQuote(append(form, formatHead...), text), ')')
}

// Verbatim returns the phrase of a text that is the same in every language, such as a person's
// own words. It returns "" for an empty text.
func Verbatim(text string) Phrase {
	if text == "" {
		return ""
	}
	return Phrase(strconv.Quote(text))
}

// appendForm appends the phrase as an argument of another.
func (p Phrase) appendForm(form []byte) []byte {
	if p == "" {
		return append(form, `""`...)
	}
	if _, rest, ok := p.cut(); ok && rest == "" {
		return append(form, p...)
	}
	return appendPlain(form, string(p))
}

// A phraseKind says how to find the text of a phrase.
type phraseKind int

const (
	isVerbatim phraseKind = iota // the same in every language
	isFormat                     // an English format whose arguments are already formatted
	isCode                       // the code of a format, as older versions stored it
)

// parts returns the text, format or code of a phrase, and its arguments.
func (p Phrase) parts() (text string, args []Phrase, kind phraseKind) {
	first, rest, ok := p.cut()
	switch {
	case p == "":
		return "", nil, isVerbatim
	case !ok || rest != "":
		return string(p), nil, isFormat
	case p[0] == '"':
		text, _ = strconv.Unquote(string(first))
		return text, nil, isVerbatim
	}
	text, inner, called := strings.Cut(string(p), "(")
	for called && inner != "" {
		arg, after, _ := Phrase(inner).cut()
		args, inner = append(args, arg), string(after[1:])
	}
	if text+"(" == formatHead && len(args) > 0 {
		text, _, _ = args[0].parts()
		return text, args[1:], isFormat
	}
	return text, args, isCode
}

// maxNesting is the maximum depth of nested phrases. A deeper one is shown in its stored form.
const maxNesting = 100

// cut splits off the phrase at the start of a form, and reports whether there is one.
func (p Phrase) cut() (first, rest Phrase, ok bool) { return p.cutNested(maxNesting) }

// cutNested is like cut for phrases with at most depth enclosing phrases.
func (p Phrase) cutNested(depth int) (first, rest Phrase, ok bool) {
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
	if depth == 0 {
		return "", p, false
	}
	for rest = p[end:]; rest != "" && rest[0] != ')'; {
		if _, rest, ok = rest[1:].cutNested(depth - 1); !ok || rest == "" || rest[0] != ',' && rest[0] != ')' {
			return "", p, false
		}
	}
	if rest == "" {
		return "", p, false
	}
	rest = rest[1:]
	return p[:len(p)-len(rest)], rest, true
}

// In returns the text of a phrase in the language of translate, which returns the translation
// of an English format, or the format itself if it has no translation. In also passes it the
// codes that older versions stored. It returns a code without a text, or with too few or too
// many arguments, unchanged.
func (p Phrase) In(translate func(format string) string) string {
	text, args, kind := p.parts()
	if kind == isVerbatim {
		return text
	}
	format := translate(text)
	if kind == isCode && len(args) > 0 &&
		(format == text || strings.Count(format, "%")-2*strings.Count(format, "%%") != len(args)) {
		return string(p)
	}
	if len(args) == 0 {
		return format
	}
	values := make([]any, len(args))
	for i, arg := range args {
		if kind == isCode {
			values[i] = arg.In(translate)
		} else {
			values[i] = formatted(arg.In(translate))
		}
	}
	return fmt.Errorf(format, values...).Error() //nolint:err113 // for its text, in which %w may stand
}

// formatted is a value that every verb formats the same way.
type formatted string

// Error implements error, as the verb %w requires.
func (f formatted) Error() string { return string(f) }

// Format implements fmt.Formatter.
func (f formatted) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, string(f)) }

// String returns the English text of a phrase. Codes of older versions stay codes.
func (p Phrase) String() string { return p.In(func(format string) string { return format }) }

// Is reports whether the phrase was made from a format, with any arguments.
func (p Phrase) Is(format Phrase) bool {
	text, _, kind := p.parts()
	return kind != isVerbatim && text == string(format)
}
