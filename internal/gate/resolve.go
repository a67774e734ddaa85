package gate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
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

func checkAnswer(a *umpire.Answer) error {
	switch {
	case a.Request == "":
		return invalid("request_id", "is missing")
	case a.ArgsHash == "":
		return invalid("args_hash", "is missing: an answer must name the arguments that were shown")
	case a.Choice.UnmarshalText([]byte(a.Choice)) != nil:
		return invalid("answer", "want approve, deny, cancel or try, got %q", a.Choice)
	case a.Scope > umpire.ScopeGlobal:
		return invalid("scope", "want once, session, project or global")
	case len(a.Reason) > maxReason:
		return invalid("reason", "longer than %d bytes", maxReason)
	case a.Rule != "" && (a.Choice != umpire.Approve || a.Scope == umpire.ScopeOnce):
		return invalid("rule", "can be used only with an approval for longer than once")
	case a.Width != "" && (a.Choice != umpire.Approve || a.Scope == umpire.ScopeOnce):
		return invalid("width", "can be used only with an approval for longer than once")
	case a.Width != "" && a.Rule != "":
		return invalid("width", "cannot be used with a rule, which sets its own width")
	case !a.ExpiresAt.IsZero() && (a.Choice != umpire.Approve || a.Scope == umpire.ScopeOnce):
		return invalid("expires_at", "can be used only with an approval for longer than once")
	}
	return nil
}

// A resolution is an answer with all its consequences.
type resolution struct {
	answer     *umpire.Answer
	task       string // the task that gives the answer; "" for a person's own
	ask        store.AskRow
	card       umpire.Pending
	call       umpire.Call
	conditions *conditions
	// revision is the revision of the rules at the time of the answer.
	revision string
	grants   []store.GrantRow
	rules    []umpire.Rule // to be written by the answer
	code     umpire.ReasonCode
	// confirms is set if the answer approves code that the agent changed.
	confirms bool
	depart   *planExit // from plan mode; nil if the session stays in it
	again    bool      // the answer is only about network access, for when the agent runs the call again
	row      store.CallRow
	changed  string // the difference from the card; "" if nothing changed
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

// fits rejects an answer that does not match the question.
func (r *resolution) fits() error {
	switch {
	case r.answer.ArgsHash == "":
		return invalid("args_hash", "is missing")
	case r.answer.ArgsHash != r.ask.ArgsHash:
		return umpire.Errorf("args_hash does not match the arguments of request %q: %w", r.ask.Request,
			umpire.ErrChanged)
	case r.answer.ShownDigest == "":
		return umpire.Errorf("shown_digest is missing: an answer must name the card of request %q: %w", r.ask.Request,
			umpire.ErrChanged)
	case r.answer.ShownDigest != r.ask.ShownDigest:
		return umpire.Errorf("shown_digest does not match the card of request %q: %w",
			r.ask.Request, umpire.ErrChanged)
	case r.answer.Version != 0 && r.answer.Version != r.ask.Round:
		return invalid("version", "is %d, but request %q is at %d", r.answer.Version, r.ask.Request, r.ask.Round)
	}
	return nil
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
		r.grants, err = r.grantNetwork(g, &call, &d)
		return err
	}
	r.call, r.confirms = call, asksAboutWritten(&d)
	r.grants, err = g.be.grantsFor(&r.conditions.session, &r.conditions.settings, r.answer, &call, &d)
	return err
}

// exactCall returns a call with its exact original input.
func (sec secrets) exactCall(row *store.CallRow) (umpire.Call, error) {
	input, err := sec.unseal(callLabel(row.Session, row.ID), row.Input)
	if err != nil {
		return umpire.Call{}, err
	}
	return umpire.Call{
		ID: row.ID, Tool: row.Tool, Input: json.RawMessage(input), Dir: row.Dir, Agent: row.Agent,
		Session: row.Session, Batch: row.Batch, Background: row.Background,
	}, nil
}

