package app

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/view"
)

// maxPruned is the most events of a session that a gate removes by itself: agents wait meanwhile.
const maxPruned = 5000

// Retention is how long sessions that are over are kept, 0 for ever. It is never shorter than the time in which
// their changes can be undone.
func Retention(conf *config.Config) time.Duration {
	if conf.Retention == 0 {
		return 0
	}
	return max(conf.Retention, conf.UndoAge)
}

// NewPruner returns a pruner of a store. The timeline names the actor.
func NewPruner(a *App, s *store.Store, actor string) (*store.Pruner, error) {
	key, err := store.OpenKey(a.KeysDir())
	return &store.Pruner{Store: s, Key: key, Actor: actor, Now: a.Now}, err
}

// prune removes the sessions whose retention is over, if one is set. An error is reported, and the next hour tries
// again.
func (g *StartedGate) prune(ctx context.Context, a *App, conf *config.Config) {
	age := Retention(conf)
	if age == 0 {
		return
	}
	p, err := NewPruner(a, g.store, "gate")
	if err == nil {
		p.MaxEvents = maxPruned
		_, _, err = p.Prune(ctx, age)
	}
	if err != nil && ctx.Err() == nil {
		a.RemarkError(err)
	}
}

// NoRetention is the Age of a status when sessions are kept for ever.
const NoRetention = "none"

// A RetentionStatus says whether old sessions are removed on time.
type RetentionStatus struct {
	Age        string     `json:"age"` // or NoRetention
	LastPruned *time.Time `json:"last_pruned_at,omitempty"`
	// Overdue is how many sessions should have been removed a day ago.
	Overdue int `json:"overdue"`
}

// ReadRetention reads from a store how retention does. It creates no store.
func ReadRetention(ctx context.Context, now time.Time, conf *config.Config, at StoreAddress) (RetentionStatus, error) {
	age := Retention(conf)
	if age == 0 {
		return RetentionStatus{Age: NoRetention}, nil
	}
	r := RetentionStatus{Age: view.Duration(age)}
	if !at.Exists() {
		return r, nil
	}
	s, err := at.Open(ctx)
	if err != nil {
		return r, err
	}
	err = s.View(ctx, func(tx *store.Tx) error {
		over, err := tx.Prunings.ListOver(now.Add(-age-24*time.Hour), 0, 0)
		if err != nil {
			return err
		}
		r.Overdue = len(over)
		last, err := tx.Prunings.Last()
		if err == nil && !last.At.IsZero() {
			r.LastPruned = &last.At
		}
		return err
	})
	return r, errors.Join(err, s.Close())
}
