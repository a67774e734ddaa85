// Package lang holds what people read, in their language.
//
//	text := lang.Catalogue{"deny": "拒绝"}
//	text.Of("deny")
//
// English is the key. A text without a translation stays English, so a catalogue
// may be nil. What machines read is never translated.
package lang

import "strings"

// A Catalogue maps English texts to another language. The zero value is English. It
// is safe for concurrent use as long as nobody changes it.
type Catalogue map[string]string

// Of returns the text in the catalogue's language.
func (c Catalogue) Of(english string) string {
	if text, ok := c[english]; ok {
		return text
	}
	return english
}

// reasonHeads begin reasons that go on with a name or a path.
var reasonHeads = []string{
	"an agent may not answer or loosen umpire: ", "may hold secrets: ", "a control file: ",
	"Denied by rule: ", "Allowed by rule: ", "Asked by rule: ", "Path is outside the project: ", "Cannot be judged: ", "Critical risk: ",
	"non_interactive confirmation required: ", "Reject mode asks nobody: ", "Auto mode refuses known danger: ", "No sandbox: ",
}

// Reason returns the reason of a decision in the catalogue's language; the names and
// paths in it stay as they are.
func (c Catalogue) Reason(english string) string {
	if c == nil {
		return english
	}
	if text, ok := c[english]; ok {
		return text
	}
	for _, head := range reasonHeads {
		if rest, ok := strings.CutPrefix(english, head); ok && c[head] != "" {
			return c[head] + c.Reason(rest)
		}
	}
	const tool, approval = "Tool ", " requires approval "
	if name, class, ok := strings.Cut(strings.TrimPrefix(english, tool), approval); ok && strings.HasPrefix(english, tool) {
		return c.Of(tool) + name + c.Of(approval) + c.Of(class)
	}
	return english
}
