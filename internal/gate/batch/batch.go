// Package batch is the state machine of approvals, as a fold over typed events:
//
//	next, err := batch.Apply(b, event)
//
// Apply is pure: it uses only its arguments and changes nothing. It returns an error that
// matches [ErrIllegal] if an event does not fit the state. Folding a batch's events from
// the zero value gives the current batch, except for the inputs of its calls, which
// events do not carry.
//
// [callTransitions], [batchTransitions] and [TrialTransitions] define the machine;
// docs/batch.md draws it.
package batch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// ErrIllegal is matched by the errors of illegal events.
var ErrIllegal = errors.New("illegal transition")

// Apply returns the batch after an event. It ignores events of kinds that do not affect a
// batch's state.
func Apply(b umpire.Batch, e Event) (umpire.Batch, error) {
	if !movesBatch(e.Kind) {
		return b, nil
	}
	submits := e.Kind == umpire.EventBatchSubmitted
	if (b.State == "") != submits || !submits && (e.Batch != b.ID || e.Session != b.Session) {
		return b, illegal(&b, &e, "the event is not about this batch")
	}
	if submits {
		return submit(&e)
	}
	next := b
	next.Calls = slices.Clone(b.Calls)
	to, why := findPath(&next, &e.Event)
	if why == "" {
		why = note(&next, to.call, &e)
	}
	if why != "" {
		return b, illegal(&b, &e, why)
	}
	next.State = to.batchTo
	if to.call != nil {
		to.call.State, to.call.TrialState = to.callTo, to.trialTo
		if ends(to.trialTo) {
			to.call.Trial, to.call.TrialState = "", ""
		}
	}
	return next, nil
}

// Around returns a copy of a batch with only the calls that an event about one call, or
// about the batch, depends on: see umpire.Batch.Total. A call that has the event's
// question is included, because a new question must not belong to another call.
func Around(b *umpire.Batch, call umpire.CallID, question umpire.RequestID) umpire.Batch {
	part := *b
	if len(b.Calls) <= umpire.WholeBatch {
		part.Calls = slices.Clone(b.Calls)
		return part
	}
	part.Calls, part.Total = nil, b.Size()
	open, waiting := 0, 0
	for i := range b.Calls {
		c := &b.Calls[i]
		wanted := c.ID == call || question != "" && c.Request == question
		if c.State != umpire.CallDone {
			open++
			wanted = wanted || open <= 2
		}
		if c.State == umpire.CallAsked || c.State == umpire.CallUnknown {
			waiting++
			wanted = wanted || waiting <= 2
		}
		if wanted {
			part.Calls = append(part.Calls, *c)
		}
	}
	return part
}

// ApplyTo folds an event into a batch like Apply, but changes the batch itself, because
// copying many calls makes Apply slow. It returns the part of the previous batch that
// decides whether the event fits.
func ApplyTo(b *umpire.Batch, e Event) (before umpire.Batch, err error) {
	before = Around(b, e.Call, e.Request)
	after, err := Apply(before, e)
	if err != nil {
		return before, err
	}
	b.State, b.Resumes, b.Cancelled = after.State, after.Resumes, after.Cancelled
	if c := b.Call(e.Call); c != nil {
		*c = *after.Call(e.Call)
	}
	return before, nil
}

// A path is the destination of an event according to the tables.
type path struct {
	call    *umpire.BatchCall // nil for an event about the whole batch
	callTo  umpire.CallState
	trialTo umpire.TrialState // "" if no trial is open
	batchTo umpire.BatchState
}

// findPath looks an event up in the tables, or returns why it is illegal.
func findPath(b *umpire.Batch, e *umpire.Event) (p path, why string) {
	ofCall, ofTrial := listed(callTransitions, e.Kind), listed(TrialTransitions, e.Kind)
	var known, legal bool
	if ofCall || ofTrial {
		if p.call = b.Call(e.Call); p.call == nil {
			return p, "there is no such call"
		}
		if p.callTo, _, legal = follow(callTransitions, p.call.State, e, b.Cancelled); ofCall && !legal {
			return p, "the call is " + string(p.call.State)
		}
		if p.trialTo, _, legal = follow(TrialTransitions, p.call.TrialState, e, b.Cancelled); ofTrial && !legal {
			return p, fmt.Sprintf("the trial is %q", p.call.TrialState)
		}
	}
	if p.batchTo, known, legal = follow(batchTransitions, b.State, e, b.Cancelled); known && !legal {
		return p, "the batch is " + string(b.State)
	}
	return p, ""
}

