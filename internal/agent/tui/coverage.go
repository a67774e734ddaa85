package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire/internal/view"
)

// loadCoverage computes the recent coverage of the lasting answers to a card's question. A card is complete
// without it, so errors are ignored.
func loadCoverage(b *base, card *view.Card) tea.Cmd {
	p := card.Pending
	return b.do(func(ctx context.Context) tea.Msg {
		all, err := view.LoadCoverage(ctx, b.conf.Gate, &p)
		if err != nil || len(all) == 0 {
			return nil
		}
		return updateMsg(func() { card.Pending.Coverage = all })
	})
}
