package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
)

// Writing "stop" or "/sessions" while a card has the keys must not approve anything.

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
	if key == "e" {
		return m.explain()
	}
	return a.choose(key)
}

// hold keeps a key for a moment, and does then what it is for.
func (a *approval) hold(key string) tea.Cmd {
	a.held = key
	msg := heldMsg{a.current().Request}
	if a.hasty {
		return nil
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
