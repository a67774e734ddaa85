package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// wantTrial records that a person wants a call tried. The session's runner reads it.
func (t *transaction) wantTrial(b *umpire.Batch, c *umpire.BatchCall, r *resolution) error {
	if r.card.TrialOffer == umpire.NoTrial || b.Next() != c || c.State != umpire.CallAsked || c.Trial != "" {
		return umpire.Errorf("call %q cannot be tried: %w", c.ID, umpire.ErrState)
	}
	t.append(umpire.Event{
		Kind: umpire.EventTrialWanted, Batch: b.ID, Call: c.ID, Request: c.Request, Agent: r.card.Agent, Tool: c.Tool,
		Actor: r.answer.Actor,
	}, batch.Tried{Network: r.card.TrialOffer == umpire.TrialNetwork})
	return nil
}

// Begin starts a trial of the batch's next call, which waits for a person. The start is stored
// before the runner hears of it.
func (ts *trials) Begin(ctx context.Context, r umpire.TrialRequest) (umpire.BegunTrial, error) {
	if r.Session == "" || r.Batch == "" || r.Call == "" {
		return umpire.BegunTrial{}, invalid("session_id, batch_id, call_id", "all are needed")
	}
	if err := checkConfinement(r.Sandbox); err != nil {
		return umpire.BegunTrial{}, err
	}
	p, err := ts.judgeTried(ctx, r.Session, r.Batch, r.Call, r.Sandbox)
	if err != nil {
		return umpire.BegunTrial{}, err
	}
	d := ts.decideAttended(p.conditions, p.judged)
	if d.Trial == umpire.NoTrial {
		return umpire.BegunTrial{}, umpire.Errorf("call %q cannot be tried: %w", r.Call, umpire.ErrState)
	}
	if len(p.reach) > 0 && !p.wanted {
		err := umpire.ErrNeedsPerson
		return umpire.BegunTrial{}, umpire.Errorf("call %q cannot be tried with the network: %w", r.Call, err)
	}
	if err := ts.endLostTrials(ctx, p.conditions.session.Project); err != nil {
		return umpire.BegunTrial{}, err
	}
	begun := umpire.BegunTrial{Trial: newTrialID(), Call: p.judged.call, Decision: d, Reach: p.reach}
	err = ts.step(ctx, r.Session, r.Epoch, func(t *transaction) error {
		b, c, err := readCall(t.tx, t.session.ID, r.Batch, r.Call)
		if err != nil {
			return err
		}
		if c.Request != p.seen.Request {
			return umpire.Errorf("call %q has a new question: %w", c.ID, umpire.ErrState)
		}
		err = t.beginTrial(b, &begun, r.Runner, p.base)
		begun.Batch = *b
		return err
	})
	if isConflict(err) {
		err = umpire.Errorf("call %q: %w: %w", r.Call, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.BegunTrial{}, err
	}
	ts.reached("trying")
	return begun, nil
}

// endLostTrials discards a project's running trials whose runner is gone.
func (ts *trials) endLostTrials(ctx context.Context, project umpire.ProjectID) error {
	var of []umpire.Session
	running, err := readIn(ctx, ts.view, func(tx *store.Tx) ([]store.TrialRow, error) {
		all, err := tx.Trials.ListRunning(project)
		of = make([]umpire.Session, len(all))
		for i := 0; i < len(all) && err == nil; i++ {
			of[i], err = tx.Sessions.Get(all[i].Session)
		}
		return all, err
	})
	if err != nil {
		return ignoreGone(err)
	}
	var errs []error
	for i := range running {
		if of[i].External {
			errs = append(errs, ignoreGone(ts.tendTrial(ctx, &running[i])))
		} else {
			errs = append(errs, ts.tendHeld(ctx, &of[i]))
		}
	}
	return errors.Join(errs...)
}

// beginTrial stores the start of a trial. Only trials of the same session count against the limit.
func (t *transaction) beginTrial(b *umpire.Batch, begun *umpire.BegunTrial, runner, base string) error {
	running, err := t.tx.Trials.ListRunning(t.session.Project)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(running, func(r store.TrialRow) bool { return r.Session != t.session.ID })
	if len(own) >= maxRunningTrials {
		return umpire.Errorf("session %q runs %d trials already: %w", t.session.ID, len(own), umpire.ErrLimit)
	}
	row := store.TrialRow{
		ID: begun.Trial, Session: t.session.ID, Batch: b.ID, Call: begun.Call.ID, Project: t.session.Project,
		Base: base, Epoch: t.session.Epoch, Runner: runner, Started: t.now, Reach: begun.Reach,
	}
	t.addWrite(func(tx *store.Tx) error { return tx.Trials.Insert(row) })
	e := umpire.Event{Kind: umpire.EventTrialStarted, Call: row.Call, Tool: begun.Call.Tool, Agent: begun.Call.Agent}
	return t.apply(b, e, batch.Tried{Trial: begun.Trial, Network: len(row.Reach) > 0, Reach: row.Reach})
}

// tryStarted begins a trial of a call that was about to start by its ticket. The question is stored
// first, as for every trial, but must not be answered before the command has ended.
func (t *transaction) tryStarted(b *umpire.Batch, l *pendingStart) (umpire.Started, error) {
	if err := t.putQuestion(b, l.judged.question, umpire.EventPermissionAsked); err != nil {
		return umpire.Started{}, err
	}
	ticket := l.ticket
	t.addWrite(func(tx *store.Tx) error { return tx.Tickets.Use(ticket) })
	begun := umpire.BegunTrial{Trial: newTrialID(), Call: l.judged.call}
	if grant := l.network; grant != nil {
		begun.Reach = grant.Grant.Reach
		t.addWrite(func(tx *store.Tx) error { return tx.Grants.Use(grant.ID) })
	}
	err := t.beginTrial(b, &begun, l.Runner, l.base)
	return umpire.Started{Decision: l.judged.decision, Batch: *b}, err
}
