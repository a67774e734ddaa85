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

// lateTime is how late the end of holdTime may arrive. If it arrives even later, the program was not
// running, and keys typed meanwhile may be unread.
const lateTime = 100 * time.Millisecond

// A heldMsg says that the hold time of a key ended without another key.
type heldMsg struct {
	request umpire.RequestID
	since   time.Time
}

func (msg heldMsg) command(m *model) tea.Cmd {
	a, key := &m.ask, m.ask.held
	p := a.current()
	if key == "" || p == nil || p.Request != msg.request || !msg.since.Equal(a.heldAt) {
		return nil
	}
	if m.conf.Now().Sub(msg.since) > holdTime+lateTime {
		return a.hold(key)
	}
	a.held = ""
	if a.step == stepMenu {
		a.step = stepNone
	}
	if key == "e" {
		return m.explain()
	}
	return a.choose(key)
}

// hold keeps a key for holdTime, and then performs its action.
func (a *approval) hold(key string) tea.Cmd {
	a.held, a.heldAt = key, a.conf.Now()
	if a.hasty {
		return nil
	}
	msg := heldUntil(a)
	return tea.Tick(holdTime, func(time.Time) tea.Msg { return msg })
}

// heldUntil returns the message that ends the hold time of the current key.
func heldUntil(a *approval) heldMsg { return heldMsg{a.current().Request, a.heldAt} }

// typing reports whether a key is part of a message: it has no meaning on a card, or
// follows directly after one that does.
func (a *approval) typing(k tea.KeyPressMsg) bool {
	if a.held != "" {
		return k.Text != "" && k.Text != a.held
	}
	return strings.TrimSpace(k.Text) != "" && !strings.Contains(cardKeys, k.Text)
}
