// Package batch is the state machine of approvals, as one fold over events:
//
//	next, err := batch.Apply(b, event)
//
// Apply changes nothing and looks at nothing but its arguments. An event that does
// not fit the state is an error that matches [ErrIllegal], and the batch stays as
// it was. Folding a batch's events from the zero value gives the batch as it
// stands, but for the inputs of its calls, which no event bears.
//
// docs/batch.md draws the machine.
package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// ErrIllegal is matched by the errors of events that do not fit.
var ErrIllegal = errors.New("illegal transition")

// Submitted is the data of a BatchSubmitted event.
type Submitted struct {
	Lane  string `json:"lane,omitempty"`
	Turn  int64  `json:"turn,omitempty"`
	Calls []Call `json:"calls"`
}

// A Call is one call as BatchSubmitted tells it. State is asked, approved or
// denied.
type Call struct {
	ID         umpire.CallID     `json:"call_id"`
	Tool       string            `json:"tool"`
	ArgsHash   string            `json:"args_hash"`
	Background bool              `json:"background,omitempty"`
	Effect     umpire.Effect     `json:"effect,omitempty"`
	State      umpire.CallState  `json:"state"`
	Verdict    umpire.Verdict    `json:"verdict"`
	Reason     string            `json:"reason,omitempty"`
	Code       umpire.ReasonCode `json:"reason_code,omitempty"`
	// Took is how long deciding it took, in microseconds.
	Took int64 `json:"took_us,omitempty"`
}

// Asked is the data of a PermissionAsked and a CallIndeterminate event.
type Asked struct {
	Version int `json:"version"`
}

// Resumed is the data of a BatchResumed event. Epoch counts the batch's resumes
// from 1, so that two of the same number cannot both be appended.
type Resumed struct {
	Epoch int `json:"epoch"`
}

// Started is the data of a CallStarted event.
type Started struct {
	Attempt int    `json:"attempt"`
	Runner  string `json:"runner,omitempty"`
	Epoch   int64  `json:"epoch,omitempty"`
}

// Finished is the data of a CallFinished event.
type Finished struct {
	Status umpire.ResultStatus `json:"status"`
	Output string              `json:"output,omitempty"` // a beginning of it, for people
	Size   int                 `json:"size,omitempty"`   // of the whole output, in bytes
}

// Apply returns the batch after an event. Events of kinds that say nothing about
// a batch's state leave it as it is.
func Apply(b umpire.Batch, e umpire.Event) (umpire.Batch, error) {
	step, known := steps[e.Kind]
	if !known {
		return b, nil
	}
	if (b.State == "") != (e.Kind == umpire.EventBatchSubmitted) || b.State != "" && (e.Batch != b.ID || e.Session != b.Session) {
		return b, illegal(b, e, "the event is not about this batch")
	}
	next := b
	next.Calls = slices.Clone(b.Calls)
	if err := step(&next, e); err != nil {
		return b, err
	}
	return next, nil
}

// steps are the events that move a batch.
var steps = map[umpire.EventKind]func(*umpire.Batch, umpire.Event) error{
	umpire.EventBatchSubmitted:     submit,
	umpire.EventPermissionAsked:    ask,
	umpire.EventPermissionApproved: approve,
	umpire.EventPermissionRejected: reject,
	umpire.EventBatchResumed:       resume,
	umpire.EventCallStarted:        start,
	umpire.EventCallFinished:       finish,
	umpire.EventCallIndeterminate:  lose,
	umpire.EventBatchCancelled:     cancel,
	umpire.EventBatchFinished:      end,
	umpire.EventBatchDelivered:     deliver,
}

func illegal(b umpire.Batch, e umpire.Event, why string) error {
	where := fmt.Sprintf("batch %q (%s)", e.Batch, b.State)
	if e.Call != "" {
		where += fmt.Sprintf(", call %q", e.Call)
	}
	return fmt.Errorf("%s: %s: %s: %w", e.Kind, where, why, ErrIllegal)
}

// data reads the event's data; what is not there is zero.
func data[T any](b *umpire.Batch, e umpire.Event) (T, error) {
	var d T
	if len(e.Data) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return d, illegal(*b, e, "its data cannot be read: "+err.Error())
	}
	return d, nil
}

