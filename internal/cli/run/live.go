package run

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/llm"
)

// livePieces are what a person at a terminal has seen of a reply that is coming in.
type livePieces struct {
	shown string // as the model wrote it
	held  string // the end of it, which cannot be shown before it is known what follows
}

// Saying shows a person what comes in. Anything else gets what is said once it is
// stored: a reply that breaks off is never said.
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

// unsettled is the end of a text whose look depends on what follows it: half of a line's end,
// and a symbol, whose look a modifier may change.
func unsettled(text string) string {
	last, size := utf8.DecodeLastRuneInString(text)
	if last == '\r' || unicode.Is(unicode.So, last) {
		return text[len(text)-size:]
	}
	return ""
}

// settle ends what was shown of a reply, and reports whether it is the whole text: what
// was stored is what counts.
func (v *runView) settle(text string) bool {
	live := v.live
	v.live = livePieces{}
	if live.shown == "" {
		return false
	}
	fmt.Fprintln(v.Stdout, visibleText(live.held))
	return strings.Join(strings.Fields(live.shown), "") == strings.Join(strings.Fields(text), "")
}
