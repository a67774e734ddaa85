package gate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// tendEvery is the interval at which a serving gate tends its sessions.
const tendEvery = time.Second

// Run tends the gate until ctx ends, and then finishes pending work.
func (g *Gate) Run(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		if err := g.tend(context.WithoutCancel(ctx)); err != nil && g.be.config.Warn != nil {
			g.be.config.Warn(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tend settles questions past their deadline, and calls and trials whose runner is gone. Safe to
// call at any time; idempotent.
func (g *Gate) tend(ctx context.Context) error {
	return errors.Join(g.trials.tend(ctx), g.sessions.tend(ctx), g.be.withdrawAbandoned(ctx, g.Finish))
}

// withdrawAbandoned withdraws questions asked by programs that held a call and have ended: an
// answer could no longer let anything run.
func (be *backend) withdrawAbandoned(
	ctx context.Context, finish func(context.Context, umpire.Result) (umpire.Batch, error),
) error {
	if be.config.Alive == nil {
		return nil
	}
	asked, err := readIn(ctx, be.view, func(tx *store.Tx) ([]store.AskRow, error) {
		return tx.Asks.List(store.AskQuery{})
	})
	for i := range asked {
		ask := &asked[i]
		var shown map[string]json.RawMessage
		var holder string
		if !bytes.Contains(ask.Shown, []byte(`"`+umpire.ExtraHeldBy+`"`)) || json.Unmarshal(ask.Shown, &shown) != nil ||
			json.Unmarshal(shown[umpire.ExtraHeldBy], &holder) != nil {
			continue
		}
		if !be.hasEnded(holder) {
			continue
		}
		_, late := finish(ctx, umpire.Result{
			Session: ask.Session, Batch: ask.Batch, Call: ask.Call, Status: umpire.ResultCancelled,
			Output: "the program that held the call has ended",
		})
		if !errors.Is(late, umpire.ErrState) {
			err = errors.Join(err, ignoreGone(late))
		}
	}
	return err
}

func (ss *sessions) tend(ctx context.Context) error {
	var late []store.AskRow
	var held []umpire.Session
	err := ss.view(ctx, func(tx *store.Tx) (err error) {
		if late, err = tx.Asks.List(store.AskQuery{ExpiredBy: ss.now()}); err != nil {
			return err
		}
		held, err = tx.Sessions.List(store.SessionQuery{Held: true})
		return err
	})
	if err != nil {
		return err
	}
	var errs []error
	for i := range late {
		errs = append(errs, ss.expire(ctx, &late[i]))
	}
	for i := range held {
		errs = append(errs, ss.tendHeld(ctx, &held[i]))
	}
	return errors.Join(errs...)
}

// tendHeld tends a session whose runner may be gone.
func (be *backend) tendHeld(ctx context.Context, s *umpire.Session) error {
	if !be.runnerGone(s) {
		return nil
	}
	err := be.step(ctx, s.ID, s.Epoch, func(t *transaction) error {
		t.quiet = true
		t.session.Epoch++ // fence off the previous runner before accounting for its calls
		t.session.Runner, t.session.LeaseUntil = "", time.Time{}
		return t.loseCalls()
	})
	if errors.Is(err, umpire.ErrFenced) {
		return nil
	}
	return ignoreGone(err)
}

// runnerGone reports whether a session's runner is gone: its lease has ended, or it ran on this
// machine and its process is gone.
func (be *backend) runnerGone(s *umpire.Session) bool {
	return !s.LeaseUntil.After(be.now()) || be.hasEnded(s.Runner)
}

// expire answers a question whose time is up.
func (ss *sessions) expire(ctx context.Context, ask *store.AskRow) error {
	err := ss.step(ctx, ask.Session, 0, func(t *transaction) error {
		t.quiet = true
		b, c, err := readCall(t.tx, t.session.ID, ask.Batch, ask.Call)
		if err != nil {
			return err
		}
		if c.Request != ask.Request || c.State != umpire.CallAsked {
			return nil // answered in the meantime
		}
		if err := t.refuseQuestion(b, c, umpire.CodeTimeout, ""); err != nil {
			return err
		}
		return t.continueBatch(b)
	})
	return ignoreGone(err)
}

// loseCalls accounts for unfinished calls after another runner takes the session or the lease
// expires. Repeatable calls wait to be started again, a person is asked for the outcome of the
// others, and trials that were running are discarded.
func (t *transaction) loseCalls() error {
	open, err := t.tx.Batches.ListOpen(t.session.ID)
	if err != nil {
		return err
	}
	for i := range open {
		b := &open[i]
		for _, c := range b.Calls {
			var err error
			switch {
			case c.TrialState == umpire.TrialRunning:
				err = t.loseTrial(b, &c)
			case c.State == umpire.CallExecuting && !c.Effect.Repeatable():
				err = t.askWhatBecame(b, &c)
			}
			if err != nil {
				return err
			}
		}
		if err := t.continueBatch(b); err != nil {
			return err
		}
	}
	return nil
}

// loseTrial discards a trial that was running. A trial with network access may have sent something,
// so it runs again only if a person who has been told this agrees.
func (t *transaction) loseTrial(b *umpire.Batch, c *umpire.BatchCall) error {
	row, err := t.tx.Trials.Get(c.Trial)
	if err != nil {
		return err
	}
	if err := t.discardTrial(b, c, "the trial was interrupted"); err != nil || len(row.Reach) == 0 {
		return err
	}
	ask, err := t.tx.Asks.Get(c.Request)
	if err != nil {
		return err
	}
	q := question{row: ask, card: readCard(&ask)}
	q.row.Request, q.row.AskedAt = newRequestID(), t.now
	q.card.Request, q.card.AskedAt, q.card.TrialOffer, q.card.Warning = q.row.Request, t.now, umpire.NoTrial, true
	q.card.Reason = "its trial could reach hosts that you approved and was interrupted: what it sent is sent"
	return t.replaceAsked(b, c.ID, &judged{question: &q})
}

// askWhatBecame makes a call indeterminate, with the available evidence, and asks for its outcome.
func (t *transaction) askWhatBecame(b *umpire.Batch, c *umpire.BatchCall) error {
	run, err := t.tx.Executions.GetLast(t.session.ID, c.ID)
	if err != nil {
		return err
	}
	row, err := t.tx.Calls.Get(t.session.ID, c.ID)
	if err != nil {
		return err
	}
	if t.session.Headless || b.Cancelled {
		return t.giveUpCall(b, c)
	}
	begun, err := t.tx.Executions.StartEvent(t.session.ID, c.ID)
	if err != nil {
		return err
	}
	compared := compareFingerprints(run.Before)
	q := question{
		card: umpire.Pending{
			Request: newRequestID(), Call: c.ID, ArgsHash: c.ArgsHash, Batch: b.ID, Position: row.Ordinal + 1,
			Total: len(b.Calls), Session: t.session.ID, Project: t.session.Project, Agent: row.Agent, Tool: c.Tool,
			Accesses: append([]umpire.Access{}, begun.Accesses...),
			Paths:    pathsOf(begun.Accesses), Type: begun.Type,
			Access: accessWord(c.Tool, begun.Accesses), Risk: umpire.High.Level(), Warning: true,
			Extra: extraOf(row.Extra),
			Reason: t.maskPhrase(umpire.Say("It was started by %s, and it is not known whether it ran: %s",
				cmp.Or(run.Runner, "its agent"), compared)),
			Suggestions: []umpire.Suggestion{}, AskedAt: t.now, Indeterminate: true,
		},
	}
	q.card.Input, q.card.InputSize = row.Input.Clip()
	describeCommand(&q.card)
	q.card.ShownDigest = cardDigest(&q.card)
	q.row = store.AskRow{
		Request: q.card.Request, Session: t.session.ID, Batch: b.ID, Call: c.ID, ArgsHash: c.ArgsHash,
		ShownDigest: q.card.ShownDigest, State: store.AskPending, AskedAt: t.now,
	}
	return t.putQuestion(b, &q, umpire.EventCallIndeterminate)
}

// giveUpCall ends a call whose outcome will stay unknown.
func (o *outcome) giveUpCall(b *umpire.Batch, c *umpire.BatchCall) error {
	e := umpire.Event{Kind: umpire.EventCallIndeterminate, Call: c.ID, Tool: c.Tool,
		Reason: "its runner is gone, and its outcome is unknown"}
	if err := o.apply(b, e, nil); err != nil {
		return err
	}
	return o.finishCall(b, c.ID, umpire.ResultIndeterminate, "", fillIn(unknownText, c.Tool, c.ID, ""))
}
