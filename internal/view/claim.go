package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TitleOf names a question in a list by its tool and object. It is safe to show.
func TitleOf(p *umpire.Pending, s umpire.Session, home string, text *catalogue.Language) string {
	c := Card{Pending: *p, Session: s, home: home, text: text}
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
