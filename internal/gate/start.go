package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// Start starts the next call of a batch, or reports what happens instead. It decides the call
// again, because the world may have changed since the approval, and stores the start before the
// runner hears of it.
func (g *Gate) Start(ctx context.Context, s umpire.Start) (umpire.Started, error) {
	if s.Session == "" || s.Batch == "" || s.Call == "" {
		return umpire.Started{}, invalid("session_id, batch_id, call_id", "all are needed")
	}
	if err := checkConfinement(s.Sandbox); err != nil {
		return umpire.Started{}, err
	}
	return g.startWith(ctx, &s, "")
}

// startWith starts a call, with a ticket if it is not "".
func (g *Gate) startWith(ctx context.Context, s *umpire.Start, ticket string) (umpire.Started, error) {
	for tries := 1; ; tries++ {
		started, err := g.tryStart(ctx, s, ticket)
		conflict := isConflict(err) // another call took the last use of a grant
		switch {
		case errors.Is(err, errMoved) && ctx.Err() == nil, conflict && tries < maxStarts:
			continue
		case conflict:
			err = umpire.Errorf("call %q: %w: %w", s.Call, err, umpire.ErrState)
		}
		return started, err
	}
}

// maxStarts bounds how often a start is decided again after a conflict.
const maxStarts = 4

// errMoved means that the call was answered between the check and the start.
var errMoved = errors.New("the call's state has changed")

func (g *Gate) tryStart(ctx context.Context, s *umpire.Start, ticket string) (umpire.Started, error) {
	l, err := g.prepareStart(ctx, s, ticket)
	if err != nil {
		return umpire.Started{}, err
	}
	g.be.reached("starting")
	var started umpire.Started
	err = g.be.step(ctx, s.Session, s.Epoch, func(t *transaction) error {
		started, err = t.decideStart(l)
		return err
	}, callAhead(s.Session, s.Batch, s.Call))
	if err != nil {
		return umpire.Started{}, err
	}
	g.be.reached("started")
	return started, nil
}

// A pendingStart is a call about to run, decided again.
type pendingStart struct {
	*umpire.Start

	conditions *conditions
	seen       umpire.BatchCall // the call at the time of the decision
	row        store.CallRow
	judged     *judged
	once       string          // the grant that the run consumes, or ""
	ticket     string          // the hash of the ticket that it uses, or ""
	approved   bool            // by a person, or its trial's effects by standing answers
	unattended bool            // approved by standing answers, not by a person
	trial      *store.TrialRow // its layer is kept by the start; nil runs the call
	output     string          // the trial's output, unchanged
	base       string          // the trial's base: a digest of the call as it would run
	network    *store.GrantRow // gives the trial network access, or is nil
	moved      bool            // the call would do something other than shown
	changed    string          // the code that differs from the code shown
	before     json.RawMessage
	position   int
	total      int
}

func (g *Gate) prepareStart(ctx context.Context, s *umpire.Start, ticket string) (*pendingStart, error) {
	l := &pendingStart{Start: s, ticket: ticket}
	var ask store.AskRow
	err := g.be.viewForChange(ctx, func(tx *store.Tx) (err error) {
		tx.Ahead(func() { callAhead(s.Session, s.Batch, s.Call)(tx); _, _ = tx.Calls.Get(s.Session, s.Call) })
		q := g.be.conditionsAhead(tx, s.Session, s.Call)
		b, c, err := readCall(tx, s.Session, s.Batch, s.Call)
		if err != nil {
			return err
		}
		tx.Ahead(func() {
			_, _ = tx.Asks.Get(c.Request)
			_, _ = tx.Answers.Get(c.Request)
			_, _ = tx.Grants.GetOnce(s.Session, c.ID, c.Request)
		})
		if l.row, err = tx.Calls.Get(s.Session, s.Call); err != nil {
			return err
		}
		l.seen = *c
		l.position, l.total = l.row.Ordinal+1, b.Size()
		if l.conditions, err = g.projects.readConditions(tx, q); err != nil {
			return err
		}
		if c.TrialState == umpire.TrialWaiting {
			row, err := tx.Trials.Get(c.Trial)
			if err != nil {
				return err
			}
			l.trial = &row
		}
		return l.readAnswer(tx, c, &ask)
	})
	if err != nil {
		return nil, err
	}
	if err := g.projects.completeConditions(l.conditions); err != nil {
		return nil, err
	}
	l.conditions.confinement, l.conditions.byTicket = s.Sandbox, ticket != ""
	if l.judged, err = g.projects.judgeStored(l.conditions, &l.row); err != nil {
		return nil, err
	}
	if l.approved {
		l.compareApproved(&g.trials, &ask)
	}
	asked, err := l.decideTrial(&g.trials)
	if err != nil {
		return nil, err
	}
	l.before = fingerprintFiles(&l.judged.decision)
	if err := g.projects.findPlanned(ctx, l.conditions, []*judged{l.judged}); err != nil {
		return nil, err
	}
	if l.moved || l.judged.state == umpire.CallAsked {
		l.judged.question = g.be.newQuestion(l.conditions, asked, s.Batch, l.position, l.total)
	}
	if l.triesNow() {
		d := g.projects.decideAttended(l.conditions, l.judged)
		l.base = shownDigest(&l.judged.call, &d, readCode(&d, g.be.maskText), nil)
		if l.network, err = l.findNetwork(ctx, g.be); err != nil {
			return nil, err
		}
		err = g.trials.endLostTrials(ctx, l.conditions.session.Project)
	}
	return l, err
}

