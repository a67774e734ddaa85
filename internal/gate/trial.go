package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// A trial runs an asking call without real effects. It is not an execution: while it runs and while
// its effects wait, the call is asked and its batch waits. Effects that are allowed, or that a
// person approves, become real in an ordinary start of the call, whose runner keeps the layer
// instead of running the command.

// trials manages calls that are tried.
type trials struct {
	*Projects

	start  func(context.Context, umpire.Start) (umpire.Started, error)
	finish func(context.Context, umpire.Result) (umpire.Batch, error)
}

// decideEffects decides whether a trial's effects may be kept.
func (ts *trials) decideEffects(
	cond *conditions, call umpire.Call, e *umpire.TrialEffects, exit int,
) umpire.Decision {
	e = judge.NeededEffects(e, exit)
	find := func() (*judge.Judge, error) { return ts.judgeOf(cond.session.Root, cond.session.AddDirs) }
	if cond.session.External && e.Whole && len(e.List) == 0 {
		e = &umpire.TrialEffects{Whole: true, Digest: e.Digest} // nothing to keep, and the gate does not run it again
	}
	q := policy.Query{Call: call, Conditions: cond.Conditions}
	q.Tighten = cond.tightenFor(&call)
	return enforce(&cond.settings, judge.DecideEffects(find, q, e, ts.config.Now))
}

// decideTried decides on the stored effects of a trial.
func (ts *trials) decideTried(cond *conditions, call umpire.Call, row *store.TrialRow) (*triedCall, error) {
	text, err := ts.unseal(trialLabel(row.ID, "effects"), row.Effects)
	if err != nil {
		return nil, err
	}
	var effects umpire.TrialEffects
	if err := json.Unmarshal([]byte(text), &effects); err != nil {
		return nil, umpire.Errorf("trial %q: its effects cannot be read: %w", row.ID, err)
	}
	return &triedCall{Trial: ts.shownTrial(row), decision: ts.decideEffects(cond, call, &effects, row.Exit)}, nil
}

// A pendingTrial is a call to try, judged outside of the transaction.
type pendingTrial struct {
	conditions *conditions
	seen       umpire.BatchCall // the call as it was judged
	row        store.CallRow
	judged     *judged
	base       string // digest of the call as it would run now
	// offer is the choice the trial's question offers; "" without a question. reach are the destinations that it
	// offers, and wanted is set once a person has taken it.
	offer    umpire.TrialOffer
	reach    []string
	wanted   bool
	position int
	total    int
}

// judgeTried reads a call of a batch, and judges it again.
func (ts *trials) judgeTried(
	ctx context.Context, s umpire.SessionID, id umpire.BatchID, call umpire.CallID, c *umpire.Confinement,
) (*pendingTrial, error) {
	p := &pendingTrial{}
	err := ts.viewForChange(ctx, func(tx *store.Tx) error {
		b, seen, err := readCall(tx, s, id, call)
		if err != nil {
			return err
		}
		if p.row, err = tx.Calls.Get(s, call); err != nil {
			return err
		}
		p.seen, p.position, p.total = *seen, p.row.Ordinal+1, b.Size()
		if p.conditions, err = ts.readConditions(tx, ts.conditionsAhead(tx, s, "")); err != nil || seen.Request == "" {
			return err
		}
		ask, err := tx.Asks.Get(seen.Request)
		card := readCard(&ask)
		p.offer = card.TrialOffer
		if err == nil && p.offer == umpire.TrialNetwork {
			p.reach = card.Trial.Effects.Wanted()
			p.wanted, err = tx.Trials.IsWanted(s, seen.Request)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := ts.completeConditions(p.conditions); err != nil {
		return nil, err
	}
	p.conditions.confinement = c
	if p.judged, err = ts.judgeStored(p.conditions, &p.row); err != nil {
		return nil, err
	}
	d := ts.decideAttended(p.conditions, p.judged)
	p.base = shownDigest(&p.judged.call, &d, readCode(&d, ts.maskText), nil)
	return p, nil
}

// readTrial returns a trial of a batch.
func (be *backend) readTrial(
	ctx context.Context, s umpire.SessionID, b umpire.BatchID, id umpire.TrialID,
) (row store.TrialRow, err error) {
	err = be.viewForChange(ctx, func(tx *store.Tx) error {
		row, err = tx.Trials.Get(id)
		if err == nil && (row.Session != s || row.Batch != b) {
			err = umpire.ErrNotFound
		}
		return err
	})
	if err != nil {
		return row, umpire.Errorf("trial %q of batch %q: %w", id, b, err)
	}
	return row, nil
}

// shownTrial returns a trial for a card: with secrets masked, and shortened to a readable length.
func (be *backend) shownTrial(row *store.TrialRow) umpire.Trial {
	shown := umpire.Trial{
		ID: row.ID, Round: row.Round, State: row.State, Network: len(row.Reach) > 0, Exit: row.Exit,
		Output:    files.ClipTo(row.Output.Shown, maxShownOutput, "\n[...]"),
		StartedAt: row.Started, RanAt: row.Ran,
		UndoSeconds: int64(be.config.UndoAge / time.Second),
	}
	if json.Unmarshal([]byte(row.Effects.Shown), &shown.Effects) != nil {
		shown.Effects = umpire.TrialEffects{} // unreadable effects are not shown, and not whole
	}
	shown.Effects.Digest = row.Layer
	if shown.More = len(shown.Effects.List) - maxShownEffects; shown.More > 0 {
		shown.Effects.List = shown.Effects.List[:maxShownEffects]
	}
	shown.More = max(shown.More, 0)
	return shown
}

func trialLabel(id umpire.TrialID, what string) string { return fmt.Sprintf("trial:%q:%s", id, what) }

// replaceAsked asks the question about a call again, and withdraws the previous one.
func (t *transaction) replaceAsked(b *umpire.Batch, id umpire.CallID, j *judged) error {
	before := b.Call(id).Request
	t.addWrite(func(tx *store.Tx) error { return tx.Asks.Close(before, store.AskWithdrawn) })
	return t.putQuestion(b, j.question, umpire.EventPermissionAsked)
}