// NextTrialState returns the state of a trial after an event. An illegal event does not
// change the state.
func NextTrialState(from umpire.TrialState, e *umpire.Event) umpire.TrialState {
	to, _, _ := follow(TrialTransitions, from, e, false)
	return to
}

// ends reports whether a trial's state is final; the call then has no open trial.
func ends(state umpire.TrialState) bool {
	return !slices.ContainsFunc(TrialTransitions, func(t Transition[umpire.TrialState]) bool { return t.From == state })
}

// movesBatch reports whether the tables contain events of a kind.
func movesBatch(kind umpire.EventKind) bool {
	return listed(batchTransitions, kind) || listed(callTransitions, kind) || listed(TrialTransitions, kind)
}

func listed[State ~string](table []Transition[State], kind umpire.EventKind) bool {
	return slices.ContainsFunc(table, func(t Transition[State]) bool { return t.On == kind })
}

// note checks conditions outside the tables, and stores the event's data other than
// states. It returns why the event does not fit, or "".
func note(b *umpire.Batch, c *umpire.BatchCall, e *Event) (why string) {
	switch e.Kind {
	case umpire.EventPermissionAsked:
		return ask(b, c, e)
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		return answer(c, e)
	case umpire.EventBatchResumed:
		return resume(b, e)
	case umpire.EventCallStarted:
		return start(b, c, e)
	case umpire.EventCallFinished:
		return finish(b, c, e)
	case umpire.EventCallIndeterminate:
		return lose(b, c, e)
	case umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventEffectsKept, umpire.EventEffectsDiscarded,
		umpire.EventEffectsConflicted:
		return try(b, c, e)
	case umpire.EventBatchCancelled:
		return cancel(b)
	case umpire.EventBatchFinished:
		return end(b)
	}
	return ""
}

func illegal(b *umpire.Batch, e *Event, why string) error {
	where := fmt.Sprintf("batch %q (%s)", e.Batch, b.State)
	if e.Call != "" {
		where += fmt.Sprintf(", call %q", e.Call)
	}
	return umpire.Errorf("%s: %s: %s: %w", e.Kind, where, why, ErrIllegal)
}

// submit makes the batch. It waits if one of its calls is asked.
func submit(e *Event) (umpire.Batch, error) {
	d, _ := e.Detail.(Submitted)
	refuse := func(format string, args ...any) (umpire.Batch, error) {
		return umpire.Batch{}, illegal(&umpire.Batch{}, e, fmt.Sprintf(format, args...))
	}
	if len(d.Calls) == 0 || e.Batch == "" {
		return refuse("a batch has an id and at least one call")
	}
	b := umpire.Batch{ID: e.Batch, Session: e.Session, Lane: d.Lane, State: umpire.BatchRunning}
	for _, c := range d.Calls {
		if b.Call(c.ID) != nil || c.ID == "" {
			return refuse("call id %q is empty or a duplicate", c.ID)
		}
		begins := func(t Transition[umpire.CallState]) bool { return t.From == "" && t.To == c.State }
		if !slices.ContainsFunc(callTransitions, begins) {
			return refuse("no call begins as %q", c.State)
		}
		if c.State == umpire.CallAsked {
			b.State = umpire.BatchWaiting
		}
		b.Calls = append(b.Calls, umpire.BatchCall{
			ID: c.ID, Tool: c.Tool, ArgsHash: c.ArgsHash, Background: c.Background, Effect: c.Effect, State: c.State,
			Verdict: c.Verdict, Reason: c.Reason, Code: c.Code,
		})
	}
	return b, nil
}

// ask sets the question of an asked call. An approved call is asked again after a new
// decision, and the batch waits again. A new question replaces a pending one if the
// call's effect has changed.
func ask(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	first := c.State == umpire.CallAsked && c.Request == ""
	again := c.State == umpire.CallApproved && b.State == umpire.BatchRunning
	replaced := c.State == umpire.CallAsked && b.State == umpire.BatchWaiting
	if !first && (b.Cancelled || !again && !replaced) {
		return "the call is not to be asked about now"
	}
	c.Verdict, c.Reason, c.Code = umpire.Ask, e.Reason, e.Code
	return putQuestion(b, c, e)
}

