package gate

import (
	"cmp"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/store"
)

// An outcome collects the results of a decision: events, the rows that go with them, and the
// session they lead to. Its methods never touch the store, which keeps all rules about consequences
// here and out of transactions.
type outcome struct {
	secrets

	now     time.Time
	session umpire.Session
	writes  []func(*store.Tx) error // in the order that the constraints require
	quiet   bool                    // caused by a timer, not by activity in the session
	ran     bool                    // a call that ran got its result
	blocked *umpire.Blocked         // why the session is waiting, if it is
}

// addWrite adds a change of the store; it may run more than once.
func (o *outcome) addWrite(write func(*store.Tx) error) { o.writes = append(o.writes, write) }

// apply folds an event into a batch. The stored event includes the resulting state.
func (o *outcome) apply(b *umpire.Batch, e umpire.Event, detail batch.Detail) error {
	e.Batch = b.ID
	typed := batch.Event{Event: o.record(e, detail), Detail: detail}
	before, err := batch.ApplyTo(b, typed)
	if err != nil {
		return ifIllegal(err)
	}
	o.addWrite(func(tx *store.Tx) error {
		stored := before // the store may write this again
		return tx.Batches.Apply(&stored, typed)
	})
	return nil
}

// ifIllegal marks the error of an event that does not fit the state as a state error.
func ifIllegal(err error) error {
	if errors.Is(err, batch.ErrIllegal) {
		return umpire.Errorf("%w: %w", err, umpire.ErrState)
	}
	return err
}

// append adds an event that changes no batch to the timeline.
func (o *outcome) append(e umpire.Event, detail any) {
	e = o.record(e, detail)
	o.addWrite(func(tx *store.Tx) error { return tx.Events.Add(e) })
}

// record returns an event as stored on the timeline: with the session's common fields, its detail
// as JSON, and secrets masked.
func (o *outcome) record(e umpire.Event, detail any) umpire.Event {
	e.At, e.Project, e.Session = o.now, o.session.Project, o.session.ID
	e.Agent = cmp.Or(e.Agent, o.session.Agent)
	return o.secrets.record(e, detail)
}

// addBatch creates the batch and the consequences of its decisions.
func (o *outcome) addBatch(sub *submission) (*umpire.Batch, error) {
	o.addMessage("assistant", sub.Batch, sub.message)
	b, err := o.beginBatch(sub)
	if err != nil {
		return nil, err
	}
	for _, j := range sub.calls {
		o.addHookEvents(sub.Batch, &j.call, j.hooks)
		if err := o.addCall(b, j, &sub.conditions.settings); err != nil {
			return nil, err
		}
	}
	return b, o.continueBatch(b)
}

// beginBatch stores the batch as created by its first event.
func (o *outcome) beginBatch(sub *submission) (*umpire.Batch, error) {
	detail := batch.Submitted{Lane: sub.Lane, Turn: o.session.Turn}
	var rows []store.CallRow
	for i, j := range sub.calls {
		detail.Calls = append(detail.Calls, batch.Call{
			ID: j.call.ID, Tool: j.call.Tool, ArgsHash: j.hash, Background: j.call.Background, Effect: j.effect,
			State: j.state, Verdict: j.decision.Verdict, Reason: o.maskPhrase(j.decision.Reason),
			Code: j.decision.ReasonCode, Took: j.took.Microseconds(),
		})
		rows = append(rows, store.CallRow{
			Session: o.session.ID, Batch: sub.Batch, Ordinal: i, ID: j.call.ID, Tool: j.call.Tool, Input: j.input,
			ArgsHash: j.hash, Dir: j.call.Dir, Agent: j.call.Agent, Extra: j.extra, Effect: j.effect,
			Turn: o.session.Turn, Background: j.call.Background,
		})
	}
	e := o.record(umpire.Event{Kind: umpire.EventBatchSubmitted, Batch: sub.Batch}, detail)
	submitted := batch.Event{Event: e, Detail: detail}
	b, err := batch.Apply(umpire.Batch{}, submitted)
	o.addWrite(func(tx *store.Tx) error {
		_, err := tx.Batches.Submit(submitted, rows)
		return err
	})
	return &b, ifIllegal(err)
}

