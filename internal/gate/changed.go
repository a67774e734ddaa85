package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// An approval covers the details on its card. If they have changed when the answer arrives, the
// gate rejects the answer and replaces the question by a new one that lists the changes. A later
// change is found before the call starts.

// changedSince lists the differences from a card: in the code that the call runs, and in the
// targets of the links that it names. It returns "" if nothing differs.
func (sec secrets) changedSince(card *umpire.Pending, d *umpire.Decision) string {
	var parts []string
	if what := describeCodeChange(card.CodeFiles, readCode(d, sec.maskText)); what != "" {
		parts = append(parts, what)
	}
	is := sec.maskAccesses(d.Accesses)
	if len(is) != len(card.Accesses) {
		// Other accesses, since code or a file has changed: reported above, or found before the start.
		return strings.Join(parts, "; ")
	}
	for i := range is {
		was := &card.Accesses[i]
		if is[i].Target == was.Target && is[i].Resolved != was.Resolved {
			parts = append(parts, fmt.Sprintf("%s leads to %s and led to %s", was.Target, is[i].Resolved, was.Resolved))
		}
	}
	return strings.Join(parts, "; ")
}

// sayChanged makes a question report a difference from its card. A control file keeps its code: it
// is approved once at a time.
func (q *question) sayChanged(reason umpire.Phrase) {
	if q.card.Reason = reason; q.card.Code != umpire.CodeControlFile {
		q.card.Code = umpire.CodeChanged
	}
}

// replaceQuestion asks the question of an answer again. Its error reports that the answer was rejected.
func (g *Gate) replaceQuestion(ctx context.Context, r *resolution) error {
	j, err := g.projects.judgeStored(r.conditions, &r.row)
	if err != nil {
		return err
	}
	if r.card.Trial != nil && r.card.Trial.State == umpire.TrialWaiting {
		row, err := g.trials.readTrial(ctx, r.ask.Session, r.ask.Batch, r.card.Trial.ID)
		if err != nil {
			return err
		}
		if j.trial, err = g.trials.decideTried(r.conditions, j.call, &row); err != nil {
			return err
		}
	}
	q := g.be.newQuestion(r.conditions, j, r.ask.Batch, r.card.Position, r.card.Total)
	q.sayChanged(umpire.Say("What the call would do has changed since it was shown: %s", r.changed))
	err = g.be.step(ctx, r.ask.Session, 0, func(t *transaction) error {
		b, c, err := readCall(t.tx, t.session.ID, r.ask.Batch, r.ask.Call)
		if err != nil {
			return err
		}
		if c.Request != r.ask.Request || c.State != umpire.CallAsked {
			return answeredError(t.tx, r.ask.Request)
		}
		if err := t.tx.Asks.Close(r.ask.Request, store.AskWithdrawn); err != nil {
			return err
		}
		return t.putQuestion(b, q, umpire.EventPermissionAsked)
	})
	if err != nil {
		return err
	}
	return umpire.Errorf("request %q is out of date: %s; the call asks again as request %q: %w",
		r.ask.Request, r.changed, q.card.Request, umpire.ErrChanged)
}
