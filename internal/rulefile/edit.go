package rulefile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
)

// An edit changes the text of a rule file and leaves everything else alone: comments, unknown
// keys and the author's layout.
type edit struct {
	src   *source
	mark  []byte // a byte order mark, if any
	top   *hujson.Object
	end   int // offset of the brace that closes the file's object
	rules *hujson.Value
	// read are the rules of the list, one per element, as loading names them.
	read []named
}

// emptyFile is the initial content of a rule file.
const emptyFile = "{\n  \"version\": 1,\n  \"rules\": []\n}\n"

// newEdit parses a text for editing. An invalid text is an error, because an edit could
// not preserve it.
func newEdit(path string, data []byte) (*edit, error) {
	src := newSource(path, data)
	top, problem := src.parseTree()
	if problem != nil {
		return nil, problem
	}
	scratch := &reader{layer: Layer{Path: path}, keep: true}
	if problem := scratch.readJSON(data); problem != nil {
		return nil, problem
	}
	e := &edit{
		src: src, top: top, mark: data[:len(data)-len(src.data)], end: closingBrace(src.data), read: scratch.read,
	}
	for i := range top.Members {
		if key, _ := textOf(top.Members[i].Name); key == "rules" {
			e.rules = &top.Members[i].Value
		}
	}
	return e, nil
}

// closingBrace returns the offset of the brace that closes the file's object.
func closingBrace(data []byte) int {
	end := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '/':
			i = skipComment(data, i)
		case '}':
			end = i
		}
	}
	return end
}

// list returns the elements of the list of rules.
func (e *edit) list() *hujson.Array {
	if e.rules == nil {
		return &hujson.Array{}
	}
	list, ok := e.rules.Value.(*hujson.Array)
	if !ok {
		return &hujson.Array{}
	}
	return list
}

// addRule returns the text with one more rule at the end of the list.
func (e *edit) addRule(r umpire.Rule) ([]byte, error) {
	var rule bytes.Buffer
	encoder := json.NewEncoder(&rule)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, umpire.Errorf("rule %q: %w", r.ID, err)
	}
	item := strings.TrimSuffix(rule.String(), "\n")
	if e.rules == nil {
		members := e.top.Members
		gap := gap{open: e.top.AfterExtra, end: e.end}
		if n := len(members); n > 0 {
			gap.after, gap.trailing = members[n-1].Value.EndOffset, members[n-1].Value.AfterExtra
			gap.first = members[n-1].Name.StartOffset
		}
		return e.insert(gap, "\"rules\": [\n  "+strings.ReplaceAll(item, "\n", "\n  ")+"\n]"), nil
	}
	list := e.list()
	gap := gap{open: list.AfterExtra, end: e.rules.EndOffset - 1}
	if n := len(list.Elements); n > 0 {
		last := list.Elements[n-1]
		gap.after, gap.trailing, gap.first = last.EndOffset, last.AfterExtra, last.StartOffset
	}
	return e.insert(gap, item), nil
}

// A gap is the end of a list or an object, where an item can be added.
type gap struct {
	first    int          // where the last item begins
	after    int          // where the last item ends; 0 if the list is empty
	trailing hujson.Extra // the text between the last item and its comma; nil without a comma
	open     hujson.Extra // the text before the closing bracket
	end      int          // the closing bracket
}

// insert puts an item before the closing bracket and behind the comments there.
func (e *edit) insert(g gap, item string) []byte {
	data, newline := e.src.data, "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		newline = "\r\n"
	}
	outer := indentAt(data, g.end)
	inner := outer + "  "
	if g.after > 0 {
		inner = indentAt(data, g.first)
	}
	// Behind the last comment; the white space after it stays before the bracket.
	at := g.end - len(g.open) + commentsEnd(g.open)
	rest := data[at:g.end]
	tail := ""
	if g.after > 0 && g.trailing != nil {
		tail = ","
	}
	if !bytes.Contains(rest, []byte("\n")) {
		rest = []byte(newline + outer)
	}
	out := slices.Clone(e.mark)
	if g.after > 0 && g.trailing == nil {
		out = append(append(append(out, data[:g.after]...), ','), data[g.after:at]...)
	} else {
		out = append(out, data[:at]...)
	}
	out = append(out, newline+inner+strings.ReplaceAll(item, "\n", newline+inner)+tail...)
	return append(append(out, rest...), data[g.end:]...)
}

// remove returns the text without the i-th rule. The white space before the
// rule goes with it; comments stay.
func (e *edit) remove(i int) []byte {
	data, list := e.src.data, e.list()
	element := list.Elements[i]
	from := element.StartOffset - len(element.BeforeExtra) + commentsEnd(element.BeforeExtra)
	until := element.EndOffset
	out := slices.Clone(e.mark)
	switch {
	case i < len(list.Elements)-1 || element.AfterExtra != nil: // its own comma goes with it
		out = append(out, data[:from]...)
		if commentsEnd(element.AfterExtra) > 0 {
			out = append(out, element.AfterExtra...)
		}
		until += len(element.AfterExtra) + 1
	case i > 0: // the comma before it goes
		comma := list.Elements[i-1].EndOffset + len(list.Elements[i-1].AfterExtra)
		out = append(append(out, data[:comma]...), data[comma+1:from]...)
	default:
		out = append(out, data[:from]...)
	}
	// A comment to the end of the line must not swallow the next text.
	rest := data[until:]
	if bytes.IndexAny(data[from:], "\r\n") == 0 && bytes.IndexAny(bytes.TrimLeft(rest, " \t"), "\r\n") != 0 {
		rest = append([]byte("\n"), rest...)
	}
	return tidyList(out, rest, len(list.Elements) == 1)
}

// tidyList joins the text before and after a removed rule, and closes a list that is
// now empty, even of comments.
func tidyList(before, behind []byte, empty bool) []byte {
	open := bytes.TrimRight(before, " \t\r\n")
	rest := bytes.TrimLeft(behind, " \t\r\n")
	if empty && bytes.HasSuffix(open, []byte("[")) && bytes.HasPrefix(rest, []byte("]")) {
		return append(open, rest...)
	}
	return append(before, behind...)
}

// commentsEnd returns the length of extra up to the end of its last comment,
// without the end of the comment's line.
func commentsEnd(extra hujson.Extra) int {
	end := 0
	for i := 0; i < len(extra); i++ {
		if extra[i] != '/' {
			continue
		}
		i = min(skipComment(extra, i), len(extra)-1)
		end = i + 1
	}
	return len(bytes.TrimRight(extra[:end], "\r\n"))
}

// indentAt returns the white space that begins the line of an offset.
func indentAt(data []byte, offset int) string {
	line := data[bytes.LastIndexByte(data[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
