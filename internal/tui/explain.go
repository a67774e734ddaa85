package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A whyMsg is what decided about the question, as it stands now.
type whyMsg struct {
	request umpire.RequestID
	lines   []string
}

func (msg whyMsg) apply(m *model) {
	if p := m.ask.current(); p != nil && p.Request == msg.request {
		m.ask.why = msg.lines
		m.showWhy()
	}
}

// explain shows who asks and which rows and rules asked, or takes that away again.
func (m *model) explain() tea.Cmd {
	a := &m.ask
	if a.explain = !a.explain; !a.explain {
		m.scroll, m.anchored = 0, true
		return nil
	}
	m.showWhy()
	return m.loadWhy(*a.current())
}

// loadWhy has the gate decide the call once more, to hear its reasons.
func (m *model) loadWhy(p umpire.Pending) tea.Cmd {
	dir := m.ask.card.Session.Dir
	return m.do(func(ctx context.Context) tea.Msg {
		d, err := m.conf.Gate.Check(ctx, umpire.Call{Tool: p.Tool, Input: p.Input, Dir: dir, Session: p.Session})
		if err != nil {
			return whyMsg{p.Request, []string{"  " + m.problem(err)}}
		}
		return whyMsg{p.Request, view.Why(&d, m.conf.Text)}
	})
}

// whyLines are what the card shows of it.
func (m *model) whyLines() []string {
	lines := append([]string{"", "  " + m.text("why")}, m.ask.why...)
	return append(lines, "  "+m.text("umpire help order lists all rows"))
}

// showWhy scrolls the card so that the explanation is seen from its beginning.
func (m *model) showWhy() {
	lines := m.cardLines(m.width)
	m.anchored, m.scroll = false, max(0, len(lines)-m.ask.whyAt-m.room()+1)
}
