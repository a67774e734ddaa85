package gate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// Asking returns the sessions with waiting questions, of one project or of all.
func (g *Gate) Asking(ctx context.Context, project umpire.ProjectID) ([]umpire.SessionID, error) {
	return readIn(ctx, g.be.view, func(tx *store.Tx) ([]umpire.SessionID, error) {
		return tx.Asks.ListSessions(project)
	})
}

// Pending returns the questions that wait for a person, the oldest first. It omits a call that is
// tried first, while its trial runs.
func (g *Gate) Pending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	if q.Coverage != "" {
		return g.projects.listCovered(ctx, &q)
	}
	cards := []umpire.Pending{}
	err := g.be.view(ctx, func(tx *store.Tx) error {
		cards = cards[:0]
		if q.After != "" {
			if _, err := tx.Asks.Get(q.After); err != nil {
				return umpire.Errorf("request %q: %w", q.After, err)
			}
		}
		ask := store.AskQuery{Project: q.Project, Session: q.Session, After: q.After, Limit: q.Limit}
		for {
			rows, err := tx.Asks.List(ask)
			if err != nil {
				return err
			}
			if cards, err = appendCards(tx, cards, rows, g.be.now()); err != nil {
				return err
			}
			if len(rows) == 0 || len(rows) != ask.Limit || len(cards) == q.Limit {
				return nil
			}
			// Hidden cards leave room on the page for more.
			ask.After, ask.Limit = rows[len(rows)-1].Request, q.Limit-len(cards)
		}
	})
	return cards, err
}

// appendCards adds the cards of the questions that people may see.
func appendCards(tx *store.Tx, cards []umpire.Pending, rows []store.AskRow, now time.Time) ([]umpire.Pending, error) {
	for i := range rows {
		if expired(&rows[i], now) {
			continue
		}
		var card umpire.Pending
		if err := json.Unmarshal(rows[i].Shown, &card); err != nil {
			return nil, umpire.Errorf("request %q: its card cannot be read: %w", rows[i].Request, err)
		}
		tried, err := isTried(tx, &card)
		if err != nil {
			return nil, err
		}
		if !tried {
			cards = append(cards, card)
		}
	}
	return cards, nil
}

// listCovered returns the one question whose coverage is requested, if it still waits. It judges
// many calls by their masked inputs, which takes too long for anything that an agent waits for.
func (ps *Projects) listCovered(ctx context.Context, q *umpire.PendingQuery) ([]umpire.Pending, error) {
	var cond *conditions
	var calls []umpire.Call
	cards, err := readIn(ctx, ps.view, func(tx *store.Tx) (cards []umpire.Pending, err error) {
		row, err := tx.Asks.Get(q.Coverage)
		if err == nil && row.State == store.AskPending && (q.Session == "" || q.Session == row.Session) {
			cards, err = appendCards(tx, nil, []store.AskRow{row}, ps.now())
		}
		if err != nil || len(cards) == 0 {
			return nil, err
		}
		if calls, err = tx.Asks.ListCalls(cards[0].Project, ps.now().Add(-policy.CoverageWindow)); err == nil {
			cond, err = ps.readConditions(tx, ps.conditionsAhead(tx, row.Session, ""))
		}
		return cards, err
	})
	if len(cards) == 0 || err != nil {
		if errors.Is(err, umpire.ErrNotFound) || errors.Is(err, umpire.ErrState) {
			err = nil // it was deleted, or its session has ended
		}
		return nil, err
	}
	if err := ps.completeConditions(cond); err != nil {
		return nil, err
	}
	cond.Brief = true
	judge := func(c umpire.Call, grants []umpire.Grant) umpire.Decision {
		tried := *cond
		tried.Grants = append(slices.Clip(cond.Grants), grants...)
		return ps.decide(&tried, c)
	}
	cards[0].Coverage, err = policy.CountCoverage(ctx, &cards[0], calls, judge)
	return cards, err
}

// isTried reports whether a call that is tried before asking is being tried now.
func isTried(tx *store.Tx, card *umpire.Pending) (bool, error) {
	if card.TrialOffer != umpire.TrialFirst {
		return false, nil
	}
	b, err := tx.Batches.GetAround(card.Session, card.Batch, card.Call)
	c := b.Call(card.Call)
	return c != nil && c.TrialState == umpire.TrialRunning, err
}
