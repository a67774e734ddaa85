package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Admit hands in one call, as Submit does, and starts it in the same transaction
// if nothing stands against it, as Start does: a host that asks call by call waits
// for one commit instead of two. The timeline tells the same as after both. When
// the call does not start, the batch says what happened instead; handing in the
// same again never starts it.
//
// Leave looks at the decision before anything is stored, as it is where a person can be
// asked, and reports whether the call is the host's. Such a call is not handed in: the
// timeline tells that it was left to the host, and the answer has the decision and
// neither Go nor a batch. Nil leaves none.
//
// The call is not decided a second time, since no time lies between.
func (g *Gate) Admit(ctx context.Context, s umpire.Submission, runner string, leave func(*umpire.Decision) bool) (umpire.Started, error) {
	if len(s.Calls) != 1 {
		return umpire.Started{}, invalid("calls", "want 1, got %d", len(s.Calls))
	}
	var started umpire.Started
	b, stored, err := g.handIn(ctx, &s, func(t *step, sub *submission) (*umpire.Batch, error) {
		started = umpire.Started{}
		if d := g.attended(sub.scene, sub.calls[0]); leave != nil && sub.calls[0].denied == nil && leave(&d) {
			started.Decision = d
			return nil, t.leaveToHost(sub, &d)
		}
		b, err := t.submit(sub)
		if err == nil {
			started, err = t.admit(b, sub, runner)
		}
		return b, err
	})
	switch {
	case err != nil:
		return umpire.Started{}, err
	case !stored:
		return umpire.Started{Batch: b}, nil
	case started.Go:
		g.reached("started")
	}
	started.Batch = b
	return started, nil
}

// attended is the decision about a call as it is where somebody can be asked.
func (g *Gate) attended(sc *scene, j *judged) umpire.Decision {
	if !j.unasked {
		return j.decision
	}
	asking := *sc
	asking.headless = false
	asking.tighten = append(slices.Clip(sc.tighten), objections(j.hooks)...)
	return g.decide(&asking, j.call)
}

// leaveToHost tells the timeline that a call was left to its host.
func (t *step) leaveToHost(sub *submission, d *umpire.Decision) error {
	if t.session.State == umpire.SessionOver {
		return fmt.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	j := *sub.calls[0]
	j.decision = *d
	if err := t.heard(sub.Batch, &j.call, j.hooks); err != nil {
		return err
	}
	e := t.decided(umpire.EventPermissionBypassedByRule, &j)
	e.Batch, e.Call, e.Tool, e.Agent = sub.Batch, j.call.ID, j.call.Tool, j.call.Agent
	e.Code = umpire.CodeLeftToHost
	return t.append(e, nil)
}

// admit starts the one call of a batch that this step has stored.
func (t *step) admit(b *umpire.Batch, sub *submission, runner string) (umpire.Started, error) {
	j := sub.calls[0]
	c := b.Next()
	if c == nil || c.State != umpire.CallApproved || b.State != umpire.BatchRunning {
		return umpire.Started{}, nil
	}
	return t.execute(b, c, &launch{
		Start:  &umpire.Start{Session: sub.Session, Batch: sub.Batch, Call: c.ID, Epoch: sub.Epoch, Runner: runner},
		row:    store.CallRow{Agent: j.call.Agent, Effect: j.effect},
		judged: j, before: snapshot(&j.decision),
	})
}
