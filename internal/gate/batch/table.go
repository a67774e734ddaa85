package batch

import "github.com/umpirehq/umpire"

// A Transition is one row of the state machine: an event that moves a batch or one of its
// calls from one state to another. From is empty for the first event.
type Transition[State ~string] struct {
	From, To State
	On       umpire.EventKind
	Bears    Bearing
	Note     string // an additional condition, in the words of docs/batch.md
	// Cancelled means that only a cancelled batch can take this transition.
	Cancelled bool
}

// A Bearing tells whether the event of a transition has the id of a question.
type Bearing uint8

// The bearings. For Either, the id only identifies the previous question.
const (
	Either Bearing = iota
	question
	noQuestion
)

// callTransitions are all transitions of a call. The fold allows only these; the triggers
// of both databases and the diagram in docs/batch.md are tested against them.
var callTransitions = []Transition[umpire.CallState]{
	{To: umpire.CallAsked, On: umpire.EventBatchSubmitted},
	{To: umpire.CallApproved, On: umpire.EventBatchSubmitted},
	{To: umpire.CallDenied, On: umpire.EventBatchSubmitted},
	{From: umpire.CallAsked, To: umpire.CallAsked, On: umpire.EventPermissionAsked, Bears: question,
		Note: "the first question, or one that replaces it"},
	{From: umpire.CallAsked, To: umpire.CallApproved, On: umpire.EventPermissionApproved, Bears: question},
	{From: umpire.CallAsked, To: umpire.CallDenied, On: umpire.EventPermissionRejected, Bears: question},
	{From: umpire.CallApproved, To: umpire.CallAsked, On: umpire.EventPermissionAsked, Bears: question,
		Note: "decided again"},
	{From: umpire.CallApproved, To: umpire.CallDenied, On: umpire.EventPermissionRejected, Bears: noQuestion,
		Note: "decided again"},
	{From: umpire.CallApproved, To: umpire.CallExecuting, On: umpire.EventCallStarted},
	{From: umpire.CallApproved, To: umpire.CallDone, On: umpire.EventCallFinished, Note: "any status but ok"},
	{From: umpire.CallDenied, To: umpire.CallDenied, On: umpire.EventPermissionRejected, Bears: noQuestion,
		Note: "the reason of its refusal"},
	{From: umpire.CallDenied, To: umpire.CallDone, On: umpire.EventCallFinished, Note: "any status but ok"},
	{From: umpire.CallExecuting, To: umpire.CallExecuting, On: umpire.EventCallStarted,
		Note: "again, pure or idempotent only"},
	{From: umpire.CallExecuting, To: umpire.CallUnknown, On: umpire.EventCallIndeterminate, Bears: question,
		Note: "a person is asked"},
	{From: umpire.CallExecuting, To: umpire.CallSettled, On: umpire.EventCallIndeterminate, Bears: noQuestion,
		Note: "nobody is asked"},
	{From: umpire.CallExecuting, To: umpire.CallDone, On: umpire.EventCallFinished},
	{From: umpire.CallUnknown, To: umpire.CallSettled, On: umpire.EventPermissionApproved, Bears: question,
		Note: "it was done"},
	{From: umpire.CallUnknown, To: umpire.CallSettled, On: umpire.EventPermissionRejected, Bears: question,
		Note: "it was not done"},
	{From: umpire.CallSettled, To: umpire.CallDone, On: umpire.EventCallFinished},
}

// batchTransitions are all transitions of a batch, including events that require a state
// without changing it.
var batchTransitions = []Transition[umpire.BatchState]{
	{To: umpire.BatchWaiting, On: umpire.EventBatchSubmitted, Note: "a call asks"},
	{To: umpire.BatchRunning, On: umpire.EventBatchSubmitted, Note: "none asks"},
	{From: umpire.BatchWaiting, To: umpire.BatchWaiting, On: umpire.EventPermissionAsked, Bears: question,
		Note: "a call asks"},
	{From: umpire.BatchWaiting, To: umpire.BatchWaiting, On: umpire.EventCallIndeterminate, Bears: question,
		Note: "a person is asked"},
	{From: umpire.BatchWaiting, To: umpire.BatchWaiting, On: umpire.EventBatchCancelled, Note: "sets the mark"},
	{From: umpire.BatchWaiting, To: umpire.BatchRunning, On: umpire.EventBatchResumed,
		Note: "nothing waits any more"},
	{From: umpire.BatchRunning, To: umpire.BatchWaiting, On: umpire.EventPermissionAsked, Bears: question,
		Note: "a call asks again"},
	{From: umpire.BatchRunning, To: umpire.BatchWaiting, On: umpire.EventCallIndeterminate, Bears: question,
		Note: "a person is asked"},
	{From: umpire.BatchRunning, To: umpire.BatchRunning, On: umpire.EventCallStarted, Note: "the next call"},
	{From: umpire.BatchRunning, To: umpire.BatchRunning, On: umpire.EventBatchCancelled, Note: "sets the mark"},
	{From: umpire.BatchRunning, To: umpire.BatchFinished, On: umpire.EventBatchFinished,
		Note: "every call has its result"},
	{From: umpire.BatchWaiting, To: umpire.BatchFinished, On: umpire.EventBatchFinished,
		Note: "only when cancelled", Cancelled: true},
	{From: umpire.BatchFinished, To: umpire.BatchDelivered, On: umpire.EventBatchDelivered},
}

// TrialTransitions are all transitions of a trial of a call.
var TrialTransitions = []Transition[umpire.TrialState]{
	{To: umpire.TrialRunning, On: umpire.EventTrialStarted, Note: "the first call without a result is asked"},
	{From: umpire.TrialRunning, To: umpire.TrialWaiting, On: umpire.EventTrialRan, Note: "the call is still asked"},
	{From: umpire.TrialRunning, To: umpire.TrialDiscarded, On: umpire.EventEffectsDiscarded,
		Note: "it was interrupted, or came too late"},
	{From: umpire.TrialWaiting, To: umpire.TrialKept, On: umpire.EventEffectsKept, Note: "the call was started"},
	{From: umpire.TrialWaiting, To: umpire.TrialDiscarded, On: umpire.EventEffectsDiscarded,
		Note: "denied, or the layer is gone"},
	{From: umpire.TrialWaiting, To: umpire.TrialConflict, On: umpire.EventEffectsConflicted,
		Note: "the call was started"},
	{From: umpire.TrialConflict, To: umpire.TrialKept, On: umpire.EventEffectsKept, Note: "tried again"},
	{From: umpire.TrialConflict, To: umpire.TrialDiscarded, On: umpire.EventEffectsDiscarded, Note: "given up"},
}

// follow returns the state after an event. known is false if the table has no such
// events; legal is false if no such transition leaves the state.
func follow[State ~string](
	table []Transition[State], from State, e *umpire.Event, cancelled bool,
) (to State, known, legal bool) {
	for i := range table {
		t := &table[i]
		if t.On != e.Kind || t.Bears == question && e.Request == "" || t.Bears == noQuestion && e.Request != "" {
			continue
		}
		if known = true; t.From == from && (cancelled || !t.Cancelled) {
			return t.To, true, true
		}
	}
	return from, known, false
}
