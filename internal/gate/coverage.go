package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// listCovered returns the one question whose coverage is requested, if it still waits. It judges
// many calls by their masked inputs, which takes too long for anything that an agent waits for.
func listCovered(ctx context.Context, g *Gate, q *umpire.PendingQuery) ([]umpire.Pending, error) {
	var cond *conditions
	var calls []umpire.Call
	cards, err := readIn(ctx, g.be.view, func(tx *store.Tx) (cards []umpire.Pending, err error) {
		row, err := tx.Asks.Get(q.Coverage)
		if err == nil && row.State == store.AskPending && (q.Session == "" || q.Session == row.Session) {
			cards, err = appendCards(tx, nil, []store.AskRow{row}, g.be.now())
		}
		if err != nil || len(cards) == 0 {
			return nil, err
		}
		if calls, err = tx.Asks.ListCalls(cards[0].Project, g.be.now().Add(-policy.CoverageWindow)); err == nil {
			cond, err = g.projects.readConditions(tx, g.be.conditionsAhead(tx, row.Session, ""))
		}
		return cards, err
	})
	if len(cards) == 0 || err != nil {
		if errors.Is(err, umpire.ErrNotFound) || errors.Is(err, umpire.ErrState) {
			err = nil // it was deleted, or its session has ended
		}
		return nil, err
	}
	if err := g.projects.completeConditions(cond); err != nil {
		return nil, err
	}
	cond.Brief = true
	judge := func(c umpire.Call, grants []umpire.Grant) umpire.Decision {
		tried := *cond
		tried.Grants = append(slices.Clip(cond.Grants), grants...)
		return g.projects.decide(&tried, c)
	}
	cards[0].Coverage, err = policy.CountCoverage(ctx, &cards[0], calls, judge)
	return cards, err
}
