package tui

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// An entryKind is the origin of a transcript entry.
type entryKind int

// The kinds of entries.
const (
	userEntry entryKind = iota
	assistantEntry
	callEntry
	noteEntry
	warningEntry
)

// An entry is one message, call or note. It is drawn once for each width.
type entry struct {
	kind   entryKind
	text   string // as it came, of any origin
	detail string // shown below the text
	status umpire.ResultStatus
	queued bool // a message that has not been sent to the model yet

	earlier bool // from before this chat began

	width int
	lines []string
}

// A transcript is the conversation as shown on the screen, the oldest entry first.
type transcript struct{ entries []*entry }

// maxEntries limits the entries of a screen; the timeline has the older ones.
const maxEntries = 2000

func (t *transcript) addEntry(e *entry) {
	t.entries = append(t.entries, e)
	if len(t.entries) > maxEntries {
		t.entries = t.entries[len(t.entries)-maxEntries:]
	}
}

func (t *transcript) say(kind entryKind, text string) { t.addEntry(&entry{kind: kind, text: text}) }

// sent marks the messages that were queued as sent.
func (t *transcript) sent() {
	for _, e := range t.entries {
		if e.queued {
			e.queued, e.width = false, 0
		}
	}
}

// tail returns the last lines of the transcript at a width: as many as wanted, if there
// are as many.
func (t *transcript) tail(text *catalogue.Language, width, want int) []string {
	var parts [][]string
	have := 0
	for i := len(t.entries) - 1; i >= 0 && have < want; i-- {
		lines := t.entries[i].draw(text, width)
		if i > 0 && t.entries[i].apart(t.entries[i-1]) {
			lines = append([]string{""}, lines...)
		}
		parts = append(parts, lines)
		have += len(lines)
	}
	all := make([]string, 0, have)
	for _, part := range slices.Backward(parts) {
		all = append(all, part...)
	}
	return all[max(0, len(all)-want):]
}

// length is how many lines the transcript has at a width.
func (t *transcript) length(text *catalogue.Language, width int) (lines int) {
	for i, e := range t.entries {
		lines += len(e.draw(text, width))
		if i > 0 && e.apart(t.entries[i-1]) {
			lines++
		}
	}
	return lines
}

// apart reports whether an empty line separates an entry from the previous one.
func (e *entry) apart(before *entry) bool {
	return e.kind != before.kind || e.kind == userEntry || e.kind == assistantEntry
}

// draw returns the lines of an entry.
func (e *entry) draw(text *catalogue.Language, width int) []string {
	if e.width != width {
		e.width, e.lines = width, e.layOut(text, width)
	}
	return e.lines
}

func (e *entry) layOut(text *catalogue.Language, width int) []string {
	switch e.kind {
	case userEntry:
		lines := indentLines("> ", safeLines(e.text), width)
		if e.queued {
			lines[0] = cutLine(view.Bracketed(lines[0], text.Of("queued")), width)
		}
		return paintLines(userStyle, lines)
	case assistantEntry:
		return drawMarkdown(e.text, width)
	case callEntry:
		return e.call(text, width)
	case noteEntry:
		return paintLines(dimStyle, foldLines(safeLines(e.text), width))
	case warningEntry:
		return paintLines(warnStyle, foldLines(safeLines(e.text), width))
	}
	return nil
}

// outputShown is how many lines of a call's output the transcript shows.
const outputShown = 8

// call returns a call's line, and the beginning of its output.
func (e *entry) call(text *catalogue.Language, width int) []string {
	mark, style := "✗", badStyle
	if e.status == umpire.ResultOK {
		mark, style = "✓", okStyle
	}
	status := text.Word("status", string(e.status))
	head := style.Render(mark+" "+status) + " "
	lines := []string{head + oneLine(e.text, width-stringWidth(status)-3)}
	if e.detail == "" {
		return cutAll(lines, width)
	}
	below := safeLines(e.detail)
	more := len(below) - outputShown
	if more > 0 {
		below = below[:outputShown]
	}
	below = foldLines(below, width-2)
	if folded := len(below) - 2*outputShown; folded > 0 {
		below, more = below[:2*outputShown], max(more, 0)+folded
	}
	if more > 0 {
		below = append(below, text.Count(more, "… %d more line", "… %d more lines"))
	}
	return cutAll(append(lines, paintLines(dimStyle, prefixLines("  ", below))...), width)
}

func cutAll(lines []string, width int) []string {
	for i := range lines {
		lines[i] = cutLine(lines[i], width)
	}
	return lines
}

// subjectFields are the inputs that best describe a call, the best first.
var subjectFields = []string{
	"command", "cmd", "file_path", "filePath", "path", "url", "pattern", "description", "bash_id", "shell_id",
}

// subjectOf describes a call by its tool and main argument.
func subjectOf(tool string, input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for _, name := range subjectFields {
			var text string
			if json.Unmarshal(fields[name], &text) == nil && text != "" {
				return tool + " " + text
			}
		}
	}
	return strings.TrimSuffix(tool+" "+string(input), " {}")
}
