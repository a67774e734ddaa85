package run

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// livePieces are the parts of an incoming reply that a person at a terminal has seen.
type livePieces struct {
	shown string // as the model wrote it
	held  string // its end, held back because the next piece decides how to show it
}

// Saying shows an incoming reply to a person. Other outputs get the reply only when it
// is stored, because an interrupted reply does not count.
func (v *runView) Saying(d llm.Delta) {
	if v.json || !v.ToTerminal {
		return
	}
	if d.Again {
		v.settle("")
		v.Remark(v.Text.Of("the reply broke off; the model is asked again"))
	}
	if d.Text == "" {
		return
	}
	text := v.live.held + d.Text
	v.live.shown += d.Text
	v.live.held = unsettled(text)
	fmt.Fprint(v.Stdout, visibleText(strings.TrimSuffix(text, v.live.held)))
}

// unsettled returns the end of a text that the next piece may change: half of a line end, or
// a symbol before a possible modifier.
func unsettled(text string) string {
	last, size := utf8.DecodeLastRuneInString(text)
	if last == '\r' || unicode.Is(unicode.So, last) {
		return text[len(text)-size:]
	}
	return ""
}

// settle ends the display of a reply, and reports whether the whole text has been
// shown. The stored text is the one that counts.
func (v *runView) settle(text string) bool {
	live := v.live
	v.live = livePieces{}
	if live.shown == "" {
		return false
	}
	fmt.Fprintln(v.Stdout, visibleText(live.held))
	return strings.Join(strings.Fields(live.shown), "") == strings.Join(strings.Fields(text), "")
}
