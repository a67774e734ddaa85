package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A whyMsg explains the current question with the rows and rules that decided it.
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

// explain shows or hides the asker and the rows and rules that asked.
func (m *model) explain() tea.Cmd {
	a := &m.ask
	if a.explains = !a.explains; !a.explains {
		m.showTop()
		return nil
	}
	m.showWhy()
	return loadWhy(m.base, a.card)
}

// loadWhy has the gate decide the call once more, to get its reasons.
func loadWhy(a *base, card *view.Card) tea.Cmd {
	p, dir := card.Pending, card.Session.Dir
	return a.do(func(ctx context.Context) tea.Msg {
		input, err := umpire.WholeInput(ctx, a.conf.Gate, &p)
		var d umpire.Decision
		if err == nil {
			d, err = a.conf.Gate.Check(ctx, umpire.Call{Tool: p.Tool, Input: input, Dir: dir, Session: p.Session})
		}
		if err != nil {
			return whyMsg{p.Request, []string{"  " + a.problem(err)}}
		}
		return whyMsg{p.Request, view.Why(&d, a.conf.Text)}
	})
}

// whyLines returns the explanation for the card.
func (a cardView) whyLines() []string {
	lines := append([]string{"", "  " + a.text("why")}, a.why...)
	return append(lines, "  "+a.text("umpire help order lists all rows"))
}

// showWhy scrolls the card to the beginning of the explanation.
func (m *model) showWhy() {
	lines := m.ask.cardLines(m.width)
	m.anchored, m.scroll = false, max(0, len(lines)-m.ask.whyAt-m.room()+1)
}
