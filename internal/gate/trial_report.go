package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// Limits on a trial's report and on the parts of it that are shown.
const (
	maxEffects      = 100_000
	maxShownEffects = 500
	maxShownOutput  = 16 << 10
	maxListedPaths  = 20
)

// A report is a finished trial's report together with its consequences.
type report struct {
	*umpire.TrialReport
	*pendingTrial

	trial    store.TrialRow
	stored   store.TrialReport
	tried    *triedCall
	keepable bool // the layer has changes that somebody may want to keep
	external bool // only the agent runs the call
	again    bool // it may run again with network access
}

// Report decides on the effects of a trial.
func (ts *trials) Report(ctx context.Context, r umpire.TrialReport) (umpire.Batch, error) {
	return ts.report(ctx, &r, false)
}

// report decides on the effects of a trial. late means that the host had stopped waiting for the command.
func (ts *trials) report(ctx context.Context, r *umpire.TrialReport, late bool) (umpire.Batch, error) {
	switch {
	case r.Session == "" || r.Batch == "" || r.Trial == "":
		return umpire.Batch{}, invalid("session_id, batch_id, trial_id", "all are needed")
	case r.Effects.Digest == "":
		return umpire.Batch{}, invalid("effects.digest", "is missing")
	case len(r.Effects.List) > maxEffects:
		return umpire.Batch{}, invalid("effects.list", "longer than %d", maxEffects)
	case len(r.Effects.Reached) > maxEffects:
		return umpire.Batch{}, invalid("effects.reached", "longer than %d", maxEffects)
	case len(r.Output) > maxOutput:
		return umpire.Batch{}, invalid("output", "larger than %d bytes", maxOutput)
	}
	if err := checkConfinement(r.Sandbox); err != nil {
		return umpire.Batch{}, err
	}
	ts.reached("tried")
	for {
		b, external, err := ts.tryReport(ctx, r, late)
		if errors.Is(err, errMoved) && ctx.Err() == nil {
			continue
		}
		if err == nil && external {
			return ts.keepApproved(ctx, b, r.Trial)
		}
		return b, err
	}
}

func (ts *trials) tryReport(
	ctx context.Context, r *umpire.TrialReport, late bool,
) (b umpire.Batch, external bool, err error) {
	p, err := ts.prepareReport(ctx, r, late)
	if err != nil {
		return umpire.Batch{}, false, err
	}
	err = ts.step(ctx, r.Session, r.Epoch, func(t *transaction) error {
		b, err = t.decideReport(p)
		return err
	})
	if isConflict(err) {
		err = umpire.Errorf("trial %q: %w: %w", r.Trial, err, umpire.ErrState)
	}
	if err != nil {
		return umpire.Batch{}, false, err
	}
	ts.reached("reported")
	return b, p.external, nil
}

// lateRule asks about the effects of a command that outlived its host's wait.
var lateRule = umpire.Rule{
	ID: "late", Action: umpire.Ask, Tool: "*", Source: umpire.SourceSession,
	Says: "the command's caller was gone",
}

// prepareReport decides on the effects of a trial, and builds the question about them.
func (ts *trials) prepareReport(ctx context.Context, r *umpire.TrialReport, late bool) (*report, error) {
	p := &report{TrialReport: r}
	var err error
	if p.trial, err = ts.readTrial(ctx, r.Session, r.Batch, r.Trial); err != nil {
		return nil, err
	}
	if p.pendingTrial, err = ts.judgeTried(ctx, r.Session, r.Batch, p.trial.Call, r.Sandbox); err != nil {
		return nil, err
	}
	p.stored = store.TrialReport{Layer: r.Effects.Digest, Exit: r.Exit, Ran: ts.now()}
	if p.stored.Output, err = ts.sealText(trialLabel(r.Trial, "output"), r.Output); err != nil {
		return nil, err
	}
	if p.stored.Effects, err = ts.sealJSON(trialLabel(r.Trial, "effects"), data(r.Effects)); err != nil {
		return nil, err
	}
	row := p.trial
	row.TrialReport, row.State = p.stored, umpire.TrialWaiting
	p.external = p.conditions.session.External
	// A command that fails for lack of a destination has not done its job.
	p.keepable = r.Effects.Whole && (r.Exit == 0 || len(r.Effects.Wanted()) == 0)
	if !p.keepable {
		row.State = umpire.TrialDiscarded
	}
	if late && len(r.Effects.List) > 0 {
		p.conditions.tighten = append(slices.Clip(p.conditions.tighten), lateRule)
	}
	decision := ts.decideEffects(p.conditions, p.judged.call, &r.Effects, r.Exit)
	p.tried = &triedCall{Trial: ts.shownTrial(&row), decision: decision}
	if p.tried.decision.Verdict != umpire.Deny {
		p.judged.trial = p.tried
		p.judged.question = ts.newQuestion(p.conditions, p.judged, r.Batch, p.position, p.total)
		if p.again = !p.keepable && r.Effects.Whole; p.again {
			p.judged.question.card.TrialOffer = umpire.TrialNetwork
			if p.external {
				p.judged.question.card.TrialOffer = umpire.TrialAgain
			}
		}
	}
	return p, nil
}

