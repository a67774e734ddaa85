package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// prunedHeader identifies the format of a signed pruning.
const prunedHeader = "umpire-pruned-1"

// prunePage is the number of sessions listed at a time.
const prunePage = 100

// prunedData is the data of an EventsPruned event.
type prunedData struct {
	Pruned

	Signed string `json:"signed"`
}

// A Pruner removes whole unused sessions. The same transaction records it in the timeline.
type Pruner struct {
	Store *Store
	Key   *SigningKey
	Actor string // the actor recorded in the timeline
	Now   func() time.Time
	// MaxEvents skips sessions with more events; 0 means no limit. Each session is removed in one
	// transaction, which delays other writers by about 30 ms per 1,000 events.
	MaxEvents int
	// Each, if not nil, is called after each removed session.
	Each func(*Pruned)
}

// Prune removes the sessions without activity for the given age, each in its own
// transaction. After each it pauses for as long as that took, to let other writers
// proceed. A damaged session that cannot be removed stays, and the others are still
// removed. Prune returns the numbers of removed sessions and events, even with an error.
func (p *Pruner) Prune(ctx context.Context, age time.Duration) (sessions, events int64, err error) {
	before, stay := p.Now().Add(-age), map[umpire.SessionID]bool{}
	var failed []error
	// A parent can be removed after its sub-agents' sessions, so look again until nothing is left to try.
	for tried := true; tried; {
		var over []Pruned
		err := p.Store.View(ctx, func(tx *Tx) (err error) {
			over, err = tx.Prunings.ListOver(before, p.MaxEvents, prunePage+len(stay))
			return err
		})
		if err != nil {
			return sessions, events, errors.Join(err, summarize(failed))
		}
		over = slices.DeleteFunc(over, func(h Pruned) bool { return stay[h.Session] })
		tried = len(over) > 0
		for _, h := range over {
			begun := time.Now()
			removed, err := p.prune(ctx, h.Session, before)
			switch {
			case err != nil:
				stay[h.Session], failed = true, append(failed, umpire.Errorf("prune session %q: %w", h.Session, err))
			case removed == nil: // in use again
				stay[h.Session] = true
			default:
				sessions, events = sessions+1, events+removed.Events
				if p.Each != nil {
					p.Each(removed)
				}
			}
			if err := pauseFor(ctx, time.Since(begun)); err != nil {
				return sessions, events, err
			}
		}
	}
	return sessions, events, summarize(failed)
}

// summarize returns the first error and the number of others, because a full disk fails for every session.
func summarize(errs []error) error {
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	return umpire.Errorf("%w; further sessions that cannot be pruned: %d", errs[0], len(errs)-1)
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// prune removes one session. It returns nil if the session is in use again.
func (p *Pruner) prune(ctx context.Context, s umpire.SessionID, before time.Time) (removed *Pruned, err error) {
	err = p.Store.Update(ctx, func(tx *Tx) error {
		removed = nil
		found, err := tx.Prunings.Prepare(s, before)
		if errors.Is(err, umpire.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		data := prunedData{Pruned: found.Pruned}
		if data.Signed, err = p.Key.sign(prunedHeader, &found.Pruned); err != nil {
			return err
		}
		text, err := json.Marshal(&data)
		if err != nil {
			return err
		}
		e, err := tx.Events.Append(umpire.Event{
			Kind: umpire.EventPruned, Project: found.Project, Actor: p.Actor, At: p.Now(), Data: text,
			Reason: umpire.Say("session %s was removed with its events, %s in all, the last on %s", s, found.Events,
				found.LastAt.Format(time.DateOnly)),
		})
		if err != nil {
			return err
		}
		removed = &found.Pruned
		return tx.Prunings.Insert(&found, e.Seq)
	})
	return removed, err
}

// PrunedSince reports whether an event records the removal of events that may be later than since.
func PrunedSince(e *umpire.Event, since time.Time) bool {
	var data prunedData
	return e.Kind == umpire.EventPruned && (json.Unmarshal(e.Data, &data) != nil || data.LastAt.After(since))
}

// AcceptedPrunings counts the accepted prunings of a timeline. Set Keys first; the zero value accepts none.
type AcceptedPrunings struct {
	Sessions int64      `json:"sessions"`
	Events   int64      `json:"events"`
	First    *time.Time `json:"first_at,omitempty"`
	Last     *time.Time `json:"last_at,omitempty"`

	// Keys are the IDs of the trusted keys.
	Keys []string `json:"-"`
}

// Accept counts a pruning if the signature in its event covers exactly the removed
// events. Otherwise it returns the reason. It is meant for [Store.Verify].
func (ps *AcceptedPrunings) Accept(e *umpire.Event, found *Pruned) (problem string) {
	var data prunedData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "the event that says so cannot be read: " + err.Error()
	}
	var signed Pruned
	key, err := parse(data.Signed, prunedHeader, &signed)
	if err != nil {
		return "the event that says so is not valid: " + err.Error()
	}
	found.LastAt = signed.LastAt // only the event still has the time of the removed ones
	switch {
	case !slices.Contains(ps.Keys, keyID(key)):
		return fmt.Sprintf("the event that says so was signed by the key %s, which is not the one here", keyID(key))
	case signed != data.Pruned, signed != *found:
		return "what was removed is not what the signature is over"
	}
	ps.Sessions, ps.Events = ps.Sessions+1, ps.Events+found.Events
	if ps.First == nil || e.At.Before(*ps.First) {
		ps.First = &e.At
	}
	if ps.Last == nil || e.At.After(*ps.Last) {
		ps.Last = &e.At
	}
	return ""
}