// addCall stores the consequences of the decision on one call.
func (o *outcome) addCall(b *umpire.Batch, j *judged, settings *config.Settings) error {
	switch {
	case j.question != nil:
		return o.addAskedCall(b, j)
	case j.state == umpire.CallDenied:
		code, reason := j.decision.ReasonCode, j.decision.Reason
		if j.denied != nil {
			code, reason = umpire.CodeDenied, j.denied.Reason
		}
		if code == umpire.CodeAutoDeny {
			o.countDenial(settings)
		}
		return o.denyCall(b, j, code, reason)
	case j.decision.Verdict == umpire.Ask:
		return nil // it is tried when its turn comes
	case j.decision.ReasonCode == umpire.CodeSafe && lifting(&j.decision) == nil:
		return nil // its start and result events suffice
	}
	o.session.DenialsInRow = 0
	o.append(o.bypassEvent(b.ID, j), nil)
	return nil
}

// addAskedCall stores a call's question, and refuses it at once if the session is unattended.
func (o *outcome) addAskedCall(b *umpire.Batch, j *judged) error {
	q := *j.question
	if err := o.putQuestion(b, &q, umpire.EventPermissionAsked); err != nil {
		return err
	}
	if !j.unasked {
		return nil
	}
	return o.refuseQuestion(b, b.Call(j.call.ID), umpire.CodeAutoDeny, j.decision.Reason)
}

// putQuestion stores a question with its event.
func (o *outcome) putQuestion(b *umpire.Batch, q *question, kind umpire.EventKind) error {
	card := &q.card
	card.Version = b.Call(card.Call).Round + 1
	row := q.row
	row.Round, row.Shown = card.Version, data(card)
	o.addWrite(func(tx *store.Tx) error { return tx.Asks.Insert(row) })
	o.blocked = &umpire.Blocked{Code: card.Code, Detail: card.Reason}
	e := umpire.Event{
		Kind: kind, Call: card.Call, Request: card.Request, Agent: card.Agent, Tool: card.Tool,
		State: umpire.StateWaiting, Type: card.Type, Risk: card.Risk, Verdict: new(umpire.Ask), Reason: card.Reason,
		Code: card.Code, Accesses: card.Accesses, Blocked: o.blocked,
	}
	return o.apply(b, e, batch.Asked{
		Version: card.Version, Input: card.Input, Paths: card.Paths, CommandSignature: card.CommandSignature,
		Position: card.Position, Total: card.Total, Warning: card.Warning,
	})
}

// bypassEvent returns the event of a call that a rule, a grant or a mode let through.
func (o *outcome) bypassEvent(id umpire.BatchID, j *judged) umpire.Event {
	e := o.decisionEvent(umpire.EventPermissionBypassedByRule, j)
	e.Batch, e.Call, e.Tool, e.Agent = id, j.call.ID, j.call.Tool, j.call.Agent
	e.State = umpire.StateAllowed
	if r := lifting(&j.decision); r != nil && j.decision.ReasonCode == umpire.CodeSafe {
		e.Reason, e.Code = r.Text, r.Code
		if r.Rule != nil {
			e.Rule = r.Rule.ID
		}
	}
	return e
}

// lifting returns the rule or grant that lets a safe call leave the project, or nil.
func lifting(d *umpire.Decision) *umpire.Reason {
	for i := range d.Reasons {
		r := &d.Reasons[i]
		if r.Access < 0 || d.Accesses[r.Access].Place != umpire.PlaceOutside || r.Verdict != umpire.Allow {
			continue
		}
		switch r.Code {
		case umpire.CodeRule, umpire.CodeOnce, umpire.CodeSession, umpire.CodeRemembered:
			return r
		}
	}
	return nil
}

// decisionEvent returns an event about a decision.
func (o *outcome) decisionEvent(kind umpire.EventKind, j *judged) umpire.Event {
	d := &j.decision
	e := umpire.Event{
		Kind: kind, Type: d.Type, Risk: d.Risk.Level(), Verdict: new(d.Verdict), Reason: d.Reason, Code: d.ReasonCode,
		Accesses: o.shownAccesses(j),
	}
	if d.Rule != nil {
		e.Rule = d.Rule.ID
	}
	return e
}

