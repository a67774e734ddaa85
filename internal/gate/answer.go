package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// A resolution is an answer with all its consequences.
type resolution struct {
	answer     *umpire.Answer
	task       string // the task that gives the answer; "" for a person's own
	ask        store.AskRow
	card       umpire.Pending
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

// byTask reports whether a decision allows a call by the grants of a task.
func (r *resolution) byTask(d *umpire.Decision) bool {
	return d.Verdict == umpire.Allow && slices.ContainsFunc(d.Reasons, func(why umpire.Reason) bool {
		return strings.HasPrefix(why.Grant, r.task+".")
	})
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
			if err := o.keepTrial(b, c, ""); err != nil {
				return err
			}
		}
	}
	return o.finishCall(b, c.ID, status, "", fillIn(text, c.Tool, c.ID, r.answer.Reason))
}