// decideReport stores a trial's report and its consequences.
func (t *transaction) decideReport(r *report) (umpire.Batch, error) {
	b, c, err := readCall(t.tx, t.session.ID, r.Batch, r.trial.Call)
	if err != nil {
		return umpire.Batch{}, err
	}
	switch {
	case c.Trial != r.Trial || c.TrialState != umpire.TrialRunning:
		if c.Trial == r.Trial || r.trial.State != umpire.TrialRunning {
			return *b, nil // reported before, or discarded meanwhile, as the batch shows
		}
		return umpire.Batch{}, errMoved
	case c.State != umpire.CallAsked:
		return *b, t.discardTrial(b, c, "the call was answered while the trial ran")
	case c.Request != r.seen.Request:
		return umpire.Batch{}, errMoved
	}
	t.addWrite(func(tx *store.Tx) error { return tx.Trials.Report(r.Trial, &r.stored) })
	e := umpire.Event{Kind: umpire.EventTrialRan, Call: c.ID, Tool: c.Tool, Agent: r.row.Agent}
	if err := t.apply(b, e, triedDetail(r.TrialReport)); err != nil {
		return umpire.Batch{}, err
	}
	if err := t.settleReport(b, b.Call(c.ID), r); err != nil {
		return umpire.Batch{}, err
	}
	err = t.continueBatch(b)
	return *b, err
}

// settleReport decides the next step for a trial that has ended.
func (t *transaction) settleReport(b *umpire.Batch, c *umpire.BatchCall, r *report) error {
	command, effects := &r.judged.decision, &r.tried.decision
	switch {
	case command.Verdict == umpire.Deny && !r.judged.unasked:
		return t.refuseQuestion(b, c, command.ReasonCode, command.Reason)
	case effects.Verdict == umpire.Deny:
		return t.refuseQuestion(b, c, effects.ReasonCode, effects.Reason)
	case r.base != r.trial.Base && r.external:
		return t.refuseQuestion(b, c, umpire.CodeChanged, "the call would do something else by now")
	case !r.keepable && r.external && !r.again:
		return t.refuseQuestion(b, c, umpire.CodeTrial, "the trial could not do what a run would do")
	case r.base != r.trial.Base:
		return t.discardTrial(b, c, "the call would do something else by now")
	case effects.Verdict == umpire.Allow && r.keepable && (r.offer == umpire.TrialFirst || len(r.trial.Reach) > 0):
		return t.approveEffects(b, c, r)
	}
	return t.askAboutEffects(b, c, r)
}

// approveEffects approves a call's trial as far as the person's standing answers reach. The call
// starts for exactly that layer.
func (t *transaction) approveEffects(b *umpire.Batch, c *umpire.BatchCall, r *report) error {
	d := &r.tried.decision
	row := store.AnswerRow{
		Standing: umpire.Standing{
			Request: c.Request, Choice: umpire.Approve, Reason: t.maskPhrase(d.Reason), Code: d.ReasonCode,
			Actor: gateActor, At: t.now,
		},
		ArgsHash: c.ArgsHash, Channel: gateActor,
	}
	t.addWrite(func(tx *store.Tx) error { return tx.Answers.Insert(row) })
	about := judged{call: r.judged.call, decision: *d}
	e := t.decisionEvent(umpire.EventPermissionApproved, &about)
	e.Call, e.Request, e.Tool, e.Agent = c.ID, c.Request, c.Tool, r.row.Agent
	e.State, e.Actor = umpire.StateAllowed, gateActor
	if err := t.apply(b, e, nil); err != nil {
		return err
	}
	t.session.DenialsInRow = 0
	t.session.Permission, t.session.Blocked = umpire.StateAllowed, nil
	t.append(t.bypassEvent(b.ID, &about), nil)
	return nil
}

// askAboutEffects asks a person and shows the trial's effects on the card. It discards a layer that
// cannot be kept; the question is then whether the call may run.
func (t *transaction) askAboutEffects(b *umpire.Batch, c *umpire.BatchCall, r *report) error {
	if !r.keepable {
		if err := t.discardTrial(b, c, "the trial could not do what a run would do"); err != nil {
			return err
		}
	}
	return t.replaceAsked(b, c.ID, r.judged)
}

// triedDetail returns the event detail for a trial that has ended.
func triedDetail(r *umpire.TrialReport) batch.Tried {
	detail := batch.Tried{
		Trial: r.Trial, Digest: r.Effects.Digest, Exit: &r.Exit, Counts: map[string]int{},
		Reached: r.Effects.Reached[:min(len(r.Effects.Reached), maxListedPaths)],
	}
	for i := range r.Effects.List {
		e := &r.Effects.List[i]
		detail.Counts[string(e.Kind)]++
		if len(detail.Paths) < maxListedPaths {
			detail.Paths = append(detail.Paths, umpire.EscapePath(e.Path))
		}
	}
	for _, a := range r.Effects.Refused[:min(len(r.Effects.Refused), maxListedPaths)] {
		detail.Refused = append(detail.Refused, umpire.EscapePath(a.Target))
	}
	return detail
}
