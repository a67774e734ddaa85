package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Headline is the first line of a card in parts: the tool, its object, the risk, and the
// effect in plain words. All parts are safe to show; an unknown part is empty.
type Headline struct{ Tool, Object, Risk, Does string }

// Headline is the card's first line.
func (c *Card) Headline() Headline {
	return Headline{
		Tool: Visible(c.Pending.Tool), Object: c.Object(),
		Risk: c.text.Word("of risk", c.Pending.Risk), Does: doesText(c),
	}
}

// TitleOf names a question in a list by its tool and object. It is safe to show.
func TitleOf(p *umpire.Pending, s umpire.Session, text *catalogue.Language) string {
	c := Card{Pending: *p, Session: s, text: text}
	tool, object := Visible(p.Tool), c.Object()
	if object == "" || object == tool { // an unknown tool: show its input
		object = strings.TrimPrefix(c.show(middleOut(string(p.Input))), "{}")
	}
	title := strings.TrimSpace(tool + " " + object)
	if len(c.Command()) > 1 {
		title += " …"
	}
	return title
}

// doesText describes the worst effect of the call in plain words, planned or after a trial.
func doesText(c *Card) string {
	if t := c.Pending.Trial; t != nil && t.State == umpire.TrialWaiting {
		if done := countChanges(c); done != "" {
			return done
		}
	}
	if c.Pending.Indeterminate {
		return c.text.Of("may have run already")
	}
	acts := c.acts()
	if len(acts) == 0 {
		return ""
	}
	return Visible(c.text.Reason(cmp.Or(acts[0].Reason, acts[0].Doubt)))
}

// minObject is how wide an object must be to be worth its place.
const minObject = 6

// In writes the headline within a width. The words go before the object does, and tool and
// risk stay.
func (h Headline) In(width int) string {
	join := func(object, does string) string {
		parts := []string{strings.TrimSpace(h.Tool + " " + object), h.Risk, does}
		return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
	}
	object := clipped(h.Object)
	room := width - Columns(join("", "")) - 1
	if Columns(object) > room {
		if object = cutColumns(object, room); room < minObject {
			object = ""
		}
	}
	if whole := join(object, h.Does); Columns(whole) <= width {
		return whole
	}
	if does := width - Columns(join(object, "")) - 3; does >= minDoes {
		return join(object, cutColumns(h.Does, does))
	}
	return join(object, "")
}

// minDoes is the minimum useful width of a headline's words.
const minDoes = 12

// cutColumns cuts a text that is safe to show to a width.
func cutColumns(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	for i := range text {
		if Columns(text[:i]) >= width-2 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// claimFields are the inputs in which agents state the purpose of a call.
var claimFields = []string{"description", "justification", "explanation"}

// claimRunes bounds how much of a claim is shown apart; all of it is among the input.
const claimRunes = 200

// Claim returns the purpose of a command in the agent's words, marked as such, or "" if the agent gave no
// purpose. Field is the input field whose whole value is in the text, or "" if there is no such field.
func (c *Card) Claim() (text, field string) {
	if len(c.Command()) == 0 {
		return "", ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Pending.Input, &fields) != nil {
		return "", ""
	}
	for _, name := range claimFields {
		var claim string
		if json.Unmarshal(fields[name], &claim) != nil || strings.TrimSpace(claim) == "" {
			continue
		}
		short := strings.Join(strings.Fields(claim), " ")
		if short == claim {
			field = name
		}
		if runes := []rune(short); len(runes) > claimRunes {
			short, field = string(runes[:claimRunes])+"…", ""
		}
		return fmt.Sprintf(c.text.Of("the agent claims: “%s”"), c.show(short)), field
	}
	return "", ""
}