// compareApproved finds the differences between the call now and the card that was approved.
func (l *pendingStart) compareApproved(ts *trials, ask *store.AskRow) {
	card, d, now := readCard(ask), l.judged.decision, (*umpire.Trial)(nil)
	switch {
	case l.unattended:
		d = ts.decideAttended(l.conditions, l.judged)
	case l.trial != nil:
		now = new(ts.shownTrial(l.trial))
	}
	l.moved = shownDigest(&l.judged.call, &d, readCode(&d, ts.maskText), now) != ask.ShownDigest
	l.changed = ts.changedSince(&card, &d)
}

// triesNow reports whether the call is tried in place of its run: it came with a ticket, and asks.
func (l *pendingStart) triesNow() bool {
	q := l.judged.question
	return l.ticket != "" && q != nil && q.card.TrialOffer == umpire.TrialFirst && !l.judged.unasked
}

// decideTrial decides on the effects of the call's trial, and lets a call that is tried first wait.
// A call approved by a person runs unless it is denied by now; a call approved by standing answers
// must still be allowed by them. If a question is needed, it is about the returned call.
func (l *pendingStart) decideTrial(ts *trials) (asked *judged, err error) {
	j := l.judged
	if l.trial == nil {
		ts.triesFirst(l.conditions, j)
		return j, nil
	}
	if j.trial, err = ts.decideTried(l.conditions, j.call, l.trial); err != nil {
		return nil, err
	}
	if l.output, err = ts.unseal(trialLabel(l.trial.ID, "output"), l.trial.Output); err != nil {
		return nil, err
	}
	asked = new(*j)
	d := &j.trial.decision
	unattended := d.ReasonCode == umpire.CodeAutoDeny
	if l.unattended && j.state == umpire.CallAsked ||
		d.Verdict == umpire.Deny && !unattended && j.decision.Verdict != umpire.Deny {
		j.decision, j.unasked = *d, unattended
		j.state = stateOf(d.Verdict)
	}
	return asked, nil
}

// readAnswer finds the approval for the call, if a person gave one.
func (l *pendingStart) readAnswer(tx *store.Tx, c *umpire.BatchCall, ask *store.AskRow) (err error) {
	if c.Request == "" {
		return nil
	}
	if *ask, err = tx.Asks.Get(c.Request); err != nil {
		return err
	}
	answer, err := tx.Answers.Get(c.Request)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	l.approved = err == nil && answer.Choice == umpire.Approve
	if !l.approved {
		return err
	}
	l.unattended = answer.Channel == gateActor
	l.once, err = tx.Grants.GetOnce(l.Session, c.ID, c.Request)
	return err
}

