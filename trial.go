package umpire

import "time"

// UndoProtected is how long undo keeps old content at least, regardless of later writes.
const UndoProtected = 24 * time.Hour

// A TrialID names one trial of a call.
type TrialID string

// A TrialState is the state of a trial. The zero value means that there is no trial.
type TrialState string

// The states of a trial. Kept and discarded are final.
const (
	TrialRunning   TrialState = "running"   // the command runs, and none of its effects are real
	TrialWaiting   TrialState = "waiting"   // it has ended, and its effects wait to be kept or discarded
	TrialConflict  TrialState = "conflict"  // its effects were not kept because the same files changed meanwhile
	TrialKept      TrialState = "kept"      // its effects are real
	TrialDiscarded TrialState = "discarded" // its effects never happened
)

// A Trial is a finished run of a call's command without real effects.
type Trial struct {
	ID    TrialID    `json:"trial_id"`
	Round int        `json:"round"` // number of the trial of this call, from 1
	State TrialState `json:"state"`
	// Network says that the command could reach destinations that the person approved for it.
	Network bool   `json:"network,omitempty"`
	Exit    int    `json:"exit"`
	Output  string `json:"output"`
	// Effects are its effects; their Digest names the layer. More is the number of effects that
	// a card omits from the list.
	Effects   TrialEffects `json:"effects"`
	More      int          `json:"more,omitempty"`
	StartedAt time.Time    `json:"started_at"`
	RanAt     time.Time    `json:"ran_at"`
	// UndoSeconds is the maximum time for which undo keeps the files that approving replaces; 0 means unknown.
	UndoSeconds int64 `json:"undo_seconds,omitempty"`
}

// A TrialRequest asks to try the next call of a batch, which waits for a person.
type TrialRequest struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Call    CallID    `json:"call_id"`
	Epoch   int64     `json:"epoch,omitempty"`
	Runner  string    `json:"runner,omitempty"`
	// Sandbox is the same as in Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A BegunTrial is a trial that has begun: its command runs once, in a separate layer.
type BegunTrial struct {
	Trial    TrialID  `json:"trial_id"`
	Call     Call     `json:"call"` // with its exact input
	Decision Decision `json:"decision"`
	Batch    Batch    `json:"batch"`
	// Reach are the destinations that the person approved for the trial, besides the listed ones.
	Reach []string `json:"reach,omitempty"`
}

// A TrialReport describes a trial whose command has ended.
type TrialReport struct {
	Trial   TrialID      `json:"trial_id"`
	Session SessionID    `json:"session_id"`
	Batch   BatchID      `json:"batch_id"`
	Epoch   int64        `json:"epoch,omitempty"`
	Exit    int          `json:"exit"`
	Output  string       `json:"output"`
	Effects TrialEffects `json:"effects"`
	// Sandbox is the same as in Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A TrialSettlement reports the fate of a trial's effects: kept, discarded, or in conflict with
// other changes.
type TrialSettlement struct {
	Trial   TrialID    `json:"trial_id"`
	Session SessionID  `json:"session_id"`
	Batch   BatchID    `json:"batch_id"`
	Epoch   int64      `json:"epoch,omitempty"`
	State   TrialState `json:"state"`
	// Digest is that of the layer that was kept.
	Digest string `json:"digest,omitempty"`
	// Paths are the paths in conflict; Reason says why the trial was discarded.
	Paths  []string `json:"paths,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// Sandbox is the same as in Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
	// Record is set if a person settled something outside any session. Then only State (kept or
	// discarded), Paths and Reason are set as well.
	Record *TrialRecord `json:"record,omitempty"`
}

// A TrialRecord is a person's decision outside any session to keep, discard or undo effects.
// The timeline has one event for each, however often it is reported.
type TrialRecord struct {
	ID string `json:"record_id"`
	// Undoes is the id of the record that it undid.
	Undoes string `json:"undoes,omitempty"`
	// Dir is the folder of its project.
	Dir     string    `json:"working_dir"`
	Command string    `json:"command,omitempty"`
	Changes int       `json:"changes"` // number of paths it changed
	At      time.Time `json:"at"`
	// By is the person who decided; the gate's edge fills it in.
	By Actor `json:"-"`
}
