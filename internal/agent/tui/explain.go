package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// explain shows or hides the asker and the rows and rules that asked.
func (m *model) explain() tea.Cmd {
	a := &m.ask
	if a.explains = !a.explains; !a.explains {
		m.showTop()
		return nil
	}
	m.showWhy()
	card := a.card
	return m.do(func(ctx context.Context) tea.Msg {
		why := m.loadWhy(ctx, card)
		return updateMsg(func() {
			if p := a.current(); p != nil && p.Request == card.Pending.Request {
				a.why = why
				m.showWhy()
			}
		})
	})
}

// loadWhy has the gate decide the call once more, to get the rows and rules that decided it.
func (b *base) loadWhy(ctx context.Context, card *view.Card) []string {
	p := card.Pending
	input, err := umpire.WholeInput(ctx, b.conf.Gate, &p)
	var d umpire.Decision
	if err == nil {
		d, err = b.conf.Gate.Check(
			ctx, umpire.Call{Tool: p.Tool, Input: input, Dir: card.Session.Dir, Session: p.Session},
		)
	}
	if err != nil {
		return []string{"  " + b.problem(err)}
	}
	return view.Why(&d, b.conf.Text)
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
