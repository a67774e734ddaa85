package umpire

import (
	"encoding/json"
	"time"
)

// A BatchState is the state of a batch. The zero value means that the batch does not exist yet.
type BatchState string

// The states of a batch, in their usual order. A running batch goes back to waiting if one of
// its calls asks.
const (
	BatchWaiting   BatchState = "waiting"   // a call waits for a person, and the whole batch waits with it
	BatchRunning   BatchState = "running"   // its calls may start, in order
	BatchFinished  BatchState = "finished"  // every call has its result
	BatchDelivered BatchState = "delivered" // the agent has the results
)

// A CallState is the state of one call of a batch.
type CallState string

// The states of a call.
const (
	CallAsked     CallState = "asked"         // a person has to answer
	CallApproved  CallState = "approved"      // may run when its turn comes
	CallDenied    CallState = "denied"        // will not run; its result says so
	CallExecuting CallState = "executing"     // started, with no news since
	CallUnknown   CallState = "indeterminate" // started, but it is unknown whether it ran
	CallSettled   CallState = "settled"       // was indeterminate, and a person has settled it
	CallDone      CallState = "finished"      // has its result
)

// An Effect says how running a call twice would differ from running it once. The zero value
// means unknown, and such a call runs at most once.
type Effect string

// The effects.
const (
	EffectPure       Effect = "pure"       // only looks
	EffectIdempotent Effect = "idempotent" // running it twice has the same effect as once
	EffectReversible Effect = "reversible" // can be undone, but not run twice
	EffectUnknown    Effect = "unknown"
)

// Repeatable reports whether a call may be started again if it is unknown whether it ran.
func (e Effect) Repeatable() bool { return e == EffectPure || e == EffectIdempotent }

// A ResultStatus says how a call ended.
type ResultStatus string

// The statuses of a result. Every one but ok is an error for the model.
const (
	ResultOK            ResultStatus = "ok"
	ResultError         ResultStatus = "error"
	ResultDenied        ResultStatus = "denied"
	ResultCancelled     ResultStatus = "cancelled"
	ResultTimeout       ResultStatus = "timeout"
	ResultIndeterminate ResultStatus = "indeterminate"
)

// A Result is the outcome of one call as the model sees it. Each call has exactly one.
type Result struct {
	Call    CallID       `json:"call_id"`
	Session SessionID    `json:"session_id,omitempty"`
	Batch   BatchID      `json:"batch_id,omitempty"`
	Status  ResultStatus `json:"status"`
	Output  string       `json:"output"`
	Code    ReasonCode   `json:"reason_code,omitempty"`
	// Epoch is the epoch that the runner was given. The gate refuses a runner whose session was
	// taken over.
	Epoch int64     `json:"epoch,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Reached are the destinations of a command whose connections umpire led out, and Refused those that it was
	// refused, as host:port. Only the timeline keeps the first of them.
	Reached []TrialReach `json:"reached,omitempty"`
	Refused []string     `json:"refused,omitempty"`
}

// IsError reports whether the model should treat the result as an error.
func (r Result) IsError() bool { return r.Status != ResultOK }

// A BatchCall is one call of a batch with its state.
type BatchCall struct {
	ID    CallID          `json:"call_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"` // with secrets masked
	// InputSize is the size of the whole input if Input has only parts of it, else 0. Gate.Batch returns all of it.
	InputSize  int       `json:"input_size,omitempty"`
	ArgsHash   string    `json:"args_hash"`
	Background bool      `json:"background,omitempty"`
	Effect     Effect    `json:"effect,omitempty"`
	State      CallState `json:"state"`
	// Request is the waiting question, or the last one; Round counts the questions about this
	// call.
	Request RequestID `json:"request_id,omitempty"`
	Round   int       `json:"version,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	// Trial is the call's trial that is running, or whose effects are neither kept nor
	// discarded. "" means that there is no such trial.
	Trial      TrialID    `json:"trial_id,omitempty"`
	TrialState TrialState `json:"trial_state,omitempty"`
	// Verdict, Reason and Code are those of the last decision.
	Verdict Verdict    `json:"verdict"`
	Reason  Phrase     `json:"reason,omitempty"`
	Code    ReasonCode `json:"reason_code,omitempty"`
	Result  *Result    `json:"result,omitempty"`
}

