package tui

import (
	"slices"

	"charm.land/bubbles/v2/textarea"
)

// maxWrote bounds the messages that can be called back.
const maxWrote = 200

// A wrote is the history of the person's messages.
type wrote struct {
	texts []string // the oldest first
	back  int      // number of steps back from the draft
	draft string   // the draft at that time
}

// rememberMessage remembers a message.
func (w *wrote) rememberMessage(text string) {
	w.texts = append(slices.DeleteFunc(w.texts, func(same string) bool { return same == text }), text)
	w.texts = w.texts[max(0, len(w.texts)-maxWrote):]
	w.back, w.draft = 0, ""
}

// recall puts the previous or next message into the field. It reports whether it used the
// key: within a message of several lines, the key moves the cursor.
func (w *wrote) recall(field *textarea.Model, older bool) bool {
	at, row, info := w.back-1, field.Line(), field.LineInfo()
	if older {
		at = w.back + 1
	}
	first, last := row == 0 && info.RowOffset == 0, row == field.LineCount()-1 && info.RowOffset >= info.Height-1
	if older && !first || !older && !last || at < 0 || at > len(w.texts) {
		return false
	}
	if w.back == 0 {
		w.draft = field.Value()
	}
	text := w.draft
	if w.back = at; at > 0 {
		text = w.texts[len(w.texts)-at]
	}
	field.SetValue(text)
	field.MoveToEnd()
	return true
}
