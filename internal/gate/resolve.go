package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// allRoots stands for the roots of all projects.
const allRoots = "*"

// maxReason bounds a person's text, which goes to the model.
const maxReason = 4000

// Resolve takes a person's answer to one question. The first answer wins; a later one gets an error
// that contains the first. When the batch's last question is answered the batch continues, once.
func (g *Gate) Resolve(ctx context.Context, a umpire.Answer) (umpire.Batch, error) {
	return g.resolve(ctx, a, "")
}

// resolve is Resolve for an answer that an approved task gives, if there is an id of one.
func (g *Gate) resolve(ctx context.Context, a umpire.Answer, task string) (umpire.Batch, error) {
	if err := checkAnswer(&a); err != nil {
		return umpire.Batch{}, err
	}
	r, err := g.prepareAnswer(ctx, &a, task)
	if err != nil {
		return umpire.Batch{}, err
	}
	if r.changed != "" {
		return umpire.Batch{}, g.replaceQuestion(ctx, r)
	}
	g.be.reached("answered")
	if len(r.rules) > 0 {
		root := r.conditions.session.Root
		if a.Scope == umpire.ScopeGlobal {
			root = allRoots
		}
		unlock, err := g.writingRules.lock(ctx, root)
		if err != nil {
			return umpire.Batch{}, err
		}
		defer unlock()
	}
	var b umpire.Batch
	err = g.be.step(ctx, r.ask.Session, 0, func(t *transaction) error {
		b, err = t.decideAnswer(r)
		return err
	}, callAhead(r.ask.Session, r.ask.Batch, r.ask.Call))
	if isConflict(err) {
		err = errors.Join(g.be.existingAnswer(ctx, a.Request), err)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	g.be.reached("resolved")
	b, settled := g.trials.settleAnswered(ctx, r, b)
	return b, errors.Join(settled, g.confirmCode(r), g.writeRules(context.WithoutCancel(ctx), r))
}

// prepareAnswer checks an answer against its question, and determines the grants.
func (g *Gate) prepareAnswer(ctx context.Context, a *umpire.Answer, task string) (*resolution, error) {
	r := &resolution{answer: a, task: task, code: codeOf(a.Choice)}
	err := g.be.viewForChange(ctx, func(tx *store.Tx) (err error) {
		if r.ask, err = tx.Asks.Get(a.Request); err != nil {
			return umpire.Errorf("request %q: %w", a.Request, err)
		}
		if r.ask.State != store.AskPending {
			return answeredError(tx, a.Request)
		}
		tx.Ahead(func() { _, _ = tx.Calls.Get(r.ask.Session, r.ask.Call) })
		q := g.be.conditionsAhead(tx, r.ask.Session, "")
		if r.row, err = tx.Calls.Get(r.ask.Session, r.ask.Call); err != nil {
			return err
		}
		r.conditions, err = g.projects.readConditions(tx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(r.ask.Shown, &r.card); err != nil {
		return nil, umpire.Errorf("request %q: its card cannot be read: %w", a.Request, err)
	}
	if err := r.fits(); err != nil {
		return nil, err
	}
	if expired(&r.ask, g.be.now()) {
		if err := g.sessions.expire(ctx, &r.ask); err != nil {
			return nil, err
		}
		return nil, g.be.existingAnswer(ctx, a.Request)
	}
	if err := g.projects.completeConditions(r.conditions); err != nil {
		return nil, err
	}
	if r.again = r.card.TrialOffer == umpire.TrialAgain; r.again && a.Choice == umpire.Try {
		a.Choice, r.code = umpire.Approve, codeOf(umpire.Approve)
	}
	if r.again && a.Choice == umpire.Approve && a.Scope != umpire.ScopeOnce {
		return nil, invalid("scope", "network access for a command can be approved only once at a time")
	}
	r.revision = g.projects.revision(r.conditions)
	if a.Choice != umpire.Approve || r.card.Indeterminate {
		return r, nil
	}
	if leavesPlan(&r.conditions.session, r.card.Tool) {
		if r.depart, err = g.projects.prepareExit(ctx, r.conditions, r.card.Planned); err != nil {
			return nil, err
		}
	}
	return r, g.prepareGrants(r)
}

// prepareGrants works out the grants and rules of an approval. It decides the call again: a call
// that is critical or denied by now cannot be approved.
func (g *Gate) prepareGrants(r *resolution) error {
	call, err := g.be.exactCall(&r.row)
	if err != nil {
		return err
	}
	attended := *r.conditions // the person answering is there
	attended.Headless = false
	d := g.projects.decide(&attended, call)
	if r.card.Code == umpire.CodeChanged && d.ReasonCode != umpire.CodeControlFile {
		d.ReasonCode = r.card.Code // the approval reaches as far as the card says
	}
	if !r.answer.ExpiresAt.IsZero() && !r.answer.ExpiresAt.After(g.be.now()) {
		return invalid("expires_at", "is already in the past")
	}
	if d.Verdict == umpire.Deny && !r.conditions.Headless {
		return umpire.Errorf("request %q cannot be approved: %w: %w", r.ask.Request,
			catalogue.AsError(g.be.maskPhrase(d.Reason)), umpire.ErrState)
	}
	if err := g.checkRuleFits(r.conditions, r.answer, &call); err != nil {
		return err
	}
	if r.changed = g.be.changedSince(&r.card, &d); r.changed != "" {
		return nil
	}
	if r.task != "" { // its grants are there, and count their uses at the start
		if !r.byTask(&d) {
			return umpire.ErrState
		}
		return nil
	}
	if r.rules, err = g.be.lastingRules(r.answer, &call, &d); err != nil {
		return err
	}
	if r.again {
		r.grants, err = r.grantNetwork(g.be, &call, &d)
		return err
	}
	r.confirms = asksAboutWritten(&d)
	r.grants, err = g.be.grantsFor(&r.conditions.session, &r.conditions.settings, r.answer, &call, &d)
	return err
}

// decideAnswer stores the answer, and continues the batch if it was the last one.
func (t *transaction) decideAnswer(r *resolution) (umpire.Batch, error) {
	b, c, err := readCall(t.tx, t.session.ID, r.ask.Batch, r.ask.Call)
	if err == nil && r.answer.Choice == umpire.Cancel {
		*b, err = t.tx.Batches.Get(t.session.ID, b.ID) // all of its calls end
		c = b.Call(r.ask.Call)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	if c.Request != r.ask.Request || c.State != umpire.CallAsked && c.State != umpire.CallUnknown {
		return umpire.Batch{}, answeredError(t.tx, r.ask.Request)
	}
	if r.answer.Choice == umpire.Try {
		return *b, t.wantTrial(b, c, r)
	}
	lost := c.State == umpire.CallUnknown
	t.recordAnswer(r)
	if err := t.apply(b, r.event(), r.detail()); err != nil {
		return umpire.Batch{}, err
	}
	switch {
	case lost:
		err = t.settleLostCall(b, r)
	case r.answer.Choice == umpire.Approve:
		t.addGrants(r)
		if r.again {
			err = t.finishCall(b, c.ID, umpire.ResultCancelled, umpire.CodeTrial, againText)
		}
		if r.depart != nil {
			err = t.leavePlan(r.depart, umpire.Event{Batch: r.ask.Batch, Call: r.ask.Call, Request: r.ask.Request,
				Actor: r.answer.Actor})
		}
	default:
		err = t.refuseCall(b, r)
	}
	if err != nil {
		return umpire.Batch{}, err
	}
	if r.answer.Choice == umpire.Cancel {
		if err := t.cancelBatch(b, r.answer.Actor); err != nil {
			return umpire.Batch{}, err
		}
	}
	err = t.continueBatch(b)
	return *b, err
}

// cancelBatch stops the turn: waiting questions are denied, calls not yet started do not start, and
// the runner ends the running ones.
func (o *outcome) cancelBatch(b *umpire.Batch, actor string) error {
	if err := o.apply(b, umpire.Event{Kind: umpire.EventBatchCancelled, Actor: actor, Code: umpire.CodeCancelled},
		nil); err != nil {
		return err
	}
	return o.dropCalls(b, umpire.CodeCancelled, "")
}
