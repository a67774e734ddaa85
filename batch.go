package umpire

import (
	"encoding/json"
	"time"
)

// A BatchState is where a batch stands. The zero value is no batch yet.
type BatchState string

// The states of a batch, in the order in which it goes through them. A batch
// that runs goes back to waiting when one of its calls asks.
const (
	BatchWaiting   BatchState = "waiting"   // a call waits for a person, and all wait with it
	BatchRunning   BatchState = "running"   // its calls may start, in their order
	BatchFinished  BatchState = "finished"  // every call has its result
	BatchDelivered BatchState = "delivered" // the agent has the results
)

// A CallState is where one call of a batch stands.
type CallState string

// The states of a call.
const (
	CallAsked     CallState = "asked"         // a person has to answer
	CallApproved  CallState = "approved"      // may run when its turn comes
	CallDenied    CallState = "denied"        // will not run; its result says so
	CallExecuting CallState = "executing"     // started, and nothing known since
	CallUnknown   CallState = "indeterminate" // started, and whether it ran cannot be told
	CallSettled   CallState = "settled"       // was indeterminate, and has been accounted for
	CallDone      CallState = "finished"      // has its result
)

// An Effect says what running a call twice would do. The zero value is not
// known, and what is not known runs once at most.
type Effect string

// The effects.
const (
	EffectPure       Effect = "pure"       // only looks
	EffectIdempotent Effect = "idempotent" // twice is as once
	EffectReversible Effect = "reversible" // can be taken back, but not run twice
	EffectUnknown    Effect = "unknown"
)

// Repeatable reports whether a call may be started again when nobody knows
// whether it ran.
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

// A Result is what the model is told about one call. Each call has exactly one.
type Result struct {
	Call    CallID       `json:"call_id"`
	Session SessionID    `json:"session_id,omitempty"`
	Batch   BatchID      `json:"batch_id,omitempty"`
	Status  ResultStatus `json:"status"`
	Output  string       `json:"output"`
	Code    ReasonCode   `json:"reason_code,omitempty"`
	// Epoch is the one that the runner was given; a runner whose session was
	// taken over is refused.
	Epoch int64     `json:"epoch,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// IsError reports whether the model is to read the result as an error.
func (r Result) IsError() bool { return r.Status != ResultOK }

// A BatchCall is one call of a batch with its state.
type BatchCall struct {
	ID    CallID          `json:"call_id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"` // with secrets masked
	// InputSize is the size of an input of which Input has only parts, else 0. Gate.Batch returns all inputs whole.
	InputSize  int       `json:"input_size,omitempty"`
	ArgsHash   string    `json:"args_hash"`
	Background bool      `json:"background,omitempty"`
	Effect     Effect    `json:"effect,omitempty"`
	State      CallState `json:"state"`
	// Request is the question that waits, or the last one that did; Round counts
	// the questions about this call.
	Request RequestID `json:"request_id,omitempty"`
	Round   int       `json:"version,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	// Trial is the trial of the call that runs, or whose effects are neither kept nor
	// discarded; "" is none.
	Trial      TrialID    `json:"trial_id,omitempty"`
	TrialState TrialState `json:"trial_state,omitempty"`
	// Verdict and the reason are those of the last decision.
	Verdict Verdict    `json:"verdict"`
	Reason  Phrase     `json:"reason,omitempty"`
	Code    ReasonCode `json:"reason_code,omitempty"`
	Result  *Result    `json:"result,omitempty"`
}

// A Batch is all calls of one assistant message, in the model's order. A host
// that asks call by call makes each call a batch of its own, in a lane of its own:
// one lane has one open batch.
type Batch struct {
	ID      BatchID    `json:"batch_id"`
	Session SessionID  `json:"session_id"`
	Lane    string     `json:"lane,omitempty"`
	State   BatchState `json:"state"`
	// Resumes counts how often the batch went from waiting to running.
	Resumes   int         `json:"resumes,omitempty"`
	Cancelled bool        `json:"cancelled,omitempty"` // a person stopped the turn
	Calls     []BatchCall `json:"calls"`
	// Total is the number of calls in the batch if Calls has only some of them, and 0 otherwise. In a
	// batch of more than [WholeBatch] calls, an answer about one of them has that call, the next two
	// without a result and the first two that wait. So Next is right, but Waiting counts at most two.
	Total int `json:"total,omitempty"`
}

// WholeBatch is the largest batch of which every answer has all calls: see Batch.Total.
const WholeBatch = 16

// Size returns how many calls the batch has.
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

// Next returns the first call that has no result, or nil.
func (b *Batch) Next() *BatchCall {
	for i := range b.Calls {
		if b.Calls[i].State != CallDone {
			return &b.Calls[i]
		}
	}
	return nil
}

// Waiting returns how many calls wait for a person.
func (b *Batch) Waiting() int {
	n := 0
	for i := range b.Calls {
		if b.Calls[i].State == CallAsked || b.Calls[i].State == CallUnknown {
			n++
		}
	}
	return n
}

// An Admission says what becomes of a call that a host asks about. The zero value starts it.
type Admission uint8

// The admissions.
const (
	AdmitStart   Admission = iota // it is stored, and starts at once if nothing stands against it
	AdmitLater                    // it is stored, and starts later by a ticket
	AdmitTrial                    // it is stored, and tried by a ticket before anybody is asked
	AdmitLeave                    // it is the host's: the timeline says so, and nothing else is stored
	AdmitNothing                  // nothing is stored
)

// A Submission hands all calls of one message to the gate. Handing it in again
// with the same ids answers with the batch that stands.
type Submission struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Lane    string    `json:"lane,omitempty"`
	Calls   []Call    `json:"calls"`
	// Message is the assistant message that the calls come from, in the agent's
	// own form. It is stored before any call runs.
	Message json.RawMessage `json:"message,omitempty"`
	Epoch   int64           `json:"epoch,omitempty"`
	// Headless says that nobody can answer: what would ask is denied.
	Headless bool `json:"headless,omitempty"`
	// Mode overrides the session's mode for this batch, for a host that tells it
	// with each call. It may not loosen beyond what the session was opened with.
	Mode *Mode `json:"mode,omitempty"`
	// Tighten are rules of the client; those that deny or ask are honoured.
	Tighten []Rule `json:"tighten,omitempty"`
	// Ran says that a host has already run the only call. Admit then stores nothing but an event for
	// the timeline, and not even that if the call was allowed or left to the host.
	Ran bool `json:"-"`
	// Sandbox is the one in which the runner would run the calls. Nil is for agents
	// that run their calls their own way: what a decision obliges them to is theirs
	// to keep.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A Start asks to run the next call of a batch.
type Start struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Call    CallID    `json:"call_id"`
	Epoch   int64     `json:"epoch,omitempty"`
	// Runner and Group are who runs it, for the evidence after a crash.
	Runner string `json:"runner,omitempty"`
	Group  int    `json:"group,omitempty"` // process group, 0 when not known
	// Sandbox is as in the Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A Started is the answer to a Start. The call may run when Go is set, with the
// exact input in Call; otherwise the batch says what happened instead.
type Started struct {
	Go       bool     `json:"go"`
	Call     Call     `json:"call"`
	Decision Decision `json:"decision"`
	Attempt  int      `json:"attempt,omitempty"`
	// Trial is what the call runs for where it was tried before: its layer is kept instead of
	// running the command, and its output is the result. Nil runs the call.
	Trial *Trial `json:"trial,omitempty"`
	Batch Batch  `json:"batch"`
	// ByPerson says that a person approved this very call.
	ByPerson bool `json:"-"`
}