// A Batch is all calls of one assistant message, in the model's order. If a host asks call by
// call, each call is a separate batch in a separate lane, because one lane has one open batch.
type Batch struct {
	ID      BatchID    `json:"batch_id"`
	Session SessionID  `json:"session_id"`
	Lane    string     `json:"lane,omitempty"`
	State   BatchState `json:"state"`
	// Resumes counts the changes from waiting to running.
	Resumes   int         `json:"resumes,omitempty"`
	Cancelled bool        `json:"cancelled,omitempty"` // a person stopped the turn
	Calls     []BatchCall `json:"calls"`
	// Total is the number of calls in the batch if Calls has only some of them, and 0 otherwise. For a
	// batch of more than [WholeBatch] calls, an answer about one call contains that call, the next two
	// without a result and the first two that wait. So Next is right, but Waiting returns at most two.
	Total int `json:"total,omitempty"`
}

// WholeBatch is the largest batch that every answer returns with all its calls: see Batch.Total.
const WholeBatch = 16

// Size returns the number of calls in the batch.
func (b *Batch) Size() int { return max(b.Total, len(b.Calls)) }

// Call returns the call with an id, or nil.
func (b *Batch) Call(id CallID) *BatchCall {
	for i := range b.Calls {
		if b.Calls[i].ID == id {
			return &b.Calls[i]
		}
	}
	return nil
}

// Next returns the first call without a result, or nil.
func (b *Batch) Next() *BatchCall {
	for i := range b.Calls {
		if b.Calls[i].State != CallDone {
			return &b.Calls[i]
		}
	}
	return nil
}

// Waiting returns the number of calls that wait for a person.
func (b *Batch) Waiting() int {
	n := 0
	for i := range b.Calls {
		if b.Calls[i].State == CallAsked || b.Calls[i].State == CallUnknown {
			n++
		}
	}
	return n
}

// An Admission says how the gate handles a call that a host asks about. The zero value starts it.
type Admission uint8

// The admissions.
const (
	AdmitStart   Admission = iota // store it, and start it at once if nothing prevents that
	AdmitLater                    // store it, and start it later by a ticket
	AdmitTrial                    // store it, and try it by a ticket before asking a person
	AdmitLeave                    // leave it to the host: record an event and store nothing else
	AdmitNothing                  // store nothing
	AdmitLed                      // store it as started: package egress has connected it, by the person's answers
)

// A Submission passes all calls of one message to the gate. Submitting it again with the same
// ids returns the existing batch.
type Submission struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Lane    string    `json:"lane,omitempty"`
	Calls   []Call    `json:"calls"`
	// Message is the assistant message that contains the calls, in the agent's own form. The
	// gate stores it before any call runs.
	Message json.RawMessage `json:"message,omitempty"`
	Epoch   int64           `json:"epoch,omitempty"`
	// Headless says that there is no person to answer, so calls that would ask are denied.
	Headless bool `json:"headless,omitempty"`
	// Mode overrides the session's mode for this batch, for a host that sends it with each
	// call. It may not be looser than the mode that the session was opened with.
	Mode *Mode `json:"mode,omitempty"`
	// Tighten are rules of the client; the gate honours those that deny or ask.
	Tighten []Rule `json:"tighten,omitempty"`
	// Ran says that a host has already run the only call. Admit then stores only an event for
	// the timeline, and not even that if the call was allowed or left to the host.
	Ran bool `json:"-"`
	// Sandbox is the one in which the runner would run the calls. It is nil for agents that run
	// their calls themselves, which then must fulfil the obligations of a decision.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A Start asks to run the next call of a batch.
type Start struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Call    CallID    `json:"call_id"`
	Epoch   int64     `json:"epoch,omitempty"`
	// Runner and Group identify the process that runs it, as evidence after a crash.
	Runner string `json:"runner,omitempty"`
	Group  int    `json:"group,omitempty"` // process group, or 0 if unknown
	// Sandbox is the same as in Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A Started is the answer to a Start. If Go is set, the call may run with the exact input in
// Call; otherwise the batch says what happened instead.
type Started struct {
	Go       bool     `json:"go"`
	Call     Call     `json:"call"`
	Decision Decision `json:"decision"`
	Attempt  int      `json:"attempt,omitempty"`
	// Trial is the call's earlier trial, if its layer is to be kept instead of running the
	// command. Its output is the result. If nil, the call runs.
	Trial *Trial `json:"trial,omitempty"`
	Batch Batch  `json:"batch"`
	// ByPerson says that a person approved this very call.
	ByPerson bool `json:"-"`
}
