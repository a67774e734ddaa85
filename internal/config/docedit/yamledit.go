package docedit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Set returns the YAML document with a value at a path of keys. It adds the objects that are
// missing there.
func (d *Doc) Set(value any, path ...string) (*Doc, error) {
	at := d.Root
	for len(path) > 0 && at.Kind == Object {
		next, err := at.Member(path[0])
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		at, path = next, path[1:]
	}
	if err := at.Want(Object); len(path) > 0 && at.Kind != Null && err != nil {
		return nil, at.Fault(err)
	}
	set, _, err := newValue(at.Key, value)
	if err != nil {
		return nil, err
	}
	text := " " + flowYAML(set)
	if len(path) == 0 {
		return d.edited(d.Root.graft(at, set), d.replaceYAML(at, text)...)
	}
	for _, key := range slices.Backward(path) {
		set.Key = key
		set = &Value{Kind: Object, Key: at.Key, Items: []*Value{set}}
	}
	set.Items = slices.Concat(at.Items, set.Items)
	return d.edited(d.Root.graft(at, set), d.addYAML(at, path, text)...)
}

// replaceYAML replaces a value with a text. One with its own lines moves up to the line of
// its key.
func (d *Doc) replaceYAML(at *Value, text string) []edit {
	key := d.scalarEnd(at.KeyPos.Offset, at.Key)
	colon, end := min(key+strings.IndexByte(d.text[key:]+":", ':')+1, at.Offset), d.endOf(at)
	switch {
	case strings.Contains(d.text[colon:at.Offset], "\n"):
		above := d.text[:strings.LastIndexByte(d.text[:at.Offset], '\n')]
		return []edit{{colon, colon, text}, {len(strings.TrimSuffix(above, "\r")), d.lineEnd(end), ""}}
	case at.Offset > colon:
		text = text[1:] // the blank is there
	}
	return []edit{{at.Offset, end, text}}
}

// addYAML adds a member with a text at a path in an object, or in a null.
func (d *Doc) addYAML(to *Value, path []string, text string) []edit {
	if n := len(to.Items); d.inBrackets(to) {
		for i, key := range slices.Backward(path) {
			text = plainYAML(key) + ":" + text
			if i > 0 || to.Kind == Null {
				text = " {" + text + "}"
			}
		}
		switch {
		case to.Kind == Null:
			return d.replaceYAML(to, text)
		case n > 0:
			end := d.endOf(to.Items[n-1])
			return []edit{{end, end, ", " + text}}
		}
		end := d.untagged(to.Offset) + 1
		return []edit{{end, end, text}}
	}
	unit, indent, cut, line := d.unitYAML(), to.Column-1, edit{}, len(d.text)
	switch {
	case to.Kind == Null:
		indent, cut = to.KeyPos.Column-1+unit, edit{from: to.Offset, to: d.endOf(to)}
		line = d.lineEnd(cut.to)
	case len(to.Items) > 0:
		line = d.lineEnd(d.endOf(to))
	default: // the file has no values
		indent = 0
		text += d.newline()
	}
	for i, key := range slices.Backward(path) {
		text = d.newline() + strings.Repeat(" ", indent+i*unit) + plainYAML(key) + ":" + text
	}
	if line == 0 || to.Parent == nil && len(to.Items) == 0 && d.text[line-1] == '\n' {
		text = strings.TrimPrefix(text, d.newline())
	}
	return []edit{cut, {line, line, text}}
}

// lineEnd returns the offset of the end of an offset's line.
func (d *Doc) lineEnd(offset int) int {
	line, _, _ := strings.Cut(d.text[offset:], "\n")
	return offset + len(strings.TrimSuffix(line, "\r"))
}

// unitYAML returns the width of one step of indentation: that of the file's first object in another.
func (d *Doc) unitYAML() int {
	for _, m := range d.Root.Items {
		if m.Kind == Object && m.Line > m.KeyPos.Line && m.Column > 1 {
			return m.Column - 1
		}
	}
	return 2
}

// inBrackets reports whether v, or a list or object around it, is written in brackets.
func (d *Doc) inBrackets(v *Value) bool {
	return v != nil && (d.bracketed(v) || d.inBrackets(v.Parent))
}

func (d *Doc) bracketed(v *Value) bool {
	return v.Kind >= List && strings.IndexAny(d.text[d.untagged(v.Offset):], "[{") == 0
}

// untagged returns the offset behind the anchor and the tag of a value.
func (d *Doc) untagged(at int) int {
	for strings.IndexAny(d.text[at:], "&!") == 0 {
		at += len(d.text[at:]) - len(strings.TrimLeftFunc(d.text[at:], func(c rune) bool { return !isYAMLBlank(c) }))
		at = d.skipBlanks(at)
	}
	return at
}

func isYAMLBlank(c rune) bool { return strings.ContainsRune(" \t"+lineBreaks, c) }

// skipBlanks returns the offset of the next character that is not blank.
func (d *Doc) skipBlanks(at int) int {
	return len(d.text) - len(strings.TrimLeftFunc(d.text[at:], isYAMLBlank))
}

// endOf returns the end of a value, of which the parser gives only the start.
func (d *Doc) endOf(v *Value) int {
	if v.Kind != List && v.Kind != Object {
		return d.scalarEnd(v.Offset, v.Text)
	}
	start := d.untagged(v.Offset)
	end := min(start+1, len(d.text))
	if n := len(v.Items); n > 0 {
		end = d.endOf(v.Items[n-1])
	}
	if !d.bracketed(v) {
		return end
	}
	for open := d.text[start]; end < len(d.text); end++ {
		switch d.text[end] {
		case '#':
			end = d.lineEnd(end)
		case open + 2: // in ASCII, the closing bracket
			return end + 1
		}
	}
	return end
}

// scalarEnd returns the end of a scalar with this content.
func (d *Doc) scalarEnd(at int, content string) int {
	at = d.untagged(at)
	switch quote := d.text[at:min(at+1, len(d.text))]; quote {
	case `"`, "'":
		for at++; at < len(d.text) && (d.text[at:at+1] != quote || strings.HasPrefix(d.text[at:], "''")); at++ {
			if d.text[at] == '\\' && quote == `"` || d.text[at] == '\'' && quote == "'" {
				at++
			}
		}
		return min(at+1, len(d.text))
	case "|", ">":
		at = d.lineEnd(at)
	}
	for _, c := range content { // the text is the same, apart from blanks
		if !isYAMLBlank(c) {
			at = min(d.skipBlanks(at)+utf8.RuneLen(c), len(d.text))
		}
	}
	return at
}

// flowYAML returns a value on one line.
func flowYAML(v *Value) string {
	var items []string
	for _, item := range v.Items {
		items = append(items, quote(item.Text))
	}
	switch v.Kind { //nolint:exhaustive // the others are literals
	case List:
		return "[" + strings.Join(items, ", ") + "]"
	case String:
		return plainYAML(v.Text)
	}
	return v.Text
}

// plainYAML returns a string without quotes if it is a word that YAML reads as a string.
func plainYAML(text string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	word := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if text != "" && strings.Contains(letters, text[:1]) && strings.Trim(text, letters+"0123456789_-") == "" &&
		word.ShortTag() == "!!str" {
		return text
	}
	return quote(text)
}
