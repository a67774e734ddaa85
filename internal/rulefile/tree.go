package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth bounds the nesting of a rule file. The parser recurses, and a stack
// that overflows can not be caught.
const maxDepth = 64

// maxValues bounds the values in a rule file, each of which takes far more room
// in memory than in the file.
const maxValues = 1_000_000

// byteOrderMark is the prefix that some editors add to UTF-8 text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// newSource returns a source that skips a leading byte order mark.
func newSource(path string, data []byte) *source {
	return &source{path: path, data: bytes.TrimPrefix(data, byteOrderMark)}
}

// parseTree reads JSON with comments and trailing commas.
func (s *source) parseTree() (*hujson.Object, *Problem) {
	if at := invalidUTF8(s.data); at >= 0 {
		return nil, s.problem(at, "invalid UTF-8")
	}
	if at := tooMuch(s.data); at >= 0 {
		return nil, s.problem(at, "nested deeper than %d levels, or more than %d values", maxDepth, maxValues)
	}
	tree, err := hujson.Parse(s.data)
	if err != nil {
		return nil, syntaxProblem(s, err)
	}
	object, ok := tree.Value.(*hujson.Object)
	if !ok {
		return nil, s.problem(tree.StartOffset, "want an object")
	}
	return object, nil
}

// syntaxProblem takes the place out of the parser's error text, which is the
// only form in which it gives it.
func syntaxProblem(src *source, err error) *Problem {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return src.problem(0, "%v", err)
	}
	src.lineColumn(0) // fills src.lines
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	if strings.HasSuffix(err.Error(), io.ErrUnexpectedEOF.Error()) {
		err = errors.New("the file ends too early")
	}
	if line < 1 || line > len(src.lines) {
		return src.problem(len(src.data), "%v", err)
	}
	return src.problem(src.lines[line-1]+column-1, "%v", err)
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooMuch returns the offset at which brackets nest too deeply or values become
// too many, or -1. It skips strings and comments the way the parser does.
func tooMuch(data []byte) int {
	depth, values := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '/':
			i = skipComment(data, i)
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth--
		case ',':
			if values++; values > maxValues {
				return i
			}
		}
	}
	return -1
}

// skipString returns the offset of the quote that ends the string at i.
func skipString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment returns the offset of the last byte of the comment at i, or i.
func skipComment(data []byte, i int) int {
	var end string
	switch {
	case bytes.HasPrefix(data[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(data[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	if n := bytes.Index(data[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end) - 1
	}
	return len(data)
}

// textOf returns the string that a value holds.
func textOf(v hujson.Value) (string, bool) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return "", false
	}
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1]), true // the parser has checked it
	}
	return literal.String(), true
}

// keyOf returns the name of a member. Known names do not allocate.
func keyOf(m *hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	if key, known := knownKeys[string(literal)]; known {
		return key
	}
	key, _ := textOf(m.Name)
	return key
}

// kindOf names the sort of a value for people.
func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}