// denyCall refuses a call without a question.
func (o *outcome) denyCall(b *umpire.Batch, j *judged, code umpire.ReasonCode, reason umpire.Phrase) error {
	c := b.Call(j.call.ID)
	e := o.decisionEvent(umpire.EventPermissionRejected, j)
	var detail batch.Detail
	if code == umpire.CodePlan {
		detail = batch.Answered{Files: j.before}
	}
	e.Call, e.Tool, e.State, e.Verdict = c.ID, c.Tool, umpire.StateDenied, new(umpire.Deny)
	e.Code, e.Reason, e.Blocked = code, reason, &umpire.Blocked{Code: code, Detail: reason}
	if err := o.apply(b, e, detail); err != nil {
		return err
	}
	o.session.Permission = umpire.StateDenied
	o.session.Blocked = &umpire.Blocked{Code: code, Detail: o.maskPhrase(reason)}
	text := denialText(c.Tool, c.ID, code, reason)
	if results := fileResults(j); results != "" {
		text = results
	}
	return o.finishCall(b, c.ID, statusOf(code), code, text)
}

// gateActor is the actor of answers not given by a person.
const gateActor = "gate"

// refuseQuestion answers a question without a person: the session is unattended, the deadline has
// passed, the turn was stopped, or the session has ended.
func (o *outcome) refuseQuestion(
	b *umpire.Batch, c *umpire.BatchCall, code umpire.ReasonCode, reason umpire.Phrase,
) error {
	o.recordRefusal(c, code, reason)
	e := umpire.Event{
		Kind: umpire.EventPermissionRejected, Call: c.ID, Request: c.Request, Tool: c.Tool, State: umpire.StateDenied,
		Verdict: new(umpire.Deny), Reason: reason, Code: code, Actor: gateActor,
		Blocked: &umpire.Blocked{Code: code, Detail: reason},
	}
	if err := o.apply(b, e, nil); err != nil {
		return err
	}
	return o.finishCall(b, c.ID, statusOf(code), code, denialText(c.Tool, c.ID, code, reason))
}

// recordRefusal stores the gate's own answer to a call's question.
func (o *outcome) recordRefusal(c *umpire.BatchCall, code umpire.ReasonCode, reason umpire.Phrase) {
	row := store.AnswerRow{
		Standing: umpire.Standing{
			Request: c.Request, Choice: umpire.Refuse, Reason: o.maskPhrase(reason), Code: code, Actor: gateActor,
			At: o.now,
		},
		ArgsHash: c.ArgsHash, Channel: gateActor,
	}
	o.addWrite(func(tx *store.Tx) error { return tx.Answers.Insert(row) })
}

