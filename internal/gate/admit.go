package gate

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Admit hands in one call, as Submit does, and starts it in the same transaction
// if nothing stands against it, as Start does: a host that asks call by call waits
// for one commit instead of two. The timeline tells the same as after both. When
// the call does not start, the batch says what happened instead; handing in the
// same again never starts it.
//
// The call is not decided a second time, since no time lies between.
func (g *Gate) Admit(ctx context.Context, s umpire.Submission, runner string) (umpire.Started, error) {
	if len(s.Calls) != 1 {
		return umpire.Started{}, invalid("calls", "want 1, got %d", len(s.Calls))
	}
	var started umpire.Started
	b, stored, err := g.handIn(ctx, &s, func(t *step, sub *submission) (err error) {
		started, err = t.admit(sub, runner)
		return err
	})
	if err != nil {
		return umpire.Started{}, err
	}
	if !stored || !started.Go {
		return umpire.Started{Batch: b}, nil
	}
	g.reached("started")
	started.Batch = b
	return started, nil
}

// admit starts the one call of a batch that this step has stored.
func (t *step) admit(sub *submission, runner string) (umpire.Started, error) {
	f, j := t.batches[sub.Batch], sub.calls[0]
	c := f.now.Next()
	if c == nil || c.State != umpire.CallApproved || f.now.State != umpire.BatchRunning {
		return umpire.Started{}, nil
	}
	return t.execute(f, c, &launch{
		Start:  &umpire.Start{Session: sub.Session, Batch: sub.Batch, Call: c.ID, Epoch: sub.Epoch, Runner: runner},
		row:    store.CallRow{Agent: j.call.Agent, Effect: j.effect},
		judged: j, before: snapshot(&j.decision),
	})
}