// putQuestion gives a call its next question. Every question is new, because an answer to
// one must never count for another.
func putQuestion(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	for i := range b.Calls {
		if b.Calls[i].Request == e.Request {
			return fmt.Sprintf("question %q is not new", e.Request)
		}
	}
	c.Request = e.Request
	c.Round++
	return ""
}

// answer approves or denies a call: through the answer to its question, or without one because a
// later decision denies it. For a call that may have run, it only records the outcome.
func answer(c *umpire.BatchCall, e *Event) string {
	if e.Request != "" && c.Request != e.Request {
		return "it answers another question"
	}
	c.Verdict, c.Reason, c.Code = umpire.Deny, e.Reason, e.Code
	if e.Kind == umpire.EventPermissionApproved {
		c.Verdict = umpire.Allow
	}
	return ""
}

// resume lets the calls run once every question has an answer.
func resume(b *umpire.Batch, e *Event) string {
	d, _ := e.Detail.(Resumed)
	switch {
	case b.Cancelled:
		return "the batch is cancelled"
	case b.Waiting() > 0:
		return fmt.Sprintf("%d calls wait for an answer", b.Waiting())
	case d.Epoch != b.Resumes+1:
		return fmt.Sprintf("resume %d comes after %d", d.Epoch, b.Resumes)
	}
	b.Resumes++
	return ""
}

// start starts a call, which must be the first one without a result. A repeatable call
// may start again after a crash.
func start(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	d, _ := e.Detail.(Started)
	switch {
	case b.Cancelled:
		return "the batch is cancelled"
	case b.Next() != c:
		return "an earlier call has no result yet"
	case c.TrialState == umpire.TrialRunning:
		return "a trial of the call runs"
	case d.Attempt != c.Attempt+1:
		return fmt.Sprintf("attempt %d comes after %d", d.Attempt, c.Attempt)
	case c.State == umpire.CallExecuting && !c.Effect.Repeatable():
		return "the call may have run, and is not repeatable"
	}
	c.Verdict = umpire.Allow
	c.Attempt++
	return ""
}

// finish gives a call its result. A call that never started cannot have succeeded.
func finish(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	d, _ := e.Detail.(Finished)
	switch d.Status {
	case umpire.ResultOK:
		if c.State == umpire.CallApproved || c.State == umpire.CallDenied {
			return "the call never ran"
		}
	case umpire.ResultError, umpire.ResultDenied, umpire.ResultCancelled, umpire.ResultTimeout,
		umpire.ResultIndeterminate:
	default:
		return fmt.Sprintf("unknown result status %q", d.Status)
	}
	unsettled := c.TrialState == umpire.TrialRunning || c.TrialState == umpire.TrialWaiting
	if unsettled && d.Status != umpire.ResultIndeterminate {
		return "the effects of its trial are neither kept nor discarded"
	}
	c.Result = &umpire.Result{Call: c.ID, Session: b.Session, Batch: b.ID, Status: d.Status, Code: e.Code}
	return ""
}

// lose records that it is unknown whether a started call ran. If the agent runs its calls
// itself, there is no question: the result reports the outcome.
func lose(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	c.Reason, c.Code = e.Reason, e.Code
	if e.Request == "" {
		return ""
	}
	return putQuestion(b, c, e)
}

// try advances a trial of a call. A trial is not an execution: it runs while the call is
// asked, and its effects become real only after the call has started.
func try(b *umpire.Batch, c *umpire.BatchCall, e *Event) string {
	d, _ := e.Detail.(Tried)
	begins := e.Kind == umpire.EventTrialStarted
	switch {
	case d.Trial == "" || !begins && d.Trial != c.Trial:
		return "it is about another trial"
	case begins && (b.Cancelled || b.Next() != c):
		return "the call is not the next one"
	case (begins || e.Kind == umpire.EventTrialRan) && c.State != umpire.CallAsked:
		return "the call is " + string(c.State)
	case (e.Kind == umpire.EventEffectsKept || e.Kind == umpire.EventEffectsConflicted) && c.Attempt == 0:
		return "the call was not started"
	}
	c.Trial = d.Trial
	return ""
}

// cancel stops the turn: nothing else in the batch starts.
func cancel(b *umpire.Batch) string {
	if b.Cancelled {
		return "the batch is cancelled already"
	}
	b.Cancelled = true
	return ""
}

// end closes a batch whose calls all have results.
func end(b *umpire.Batch) string {
	if c := b.Next(); c != nil {
		return fmt.Sprintf("call %q has no result", c.ID)
	}
	return ""
}