// abandonQuestion ends a call whose outcome question will not be answered any more.
func (o *outcome) abandonQuestion(b *umpire.Batch, c *umpire.BatchCall) error {
	o.recordRefusal(c, umpire.CodeCancelled, "")
	e := umpire.Event{
		Kind: umpire.EventPermissionRejected, Call: c.ID, Request: c.Request, Tool: c.Tool, Code: umpire.CodeCancelled,
		Actor: gateActor,
	}
	if err := o.apply(b, e, nil); err != nil {
		return err
	}
	return o.finishCall(b, c.ID, umpire.ResultIndeterminate, umpire.CodeCancelled,
		fillIn(unknownText, c.Tool, c.ID, ""))
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

// keepTrial records that the effects of a call's trial are real.
func (o *outcome) keepTrial(b *umpire.Batch, c *umpire.BatchCall, digest string) error {
	e := umpire.Event{Kind: umpire.EventEffectsKept, Call: c.ID, Tool: c.Tool}
	return o.apply(b, e, batch.Tried{Trial: c.Trial, Digest: digest})
}

// discardTrial records that the effects of a call's trial are discarded.
func (o *outcome) discardTrial(b *umpire.Batch, c *umpire.BatchCall, why umpire.Phrase) error {
	e := umpire.Event{Kind: umpire.EventEffectsDiscarded, Call: c.ID, Tool: c.Tool, Reason: why}
	return o.apply(b, e, batch.Tried{Trial: c.Trial})
}

// countDenial counts a refusal in auto mode, and adds a notice once the count makes the mode ask
// from now on.
func (o *outcome) countDenial(settings *config.Settings) {
	if o.session.Mode != umpire.ModeAuto {
		return
	}
	before := degraded(&o.session, settings)
	o.session.Denials++
	o.session.DenialsInRow++
	if before || !degraded(&o.session, settings) {
		return
	}
	o.addNotice(umpire.Say("Auto mode asks from now on: %s refusals in a row, %s in all.", o.session.DenialsInRow,
		o.session.Denials))
}

// finishCall stores a result given by the gate itself.
func (o *outcome) finishCall(
	b *umpire.Batch, id umpire.CallID, status umpire.ResultStatus, code umpire.ReasonCode, text string,
) error {
	sealed, err := o.sealText(resultLabel(o.session.ID, id), text)
	if err != nil {
		return err
	}
	return o.finishCallSealed(b, &umpire.Result{Call: id, Status: status, Code: code}, sealed)
}

// maxShown bounds the part of an output on the timeline.
const maxShown = 2000

// finishCallSealed stores a call's result with its sealed output.
func (o *outcome) finishCallSealed(b *umpire.Batch, r *umpire.Result, output store.Sealed) error {
	c := b.Call(r.Call)
	if r.Status != umpire.ResultOK && r.Status != umpire.ResultIndeterminate &&
		(c.TrialState == umpire.TrialRunning || c.TrialState == umpire.TrialWaiting) {
		if err := o.discardTrial(b, c, ""); err != nil {
			return err
		}
		c = b.Call(r.Call)
	}
	e := umpire.Event{
		Kind: umpire.EventCallFinished, Call: c.ID, Request: c.Request, Tool: c.Tool, Code: r.Code,
		State: umpire.StateAllowed,
	}
	if c.Attempt == 0 {
		e.State = umpire.StateDenied
	}
	detail := batch.Finished{
		Status: r.Status, Output: files.ClipTo(output.Shown, maxShown, ""), Size: len(output.Shown),
		Reached: r.Reached[:min(len(r.Reached), maxListedPaths)],
		Refused: r.Refused[:min(len(r.Refused), maxListedPaths)],
	}
	if err := o.apply(b, e, detail); err != nil {
		return err
	}
	// The caller gets this batch with the result as it will be stored.
	result := b.Call(r.Call).Result
	result.Output, result.At = output.Shown, o.now
	row := store.ResultRow{
		Session: o.session.ID, Call: r.Call, Status: r.Status, Code: r.Code, Output: output, At: o.now,
	}
	o.addWrite(func(tx *store.Tx) error { return tx.Results.Insert(row) })
	return nil
}

// continueBatch continues a batch as far as its calls permit: it resumes when no call waits, and
// finishes when every call has its result.
func (o *outcome) continueBatch(b *umpire.Batch) error {
	if b.State == umpire.BatchWaiting && b.Waiting() == 0 && !b.Cancelled {
		resumed := batch.Resumed{Epoch: b.Resumes + 1}
		if err := o.apply(b, umpire.Event{Kind: umpire.EventBatchResumed}, resumed); err != nil {
			return err
		}
	}
	open := b.State == umpire.BatchRunning || b.State == umpire.BatchWaiting && b.Cancelled
	if !open || b.Next() != nil {
		return nil
	}
	if err := o.apply(b, umpire.Event{Kind: umpire.EventBatchFinished}, nil); err != nil || !o.session.External {
		return err
	}
	// Such an agent already has its results: it ran the calls, or got the refusal.
	return o.deliverBatch(b)
}

// deliverBatch marks a batch's results as received.
func (o *outcome) deliverBatch(b *umpire.Batch) error {
	session, id, epoch, now := o.session.ID, b.ID, o.session.Epoch, o.now
	o.addWrite(func(tx *store.Tx) error { return tx.Resumes.Complete(session, id, epoch, now) })
	return o.apply(b, umpire.Event{Kind: umpire.EventBatchDelivered}, nil)
}

// addMessage appends a message to the conversation; it ignores an empty one.
func (o *outcome) addMessage(role string, id umpire.BatchID, content store.Sealed) {
	if content.Shown == "" {
		return
	}
	session, row := o.session.ID, store.MessageRow{Role: role, Batch: id, Content: content, At: o.now}
	o.addWrite(func(tx *store.Tx) error { return tx.Messages.Append(session, row) })
	if role == roleAssistant {
		o.append(umpire.Event{Kind: umpire.EventModelReplied, Batch: id}, nil)
	}
}

// addNotice adds a notice for people to the timeline.
func (o *outcome) addNotice(said umpire.Phrase) {
	o.append(umpire.Event{Kind: umpire.EventNotice, Reason: said}, nil)
}

// addHookEvents records the hooks' verdicts on a call.
func (o *outcome) addHookEvents(b umpire.BatchID, call *umpire.Call, all []userhook.Ran) {
	for i := range all {
		e, detail := all[i].Recorded(b, call)
		o.append(e, detail)
	}
}