func submit(b *umpire.Batch, e umpire.Event) error {
	d, err := data[Submitted](b, e)
	if err != nil {
		return err
	}
	if len(d.Calls) == 0 || e.Batch == "" {
		return illegal(*b, e, "a batch has an id and at least one call")
	}
	*b = umpire.Batch{ID: e.Batch, Session: e.Session, Lane: d.Lane, State: umpire.BatchRunning}
	for _, c := range d.Calls {
		if b.Call(c.ID) != nil || c.ID == "" {
			return illegal(umpire.Batch{}, e, fmt.Sprintf("call id %q is empty or stands twice", c.ID))
		}
		switch c.State {
		case umpire.CallAsked:
			b.State = umpire.BatchWaiting
		case umpire.CallApproved, umpire.CallDenied:
		case umpire.CallExecuting, umpire.CallUnknown, umpire.CallSettled, umpire.CallDone:
			return illegal(umpire.Batch{}, e, "no call begins as "+string(c.State))
		default:
			return illegal(umpire.Batch{}, e, fmt.Sprintf("call state %q is not known", c.State))
		}
		b.Calls = append(b.Calls, umpire.BatchCall{
			ID: c.ID, Tool: c.Tool, ArgsHash: c.ArgsHash, Background: c.Background, Effect: c.Effect, State: c.State,
			Verdict: c.Verdict, Reason: c.Reason, Code: c.Code,
		})
	}
	return nil
}

// called returns the event's call, which must be in one of the states.
func called(b *umpire.Batch, e umpire.Event, states ...umpire.CallState) (*umpire.BatchCall, error) {
	c := b.Call(e.Call)
	if c == nil {
		return nil, illegal(*b, e, "there is no such call")
	}
	if !slices.Contains(states, c.State) {
		return nil, illegal(*b, e, "the call is "+string(c.State))
	}
	return c, nil
}

// unheard returns an error for a question that was put before: an answer to one
// must never pass for an answer to another.
func unheard(b *umpire.Batch, e umpire.Event) error {
	for i := range b.Calls {
		if b.Calls[i].Request == e.Request {
			return illegal(*b, e, fmt.Sprintf("question %q is not new", e.Request))
		}
	}
	return nil
}

// ask names the question of a call that asks. A call that was approved asks again
// when it is decided anew: then the batch waits again. A question that waits gives way to
// a new one when what it showed is not so any more.
func ask(b *umpire.Batch, e umpire.Event) error {
	c, err := called(b, e, umpire.CallAsked, umpire.CallApproved)
	if err != nil {
		return err
	}
	first := c.State == umpire.CallAsked && c.Request == ""
	again := c.State == umpire.CallApproved && b.State == umpire.BatchRunning && !b.Cancelled
	anew := c.State == umpire.CallAsked && c.Request != "" && b.State == umpire.BatchWaiting && !b.Cancelled
	if !first && !again && !anew || e.Request == "" {
		return illegal(*b, e, "the call is not to be asked about now")
	}
	if err := unheard(b, e); err != nil {
		return err
	}
	c.State, c.Request = umpire.CallAsked, e.Request
	c.Round++
	c.Verdict, c.Reason, c.Code = umpire.Ask, e.Reason, e.Code
	b.State = umpire.BatchWaiting
	return nil
}

// answered returns the call whose standing question the event answers.
func answered(b *umpire.Batch, e umpire.Event) (*umpire.BatchCall, error) {
	c, err := called(b, e, umpire.CallAsked, umpire.CallUnknown)
	if err != nil {
		return nil, err
	}
	if c.Request == "" || c.Request != e.Request {
		return nil, illegal(*b, e, "it answers another question")
	}
	return c, nil
}

// approve lets a call run. Approving one that is indeterminate says that it was
// done: it never runs again.
func approve(b *umpire.Batch, e umpire.Event) error {
	c, err := answered(b, e)
	if err != nil {
		return err
	}
	c.Verdict, c.Reason, c.Code = umpire.Allow, e.Reason, e.Code
	c.State = after(c, umpire.CallApproved)
	return nil
}

// after is what an answer makes of a call: one that may have run is settled
// either way.
func after(c *umpire.BatchCall, otherwise umpire.CallState) umpire.CallState {
	if c.State == umpire.CallUnknown {
		return umpire.CallSettled
	}
	return otherwise
}

// reject denies a call: a question by its answer, or a call that was approved
// because deciding it again gave a refusal.
func reject(b *umpire.Batch, e umpire.Event) error {
	if e.Request == "" {
		c, err := called(b, e, umpire.CallApproved, umpire.CallDenied)
		if err != nil {
			return err
		}
		c.State, c.Verdict, c.Reason, c.Code = umpire.CallDenied, umpire.Deny, e.Reason, e.Code
		return nil
	}
	c, err := answered(b, e)
	if err != nil {
		return err
	}
	c.Verdict, c.Reason, c.Code = umpire.Deny, e.Reason, e.Code
	c.State = after(c, umpire.CallDenied)
	return nil
}

