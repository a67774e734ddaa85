package umpire

import "time"

// A TicketAction says how to run the command line of a ticket.
type TicketAction string

// The actions.
const (
	// TicketTrial runs the line as a trial. Its effects are decided afterwards.
	TicketTrial TicketAction = "trial"
	// TicketUndo runs an allowed line as a trial and keeps its effects, which makes it
	// undoable. If no trial is possible, the line runs directly.
	TicketUndo TicketAction = "undo"
)

// A Ticket lets one command line of another agent run once, by `umpire exec`. It is bound to
// all of its fields.
type Ticket struct {
	Session SessionID    `json:"session_id"`
	Batch   BatchID      `json:"batch_id"`
	Call    CallID       `json:"call_id"`
	Action  TicketAction `json:"action"`
	// Trial is the trial that began when the ticket was used, if its call asks. It is "" if the
	// call was started instead.
	Trial TrialID `json:"trial_id,omitempty"`
	// Reach are the destinations that the person approved for that trial, besides the listed ones.
	Reach []string `json:"reach,omitempty"`
	// Attended says that a person would see a question about the line now.
	Attended bool `json:"attended,omitempty"`
	// Line is the command line, byte for byte. Large says that the agent cannot pass a line of
	// this size, so the gate remembers it with the ticket.
	Line  string `json:"line,omitempty"`
	Large bool   `json:"large,omitempty"`
	// Dir is the folder in which the line starts, with links resolved.
	Dir string `json:"working_dir"`
	// User is the agent's user id, and Host is the agent's process.
	User int    `json:"user_id"`
	Host string `json:"host"`
}

// TicketLife is the lifetime of an unused ticket.
const TicketLife = time.Minute

// A TicketUse identifies the process that wants to use a ticket. It must match the values that
// the ticket is bound to.
type TicketUse struct {
	Secret string `json:"secret"`
	// Line is the command line that the process received. A large line is only a part, and is
	// not compared.
	Line string `json:"line"`
	Dir  string `json:"working_dir"`
	User int    `json:"user_id"`
	// Above are the ancestors of the process.
	Above []string `json:"above"`
	// Runner is the process itself.
	Runner string `json:"runner"`
}

// A TicketEnd ends a used ticket.
type TicketEnd struct {
	Secret string `json:"secret"`
	// Report describes the trial that began with the ticket. Nil means only that the line's
	// caller is gone, or that the effects were kept without a question.
	Report *TicketReport `json:"report,omitempty"`
}

// A TicketReport describes the trial of a ticket's line.
type TicketReport struct {
	Exit    int          `json:"exit"`
	Output  string       `json:"output"`
	Effects TrialEffects `json:"effects"`
	// Late says that the line's caller is gone. The gate then asks a person, whatever the effects.
	Late bool `json:"late,omitempty"`
}

// A TicketEnded is the answer to a TicketEnd.
type TicketEnded struct {
	// First says that the ticket had not been ended before.
	First bool `json:"first,omitempty"`
	// Batch is the call's batch after a report.
	Batch Batch `json:"batch"`
}