// decideStart decides whether the call runs, asks again or is refused.
func (t *transaction) decideStart(l *pendingStart) (umpire.Started, error) {
	b, c, err := readCall(t.tx, t.session.ID, l.Batch, l.Call)
	if err != nil {
		return umpire.Started{}, err
	}
	if c.State != l.seen.State || c.Request != l.seen.Request || c.TrialState != l.seen.TrialState {
		return umpire.Started{}, errMoved
	}
	ready := c.State == umpire.CallApproved || c.State == umpire.CallExecuting && c.Effect.Repeatable() && l.again(t, c)
	if !ready || b.State != umpire.BatchRunning || b.Cancelled || b.Next() != c {
		return umpire.Started{Batch: *b}, nil
	}
	d := &l.judged.decision
	denied := d.Verdict == umpire.Deny && !l.judged.unasked
	switch {
	case c.State == umpire.CallExecuting && d.Verdict != umpire.Allow: // interrupted, and may not run again
		err = t.finishCall(b, l.Call, umpire.ResultIndeterminate, d.ReasonCode,
			fillIn(unknownText, l.row.Tool, l.Call, ""))
	case !denied && l.triesNow():
		return t.tryStarted(b, l)
	case !denied && l.judged.question != nil:
		err = t.askAgain(b, l)
	case d.Verdict == umpire.Allow:
		return t.startCall(b, c, l)
	default:
		err = t.denyCall(b, l.judged, d.ReasonCode, d.Reason)
	}
	if err == nil {
		err = t.continueBatch(b)
	}
	return umpire.Started{Decision: *d, Batch: *b}, err
}

// again reports whether a started call may be started again: only by a runner that has since taken
// the session over.
func (l *pendingStart) again(t *transaction, c *umpire.BatchCall) bool {
	last, err := t.tx.Executions.GetLast(t.session.ID, c.ID)
	return err == nil && last.Epoch < t.session.Epoch
}

// startCall records that the call is about to run: from here on, it may have had effects.
func (o *outcome) startCall(b *umpire.Batch, c *umpire.BatchCall, l *pendingStart) (umpire.Started, error) {
	j, attempt := l.judged, c.Attempt+1
	if attempt == 1 {
		for _, id := range usedGrants(&j.decision, l.once) {
			o.addWrite(func(tx *store.Tx) error { return tx.Grants.Use(id) })
		}
	}
	if ticket := l.ticket; ticket != "" {
		o.addWrite(func(tx *store.Tx) error { return tx.Tickets.Use(ticket) })
	}
	e := o.decisionEvent(umpire.EventCallStarted, j)
	e.Call, e.Request, e.Tool, e.Agent, e.State = c.ID, c.Request, c.Tool, l.row.Agent, umpire.StateAllowed
	row := store.ExecutionRow{
		Session: o.session.ID, Call: c.ID, Attempt: attempt, Effect: l.row.Effect, Epoch: o.session.Epoch,
		Runner: l.Runner, Group: l.Group, Before: l.before, At: o.now,
	}
	o.addWrite(func(tx *store.Tx) error { return tx.Executions.Insert(row) })
	if err := o.apply(b, e, batch.Started{Attempt: attempt, Runner: l.Runner, Epoch: o.session.Epoch}); err != nil {
		return umpire.Started{}, err
	}
	o.session.Permission, o.session.Blocked = umpire.StateAllowed, nil
	started := umpire.Started{
		Go: true, Call: j.call, Decision: j.decision, Attempt: attempt, Batch: *b,
		ByPerson: l.approved && !l.unattended,
	}
	if l.trial != nil {
		started.Trial = new(j.trial.Trial)
		started.Trial.Output = l.output
	}
	return started, nil
}

// usedGrants returns the ids of the grants that allow accesses of a call, and of the one that approves it once, sorted.
func usedGrants(d *umpire.Decision, once string) []string {
	ids, settled := []string{once}, -1
	for i := range d.Reasons {
		if r := &d.Reasons[i]; r.Access > settled {
			settled, ids = r.Access, append(ids, r.Grant)
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// askAgain stops the batch: the call asks now, and all its calls wait again.
func (o *outcome) askAgain(b *umpire.Batch, l *pendingStart) error {
	q := *l.judged.question
	if l.moved {
		q.sayChanged(umpire.Say("What the call would do has changed since it was approved: %s",
			cmp.Or(umpire.Verbatim(l.changed), q.card.Reason)))
	}
	err := o.putQuestion(b, &q, umpire.EventPermissionAsked)
	if err == nil && l.judged.unasked {
		err = o.refuseQuestion(b, b.Call(l.Call), umpire.CodeAutoDeny, l.judged.decision.Reason)
	}
	return err
}
