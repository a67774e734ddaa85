package umpire

// A TrialID names one trial of a call.
type TrialID string

// A TrialState is where a trial stands. The zero value is no trial.
type TrialState string

// The states of a trial. What was kept or discarded stays so.
const (
	TrialRunning   TrialState = "running"   // the command runs, and nothing of it is real
	TrialWaiting   TrialState = "waiting"   // it has ended, and its effects wait to be kept or discarded
	TrialConflict  TrialState = "conflict"  // its effects were not kept, since somebody else changed the same files
	TrialKept      TrialState = "kept"      // its effects are real
	TrialDiscarded TrialState = "discarded" // its effects never happened
)
