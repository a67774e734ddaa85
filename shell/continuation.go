package shell

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
)

// Shells drop a backslash and the newline after it before they read on, even between `$` and
// `(`, and they end a comment at its newline whatever precedes it. The parser does not always
// do either. So a line with such a pair is read twice: as it is, which tells where pairs are
// text, and without the other pairs. Both must yield the same tree.

// joinedLines is the pair that joins two lines.
const joinedLines = "\\\n"

// maxComments is the maximum number of times a line is parsed again for its comments.
const maxComments = 20

var errTooManyComments = errors.New("too many comments end in a backslash")

// A reading is the parsed form of a text.
type reading struct {
	text string
	file *syntax.File
	// odd says why shells may read the text differently, or is "".
	odd umpire.Phrase
}

// readCode parses text as shells read it.
func readCode(text string) (reading, error) {
	if before := strings.TrimRight(text, `\`); (len(text)-len(before))%2 == 1 {
		file, err := parseCode(text)
		return reading{text: text, file: file,
			odd: "it ends in a backslash, which some shells drop and others keep"}, err
	}
	if !strings.Contains(text, joinedLines) {
		file, err := parseCode(text)
		return reading{text: text, file: file}, err
	}
	text, file, err := endComments(text)
	if err != nil {
		return reading{}, err
	}
	plain, problem := joinLines(text, file)
	if problem != "" {
		return reading{text: text, file: file, odd: problem}, nil
	}
	if guardText(plain) != "" {
		return reading{text: text, file: file, odd: "its joined lines cannot be parsed"}, nil
	}
	joined, err := parseCode(plain)
	switch {
	case err != nil:
		odd := umpire.Phrase("its joined lines cannot be parsed")
		return reading{text: text, file: file, odd: odd}, nil //nolint:nilerr // the doubt explains it
	case !sameTree(reflect.ValueOf(file), reflect.ValueOf(joined)):
		return reading{text: plain, file: joined, odd: "a backslash at the end of a line hides how shells read it"}, nil
	}
	return reading{text: plain, file: joined}, nil
}

func parseCode(text string) (*syntax.File, error) {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(text), "")
	if bad, is := errors.AsType[syntax.ParseError](err); is && strings.HasPrefix(bad.Text, "`foo(`") {
		// The parser takes the word before it for the name of a function, and shows another name.
		if at := strings.IndexByte(text[min(offsetOf(bad.Pos), len(text)):], '('); at >= 0 {
			return file, umpire.Errorf("%d:%d: unclosed (", bad.Pos.Line(), int(bad.Pos.Col())+at)
		}
	}
	return file, err
}

// endComments removes the backslash from the end of comments, where shells ignore it but the
// parser reads on. The parser may have misread the text after the first such comment, so
// endComments looks for them one at a time.
func endComments(text string) (string, *syntax.File, error) {
	for range maxComments {
		file, err := parseCode(text)
		if err != nil {
			return "", nil, err
		}
		at := len(text)
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok && strings.HasSuffix(c.Text, joinedLines) {
				at = min(at, offsetOf(c.Hash)+len("#")+len(c.Text)-len(joinedLines))
			}
			return true
		})
		if at == len(text) {
			return text, file, nil
		}
		if !strings.HasPrefix(text[at:], joinedLines) {
			break
		}
		text = text[:at] + " " + text[at+1:]
	}
	return "", nil, errTooManyComments
}

func offsetOf(p syntax.Pos) int { return int(p.Offset()) }

// joinLines drops the pairs that shells drop, or explains why it cannot tell.
func joinLines(text string, file *syntax.File) (joined string, problem umpire.Phrase) {
	kept := map[int]int{} // parts of text, from their offset to their end
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted, *syntax.Comment:
			kept[offsetOf(n.Pos())] = offsetOf(n.End())
		case *syntax.Redirect:
			if n.Hdoc != nil && quotedDelimiter(n.Word) {
				kept[offsetOf(n.Hdoc.Pos())] = offsetOf(n.Hdoc.End())
			}
		case *syntax.CmdSubst:
			if n.Backquotes && strings.Contains(text[offsetOf(n.Pos()):offsetOf(n.End())], joinedLines) {
				problem = "a backslash at the end of a line within backquotes"
			}
		}
		return true
	})
	var b strings.Builder
	done := 0
	for i := 0; i+1 < len(text); i++ {
		if end := kept[i]; end > i {
			i = end - 1
			continue
		}
		switch {
		case text[i] != '\\':
		case text[i+1] == '\n':
			b.WriteString(text[done:i])
			done = i + len(joinedLines)
			i++
		default:
			i++ // the escaped byte
		}
	}
	b.WriteString(text[done:])
	return b.String(), problem
}

// sameTree compares two trees, ignoring positions, comments and joined lines.
func sameTree(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() { //nolint:exhaustive // other kinds are compared by value
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return sameTree(a.Elem(), b.Elem())
	case reflect.Slice:
		return sameElements(a, b)
	case reflect.Struct:
		return sameNode(a, b)
	case reflect.String:
		return withoutPairs(a.String()) == withoutPairs(b.String())
	case reflect.Bool:
		return a.Bool() == b.Bool()
	}
	return a.Equal(b)
}

func sameNode(a, b reflect.Value) bool {
	if a.Type() != b.Type() {
		return false
	}
	if at, ok := reflect.TypeAssert[syntax.Pos](a); ok {
		other, same := reflect.TypeAssert[syntax.Pos](b)
		return same && at.IsValid() == other.IsValid()
	}
	for i := range a.NumField() {
		if a.Type().Field(i).IsExported() && !sameTree(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func sameElements(a, b reflect.Value) bool {
	if _, comments := reflect.TypeAssert[[]syntax.Comment](a); comments {
		return true
	}
	parts, ok := reflect.TypeAssert[[]syntax.WordPart](a)
	others, same := reflect.TypeAssert[[]syntax.WordPart](b)
	if ok && same {
		a, b = reflect.ValueOf(joinLiterals(parts)), reflect.ValueOf(joinLiterals(others))
	}
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !sameTree(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// joinLiterals merges the literals that a joined line has split.
func joinLiterals(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, part := range parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			out = append(out, part)
			continue
		}
		value := withoutPairs(l.Value)
		if value == "" && len(parts) > 1 {
			continue
		}
		if n := len(out) - 1; n >= 0 {
			if before, ok := out[n].(*syntax.Lit); ok {
				value = before.Value + value
				out = out[:n]
			}
		}
		out = append(out, &syntax.Lit{ValuePos: l.ValuePos, ValueEnd: l.ValueEnd, Value: value})
	}
	return out
}

// withoutPairs returns a text without its pairs.
func withoutPairs(text string) string {
	if !strings.Contains(text, joinedLines) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func quotedDelimiter(delimiter *syntax.Word) bool {
	return slices.ContainsFunc(delimiter.Parts, func(part syntax.WordPart) bool {
		l, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(l.Value, `\`)
	})
}
