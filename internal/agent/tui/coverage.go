package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge/coverage"
	"github.com/umpirehq/umpire/internal/view"
)

// A coverageMsg has the recent coverage of the lasting answers to a card's question.
type coverageMsg struct {
	card *view.Card
	all  []umpire.Coverage
}

func (c coverageMsg) apply(*model) { c.card.Pending.Coverage = c.all }

// loadCoverage computes the coverage. A card is complete without it, so errors are ignored.
func loadCoverage(b *base, card *view.Card) tea.Cmd {
	p := card.Pending
	return b.do(func(ctx context.Context) tea.Msg {
		all, err := coverage.Load(ctx, b.conf.Gate, &p)
		if err != nil || len(all) == 0 {
			return nil
		}
		return coverageMsg{card, all}
	})
}
