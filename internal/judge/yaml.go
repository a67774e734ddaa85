package judge

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// A value is a value of a YAML file: a text, a list or fields. The zero value is missing.
type value struct {
	text   *string
	list   []value
	fields map[string]value
	order  []string // the names of the fields, in file order
}

// errNotPlain rejects YAML that is more than plain fields, lists and texts.
var errNotPlain = errors.New("the file contains more than plain fields, lists and texts")

const (
	maxYAMLLines = 10_000
	maxYAMLDepth = 20
)

// A program that is started for every call does not link a full YAML parser. This one reads a
// subset in which a file means the same to every reader, and rejects the rest: anchors, tags,
// documents, braces, escapes, texts that continue on the next line.
var yamlKey = lazyregexp.Regexp{
	Text: `^("[A-Za-z0-9_.:*/ -]+"|'[A-Za-z0-9_.:*/ -]+'|` +
		`[A-Za-z_][A-Za-z0-9_.*/-]*(?::[A-Za-z0-9_.*/-]+)*):(?: +(.*))?$`,
}

// A yamlReader reads a file line by line.
type yamlReader struct {
	lines []yamlLine
	at    int
}

type yamlLine struct {
	raw    string
	indent int
	text   string // without the indentation; "" for a blank line and for a comment
}

// parseYAML reads the fields of a file.
func parseYAML(text string) (value, error) {
	if !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
		return value{}, errNotPlain
	}
	text = strings.TrimPrefix(text, "---\n")
	r := &yamlReader{}
	for raw := range strings.SplitSeq(text, "\n") {
		line := yamlLine{raw: raw, text: strings.TrimLeft(raw, " ")}
		line.indent = len(raw) - len(line.text)
		if line.text = strings.TrimRight(line.text, " "); strings.HasPrefix(line.text, "#") {
			line.text = ""
		}
		if len(r.lines) > maxYAMLLines || strings.HasPrefix(raw, "---") || strings.HasPrefix(raw, "...") {
			return value{}, errNotPlain
		}
		r.lines = append(r.lines, line)
	}
	next := r.peek()
	if next == nil || next.indent != 0 {
		return value{}, errNotPlain
	}
	v, err := r.block(0, 0)
	if err == nil && (r.peek() != nil || v.fields == nil) {
		err = errNotPlain
	}
	return v, err
}

// peek returns the next line with content, or nil at the end.
func (r *yamlReader) peek() *yamlLine {
	for ; r.at < len(r.lines); r.at++ {
		if r.lines[r.at].text != "" {
			return &r.lines[r.at]
		}
	}
	return nil
}

// block reads the fields or the list that begin on the next line, all with that indentation.
func (r *yamlReader) block(indent, depth int) (value, error) {
	if depth > maxYAMLDepth {
		return value{}, errNotPlain
	}
	var v value
	for line := r.peek(); line != nil && line.indent >= indent; line = r.peek() {
		item, isItem := listItem(line.text)
		switch {
		case line.indent > indent || isItem && v.fields != nil:
			return value{}, errNotPlain
		case isItem:
			one, err := r.item(line, item, depth)
			if err != nil {
				return value{}, err
			}
			v.list = append(v.list, one)
		case v.list != nil:
			return v, nil // the list of a field may be below it at the same indentation
		default:
			if err := r.field(&v, line, depth); err != nil {
				return value{}, err
			}
		}
	}
	return v, nil
}

// listItem returns the text after the dash of a list item.
func listItem(text string) (rest string, ok bool) {
	if text == "-" {
		return "", true
	}
	rest, ok = strings.CutPrefix(text, "- ")
	return strings.TrimLeft(rest, " "), ok
}

// item reads an item of a list. Fields may begin after the dash, as if they were on a separate
// line.
func (r *yamlReader) item(line *yamlLine, rest string, depth int) (value, error) {
	if _, nested := listItem(rest); nested || rest == "" {
		return value{}, errNotPlain
	}
	if yamlKey.Get().MatchString(rest) {
		indent := line.indent + len(line.text) - len(rest)
		line.indent, line.text = indent, rest
		return r.block(indent, depth+1)
	}
	r.at++
	return r.scalar(rest, line.indent)
}

func (r *yamlReader) field(v *value, line *yamlLine, depth int) error {
	found := yamlKey.Get().FindStringSubmatch(line.text)
	if found == nil {
		return errNotPlain
	}
	name := strings.Trim(found[1], `"'`)
	if _, twice := v.fields[name]; twice || strings.EqualFold(name, "null") {
		return errNotPlain
	}
	r.at++
	one, err := r.fieldValue(strings.TrimLeft(found[2], " "), line.indent, depth)
	if err != nil {
		return err
	}
	if v.fields == nil {
		v.fields = map[string]value{}
	}
	v.fields[name], v.order = one, append(v.order, name)
	return nil
}