// resume lets the calls run once every question has its answer.
func resume(b *umpire.Batch, e umpire.Event) error {
	d, err := data[Resumed](b, e)
	if err != nil {
		return err
	}
	switch {
	case b.State != umpire.BatchWaiting || b.Cancelled:
		return illegal(*b, e, "the batch does not wait to go on")
	case b.Waiting() > 0:
		return illegal(*b, e, fmt.Sprintf("%d calls wait for an answer", b.Waiting()))
	case d.Epoch != b.Resumes+1:
		return illegal(*b, e, fmt.Sprintf("resume %d comes after %d", d.Epoch, b.Resumes))
	}
	b.State = umpire.BatchRunning
	b.Resumes++
	return nil
}

// start lets one call run: the first that has no result, and no other. What can be
// repeated may start again after a crash.
func start(b *umpire.Batch, e umpire.Event) error {
	d, err := data[Started](b, e)
	if err != nil {
		return err
	}
	c, err := called(b, e, umpire.CallApproved, umpire.CallExecuting)
	if err != nil {
		return err
	}
	switch {
	case b.State != umpire.BatchRunning || b.Cancelled:
		return illegal(*b, e, "the batch does not run")
	case b.Next() != c:
		return illegal(*b, e, "an earlier call has no result yet")
	case d.Attempt != c.Attempt+1:
		return illegal(*b, e, fmt.Sprintf("attempt %d comes after %d", d.Attempt, c.Attempt))
	case c.State == umpire.CallExecuting && !c.Effect.Repeatable():
		return illegal(*b, e, "the call may have run, and is not repeatable")
	}
	c.State, c.Verdict = umpire.CallExecuting, umpire.Allow
	c.Attempt++
	return nil
}

// finish gives a call its result. A call that never started has one only if it
// did not succeed.
func finish(b *umpire.Batch, e umpire.Event) error {
	d, err := data[Finished](b, e)
	if err != nil {
		return err
	}
	c, err := called(b, e, umpire.CallExecuting, umpire.CallSettled, umpire.CallDenied, umpire.CallApproved)
	if err != nil {
		return err
	}
	switch d.Status {
	case umpire.ResultOK, umpire.ResultError, umpire.ResultDenied, umpire.ResultCancelled, umpire.ResultTimeout, umpire.ResultIndeterminate:
	default:
		return illegal(*b, e, fmt.Sprintf("result status %q is not known", d.Status))
	}
	if d.Status == umpire.ResultOK && (c.State == umpire.CallApproved || c.State == umpire.CallDenied) {
		return illegal(*b, e, "the call never ran")
	}
	c.State = umpire.CallDone
	c.Result = &umpire.Result{Call: c.ID, Session: b.Session, Batch: b.ID, Status: d.Status, Code: e.Code}
	return nil
}

// lose says that nobody knows whether a started call ran.
func lose(b *umpire.Batch, e umpire.Event) error {
	c, err := called(b, e, umpire.CallExecuting)
	if err != nil {
		return err
	}
	c.Reason, c.Code = e.Reason, e.Code
	if e.Request == "" {
		// Nobody is asked where the agent runs its calls itself: the result says it.
		c.State = umpire.CallSettled
		return nil
	}
	if err := unheard(b, e); err != nil {
		return err
	}
	c.State, c.Request = umpire.CallUnknown, e.Request
	c.Round++
	b.State = umpire.BatchWaiting
	return nil
}

// cancel stops the turn: nothing of the batch starts any more.
func cancel(b *umpire.Batch, e umpire.Event) error {
	if b.State != umpire.BatchWaiting && b.State != umpire.BatchRunning || b.Cancelled {
		return illegal(*b, e, "there is nothing to cancel")
	}
	b.Cancelled = true
	return nil
}

// end closes a batch whose calls all have results.
func end(b *umpire.Batch, e umpire.Event) error {
	if b.State != umpire.BatchRunning && !b.Cancelled || b.State == umpire.BatchFinished || b.State == umpire.BatchDelivered {
		return illegal(*b, e, "the batch does not run")
	}
	if c := b.Next(); c != nil {
		return illegal(*b, e, fmt.Sprintf("call %q has no result", c.ID))
	}
	b.State = umpire.BatchFinished
	return nil
}

// deliver says that the agent has the results.
func deliver(b *umpire.Batch, e umpire.Event) error {
	if b.State != umpire.BatchFinished {
		return illegal(*b, e, "the batch has no results to deliver")
	}
	b.State = umpire.BatchDelivered
	return nil
}
