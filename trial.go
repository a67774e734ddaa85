package umpire

import "time"

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

// A Trial is a run of a call's command where nothing of it is real, once it has ended.
type Trial struct {
	ID    TrialID    `json:"trial_id"`
	Round int        `json:"round"` // which trial of the call, from 1
	State TrialState `json:"state"`
	// Network says that the command had the machine's network.
	Network bool   `json:"network,omitempty"`
	Exit    int    `json:"exit"`
	Output  string `json:"output"`
	// Effects are what it did; their Digest names the layer. More is how many of them a card
	// leaves out of the list.
	Effects   TrialEffects `json:"effects"`
	More      int          `json:"more,omitempty"`
	StartedAt time.Time    `json:"started_at"`
	RanAt     time.Time    `json:"ran_at"`
	// UndoSeconds is for how long at most undo keeps what approving replaces; 0 is not known.
	UndoSeconds int64 `json:"undo_seconds,omitempty"`
}

// A TrialRequest asks to try the next call of a batch, which waits for a person.
type TrialRequest struct {
	Session SessionID `json:"session_id"`
	Batch   BatchID   `json:"batch_id"`
	Call    CallID    `json:"call_id"`
	Epoch   int64     `json:"epoch,omitempty"`
	Runner  string    `json:"runner,omitempty"`
	// Sandbox is as in the Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A BegunTrial is a trial that has begun: its command runs once, in a layer of its own, with the
// network where the obligations of the decision say so.
type BegunTrial struct {
	Trial    TrialID  `json:"trial_id"`
	Call     Call     `json:"call"` // with its exact input
	Decision Decision `json:"decision"`
	Batch    Batch    `json:"batch"`
}

// A TrialReport says what a trial did whose command has ended.
type TrialReport struct {
	Trial   TrialID      `json:"trial_id"`
	Session SessionID    `json:"session_id"`
	Batch   BatchID      `json:"batch_id"`
	Epoch   int64        `json:"epoch,omitempty"`
	Exit    int          `json:"exit"`
	Output  string       `json:"output"`
	Effects TrialEffects `json:"effects"`
	// Sandbox is as in the Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
}

// A TrialSettlement says what became of a trial's effects: kept, discarded, or in conflict
// with what somebody else has changed.
type TrialSettlement struct {
	Trial   TrialID    `json:"trial_id"`
	Session SessionID  `json:"session_id"`
	Batch   BatchID    `json:"batch_id"`
	Epoch   int64      `json:"epoch,omitempty"`
	State   TrialState `json:"state"`
	// Digest is that of the layer that was kept.
	Digest string `json:"digest,omitempty"`
	// Paths are those that stand in conflict, Reason why it was discarded.
	Paths  []string `json:"paths,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// Sandbox is as in the Submission.
	Sandbox *Confinement `json:"sandbox,omitempty"`
	// Record is set for something that a person settled outside any session. Only State (kept or
	// discarded), Paths and Reason are then set as well.
	Record *TrialRecord `json:"record,omitempty"`
}

// A TrialRecord is what a person has kept, discarded or taken back outside any session. The
// timeline has one event for each, however often it is reported.
type TrialRecord struct {
	ID string `json:"record_id"`
	// Undoes is the record that it took back.
	Undoes string `json:"undoes,omitempty"`
	// Dir is the folder of its project.
	Dir     string    `json:"working_dir"`
	Command string    `json:"command,omitempty"`
	Changes int       `json:"changes"` // how many paths it changed
	At      time.Time `json:"at"`
	// By says who; the gate's edge fills it in.
	By Actor `json:"-"`
}