func (r *yamlReader) fieldValue(rest string, indent, depth int) (value, error) {
	if rest != "" && rest[0] != '#' {
		return r.scalar(rest, indent)
	}
	next := r.peek()
	if next == nil {
		return value{}, nil
	}
	_, isItem := listItem(next.text)
	switch {
	case next.indent > indent:
		return r.block(next.indent, depth+1)
	case next.indent == indent && isItem:
		return r.block(indent, depth+1)
	}
	return value{}, nil
}

// scalar reads a text, or a list in brackets, on a line of that indentation; a line that is
// indented more would continue it.
func (r *yamlReader) scalar(text string, indent int) (value, error) {
	if text[0] == '|' {
		return r.literal(text, indent)
	}
	if next := r.peek(); next != nil && next.indent > indent {
		return value{}, errNotPlain
	}
	if text[0] == '[' {
		return flowList(text)
	}
	out, err := plainText(text)
	return value{text: &out}, err
}

// plainText reads a text of one line, with quotes or without.
func plainText(text string) (string, error) {
	if quote := text[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(text[1:], quote) + 1
		if end == 0 || strings.Contains(text[:end], `\`) && quote == '"' || !isComment(text[end+1:]) {
			return "", errNotPlain
		}
		return text[1:end], nil
	}
	text, _, _ = strings.Cut(text, " #")
	text = strings.TrimRight(text, " ")
	first := strings.ContainsRune("{}[],&*!>%@`?#|-:", rune(text[0]))
	if dashed := text[0] == '-' && len(text) > 1 && text[1] != ' '; dashed {
		first = false
	}
	if first || strings.Contains(text, ": ") || strings.HasSuffix(text, ":") || text == "~" ||
		strings.EqualFold(text, "null") {
		return "", errNotPlain
	}
	return text, nil
}

// isComment reports whether only a comment follows a value.
func isComment(rest string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	return trimmed == "" || trimmed[0] == '#' && trimmed != rest
}

// flowList reads a list in brackets that ends on its line.
func flowList(text string) (value, error) {
	v := value{list: []value{}}
	rest := strings.TrimLeft(text[1:], " ")
	for !strings.HasPrefix(rest, "]") {
		if rest == "" {
			return value{}, errNotPlain
		}
		end := flowItemEnd(rest)
		if end <= 0 || end == len(rest) {
			return value{}, errNotPlain
		}
		item, err := plainText(strings.TrimRight(rest[:end], " "))
		if err != nil {
			return value{}, err
		}
		v.list = append(v.list, value{text: &item})
		if rest = rest[end:]; rest[0] == ',' {
			rest = strings.TrimLeft(rest[1:], " ")
		}
	}
	if !isComment(rest[1:]) {
		return value{}, errNotPlain
	}
	return v, nil
}

// flowItemEnd returns the end of an item in brackets, at the comma or the bracket after it. It
// returns -1 if a full YAML parser might see more than a text.
func flowItemEnd(text string) int {
	from := 0
	if text[0] == '"' || text[0] == '\'' {
		if from = strings.IndexByte(text[1:], text[0]) + 2; from == 1 {
			return -1
		}
	}
	plain, _, _ := strings.Cut(text[from:], "]")
	plain, _, _ = strings.Cut(plain, ",")
	switch {
	case from > 0 && strings.Trim(plain, " ") != "",
		strings.ContainsAny(plain, `[{}"'#?`), strings.Contains(plain+" ", ": "):
		return -1
	}
	return from + len(plain)
}

// literal reads a text of several lines below a field or an item of that indentation.
func (r *yamlReader) literal(header string, parent int) (value, error) {
	head, rest, _ := strings.Cut(header, " ")
	if head != "|" && head != "|-" || !isComment(" "+rest) {
		return value{}, errNotPlain
	}
	keep := "\n"
	if head == "|-" {
		keep = ""
	}
	indent := 0
	var lines []string
	for ; r.at < len(r.lines); r.at++ {
		raw := r.lines[r.at].raw
		blank := strings.TrimLeft(raw, " ") == ""
		at := len(raw) - len(strings.TrimLeft(raw, " "))
		switch {
		case indent == 0 && (blank || at <= parent):
			return value{}, errNotPlain // an empty text, or one that begins with empty lines
		case indent == 0:
			indent = at
		case !blank && at <= parent:
			return literalText(lines, keep), nil
		case !blank && at < indent:
			return value{}, errNotPlain
		}
		lines = append(lines, raw[min(indent, len(raw)):])
	}
	if indent == 0 {
		return value{}, errNotPlain
	}
	if lines[len(lines)-1] != "" {
		keep = "" // the file ends within the line
	}
	return literalText(lines, keep), nil
}

func literalText(lines []string, keep string) value {
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n") + keep
	return value{text: &text}
}