func codeOf(c umpire.Choice) umpire.ReasonCode {
	switch c {
	case umpire.Approve:
		return umpire.CodeOnce
	case umpire.Refuse:
		return umpire.CodeDenied
	case umpire.Cancel:
		return umpire.CodeCancelled
	case umpire.Try:
	}
	return umpire.CodeInvalid
}

// answeredError returns the error for a late answer.
func answeredError(tx *store.Tx, id umpire.RequestID) error {
	row, err := tx.Answers.Get(id)
	if errors.Is(err, umpire.ErrNotFound) {
		return umpire.Errorf("request %q was replaced by a new one, because the call has changed since: "+
			"%w", id, umpire.ErrChanged)
	}
	if err != nil {
		return umpire.Errorf("request %q: %w", id, err)
	}
	return &umpire.ResolvedError{Standing: row.Standing}
}

// existingAnswer returns the first answer, as an error.
func (be *backend) existingAnswer(ctx context.Context, id umpire.RequestID) error {
	return be.viewForChange(ctx, func(tx *store.Tx) error { return answeredError(tx, id) })
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

// recordAnswer stores the answer itself; there can be only one.
func (o *outcome) recordAnswer(r *resolution) {
	a := r.answer
	row := store.AnswerRow{
		Standing: umpire.Standing{
			Request: a.Request, Choice: a.Choice, Scope: a.Scope, Reason: umpire.Verbatim(o.maskText(a.Reason)),
			Code: r.code, Actor: a.Actor, At: o.now,
		},
		ArgsHash: a.ArgsHash, Channel: a.Channel, PolicyRevision: r.revision,
	}
	o.addWrite(func(tx *store.Tx) error { return tx.Answers.Insert(row) })
}

// event returns the event of the answer.
func (r *resolution) event() umpire.Event {
	e := umpire.Event{
		Kind: umpire.EventPermissionApproved, Call: r.ask.Call, Request: r.ask.Request, Agent: r.card.Agent,
		Tool: r.card.Tool, State: umpire.StateAllowed, Type: r.card.Type, Risk: r.card.Risk, Verdict: new(umpire.Allow),
		Reason: umpire.Verbatim(r.answer.Reason), Code: r.code, Scope: new(r.answer.Scope), Actor: r.answer.Actor,
		Accesses: r.card.Accesses,
	}
	if r.answer.Choice != umpire.Approve {
		e.Kind, e.State, e.Verdict, e.Scope = umpire.EventPermissionRejected, umpire.StateDenied, new(umpire.Deny), nil
		e.Blocked = &umpire.Blocked{Code: r.code, Detail: umpire.Verbatim(r.answer.Reason)}
	}
	return e
}

// detail returns the name of the person who answered, if known.
func (r *resolution) detail() batch.Detail {
	if r.answer.By == (umpire.Actor{}) {
		return nil
	}
	return batch.Answered{By: r.answer.By}
}

// addGrants stores the grants of an approval.
func (o *outcome) addGrants(r *resolution) {
	o.session.DenialsInRow = 0
	o.session.Permission, o.session.Blocked = umpire.StateAllowed, nil
	for _, row := range r.grants {
		o.addWrite(func(tx *store.Tx) error { return tx.Grants.Insert(row) })
		status := o.grantStatus(&row)
		o.append(umpire.Event{
			Kind: umpire.EventGrantCreated, Batch: r.ask.Batch, Call: r.ask.Call, Request: r.ask.Request,
			Tool: row.Grant.Tool, Scope: new(row.Scope), Actor: r.answer.Actor,
		}, grantDetail(&status))
	}
}

// refuseCall stores the result of a call that a person denied.
func (o *outcome) refuseCall(b *umpire.Batch, r *resolution) error {
	o.session.Permission = umpire.StateDenied
	o.session.Blocked = &umpire.Blocked{Code: r.code, Detail: umpire.Verbatim(o.maskText(r.answer.Reason))}
	if r.code == umpire.CodeDenied {
		o.countDenial(&r.conditions.settings)
	}
	c := b.Call(r.ask.Call)
	text := denialText(c.Tool, c.ID, r.code, umpire.Verbatim(r.answer.Reason))
	return o.finishCall(b, c.ID, statusOf(r.code), r.code, text)
}

// settleLostCall stores the result of a call of unknown outcome, as reported by a person.
func (o *outcome) settleLostCall(b *umpire.Batch, r *resolution) error {
	c := b.Call(r.ask.Call)
	status, text := umpire.ResultError, settledNotText
	if r.answer.Choice == umpire.Approve {
		status, text = umpire.ResultOK, settledDoneText
		if c.TrialState == umpire.TrialWaiting {
			if err := keepTrial(o, b, c, ""); err != nil {
				return err
			}
		}
	}
	return o.finishCall(b, c.ID, status, "", fillIn(text, c.Tool, c.ID, r.answer.Reason))
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

// dropCalls ends every call of the batch that has not started.
func (o *outcome) dropCalls(b *umpire.Batch, code umpire.ReasonCode, reason umpire.Phrase) error {
	for _, c := range b.Calls {
		var err error
		switch c.State {
		case umpire.CallAsked:
			err = o.refuseQuestion(b, &c, code, reason)
		case umpire.CallApproved:
			err = o.finishCall(b, c.ID, umpire.ResultCancelled, umpire.CodeCancelled,
				denialText(c.Tool, c.ID, umpire.CodeCancelled, ""))
		case umpire.CallUnknown:
			err = o.abandonQuestion(b, &c)
		case umpire.CallDenied, umpire.CallSettled, umpire.CallExecuting, umpire.CallDone:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Asking returns the sessions with waiting questions, of one project or of all.
func (g *Gate) Asking(ctx context.Context, project umpire.ProjectID) ([]umpire.SessionID, error) {
	return readIn(ctx, g.be.view, func(tx *store.Tx) ([]umpire.SessionID, error) {
		return tx.Asks.ListSessions(project)
	})
}

// Pending returns the questions that wait for a person, the oldest first. It omits a call that is
// tried first, while its trial runs.
func (g *Gate) Pending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	if q.Coverage != "" {
		return listCovered(ctx, g, &q)
	}
	cards := []umpire.Pending{}
	err := g.be.view(ctx, func(tx *store.Tx) error {
		cards = cards[:0]
		if q.After != "" {
			if _, err := tx.Asks.Get(q.After); err != nil {
				return umpire.Errorf("request %q: %w", q.After, err)
			}
		}
		ask := store.AskQuery{Project: q.Project, Session: q.Session, After: q.After, Limit: q.Limit}
		for {
			rows, err := tx.Asks.List(ask)
			if err != nil {
				return err
			}
			if cards, err = appendCards(tx, cards, rows, g.be.now()); err != nil {
				return err
			}
			if len(rows) == 0 || len(rows) != ask.Limit || len(cards) == q.Limit {
				return nil
			}
			// Hidden cards leave room on the page for more.
			ask.After, ask.Limit = rows[len(rows)-1].Request, q.Limit-len(cards)
		}
	})
	return cards, err
}

// appendCards adds the cards of the questions that people may see.
func appendCards(tx *store.Tx, cards []umpire.Pending, rows []store.AskRow, now time.Time) ([]umpire.Pending, error) {
	for i := range rows {
		if expired(&rows[i], now) {
			continue
		}
		var card umpire.Pending
		if err := json.Unmarshal(rows[i].Shown, &card); err != nil {
			return nil, umpire.Errorf("request %q: its card cannot be read: %w", rows[i].Request, err)
		}
		tried, err := isTried(tx, &card)
		if err != nil {
			return nil, err
		}
		if !tried {
			cards = append(cards, card)
		}
	}
	return cards, nil
}
