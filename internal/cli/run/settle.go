package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A trial of a call has a question in the inbox. Keeping or discarding the trial here answers
// the question, and the timeline records it.

// keepTrial keeps a waiting trial for a person.
func keepTrial(ctx context.Context, a *app.App, state string, h *trial.Held) error {
	answered, err := answerFor(ctx, a, h, umpire.Approve)
	if answered || err != nil {
		return err
	}
	if err := keepHeld(ctx, a, state, h, false); err != nil {
		return err
	}
	return settleHeld(ctx, a, h, umpire.TrialSettlement{State: umpire.TrialKept, Digest: h.Effects.Digest})
}

// discardTrial discards a trial that waits, for a person.
func discardTrial(ctx context.Context, a *app.App, state string, h *trial.Held) error {
	answered, err := answerFor(ctx, a, h, umpire.Refuse)
	if err != nil {
		return err
	}
	if err := h.Discard(state); err != nil || answered {
		return app.Failed(err)
	}
	return settleHeld(ctx, a, h, umpire.TrialSettlement{State: umpire.TrialDiscarded, Reason: "a person discarded it"})
}

// answerFor answers the question about a trial, and reports whether there was one.
func answerFor(ctx context.Context, a *app.App, h *trial.Held, choice umpire.Choice) (answered bool, err error) {
	if h.Trial == "" {
		return false, nil
	}
	err = a.WithGate(ctx, app.PersonCredential, func(g umpire.Gate) error {
		all, err := g.Pending(ctx, umpire.PendingQuery{Session: h.Session})
		if err != nil {
			return err
		}
		for i := range all {
			p := &all[i]
			if p.Trial == nil || p.Trial.ID != h.Trial {
				continue
			}
			if err := app.RefuseRunner(ctx, a, g, "try"); err != nil {
				return err
			}
			answered = true
			b, err := g.Resolve(ctx, umpire.Answer{
				Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
				Choice: choice,
			})
			if err == nil && choice == umpire.Approve {
				err = sayAnswered(a.Stderr, a.Text, h, b.Call(p.Call))
			}
			return err
		}
		return nil
	})
	return answered, err
}

// sayAnswered reports the outcome of an approved trial.
func sayAnswered(to io.Writer, text *catalogue.Language, h *trial.Held, c *umpire.BatchCall) error {
	switch {
	case c == nil || c.Result == nil:
		fmt.Fprintln(to, text.Of("Approved. The agent that tried it keeps it when it continues."))
	case c.Result.Code == umpire.CodeChanged:
		return app.Refused("umpire try show "+h.ID, "%s", view.Visible(c.Result.Output))
	default:
		fmt.Fprintf(to, text.Of("Kept. To undo it: umpire undo %s\n"), h.ID)
	}
	return nil
}

// settleHeld makes the gate record the end of a trial without an open question, such as one in
// conflict. A trial that no gate knows any more is only kept or discarded.
func settleHeld(ctx context.Context, a *app.App, h *trial.Held, s umpire.TrialSettlement) error {
	if h.Trial == "" {
		return nil
	}
	s.Trial, s.Session, s.Batch = h.Trial, h.Session, h.Batch
	return a.WithGate(ctx, app.PersonCredential, func(g umpire.Gate) error {
		_, err := g.Trials().Settle(ctx, s)
		if errors.Is(err, umpire.ErrNotFound) || errors.Is(err, umpire.ErrState) {
			return nil
		}
		return err
	})
}
