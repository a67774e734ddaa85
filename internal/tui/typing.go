package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
)

// Who wants to write "stop" or "/sessions" while a card has the keys must not have
// approved anything by it.

// holdTime is how long a key waits for a second character, which would make it the
// beginning of a word.
const holdTime = 300 * time.Millisecond

// A heldMsg says that nothing was typed behind a key.
type heldMsg struct{ request umpire.RequestID }

func (msg heldMsg) command(m *model) tea.Cmd {
	a, key := &m.ask, m.ask.held
	p := a.current()
	if key == "" || p == nil || p.Request != msg.request {
		return nil
	}
	a.held = ""
	return m.choose(key)
}

// hold keeps a key for a moment, and does then what it is for.
func (m *model) hold(key string) tea.Cmd {
	m.ask.held = key
	msg := heldMsg{m.ask.current().Request}
	if m.hasty {
		return msg.command(m)
	}
	return tea.Tick(holdTime, func(time.Time) tea.Msg { return msg })
}

// typing reports whether a key is part of a message: it means nothing to a card, or comes
// right behind one that does.
func (a *approval) typing(k tea.KeyPressMsg) bool {
	if a.held != "" {
		return k.Text != "" && k.Text != a.held
	}
	return strings.TrimSpace(k.Text) != "" && !strings.Contains(cardKeys, k.Text)
}

// writeInstead leaves the card for the message, which begins with what was typed.
func (m *model) writeInstead(k tea.KeyPressMsg) tea.Cmd {
	m.input.InsertString(m.ask.held + k.Text)
	m.ask.held, m.ask.focused = "", false
	return nil
}
