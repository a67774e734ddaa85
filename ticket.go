package umpire

import "time"

// A TicketAction says how the command line of a ticket runs.
type TicketAction string

// The actions.
const (
	// TicketTrial runs the line as a trial. What it did is decided afterwards.
	TicketTrial TicketAction = "trial"
	// TicketUndo runs a line that is allowed as a trial and keeps what it did, so that it can
	// be undone. Where no trial can be had the line runs as it is.
	TicketUndo TicketAction = "undo"
)

// A Ticket lets one command line of another agent run once, by `umpire exec`. It is bound to
// everything in it.
type Ticket struct {
	Session SessionID    `json:"session_id"`
	Batch   BatchID      `json:"batch_id"`
	Call    CallID       `json:"call_id"`
	Action  TicketAction `json:"action"`
	// Trial is the trial that began when a ticket was used whose call asks; "" where the call
	// was started instead.
	Trial TrialID `json:"trial_id,omitempty"`
	// Network says that a person approved the network for that trial.
	Network bool `json:"network,omitempty"`
	// Line is the command line, byte for byte. Large says that the agent cannot hand it over,
	// so that it is remembered with the ticket.
	Line  string `json:"line,omitempty"`
	Large bool   `json:"large,omitempty"`
	// Dir is where the line starts, with links resolved.
	Dir string `json:"working_dir"`
	// User is the number of the user whose agent it is, and Host the agent's process.
	User int    `json:"user_id"`
	Host string `json:"host"`
}

// TicketLife is how long a ticket can be used.
const TicketLife = time.Minute

// A TicketUse is what a process shows that wants to use a ticket. What it says has to be what
// the ticket is bound to.
type TicketUse struct {
	Secret string `json:"secret"`
	// Line is the command line that it was handed. Of a large one it is a part, and not
	// compared.
	Line string `json:"line"`
	Dir  string `json:"working_dir"`
	User int    `json:"user_id"`
	// Above are the processes that it descends from.
	Above []string `json:"above"`
	// Runner is the process itself.
	Runner string `json:"runner"`
}

// A TicketEnd ends a ticket that was used.
type TicketEnd struct {
	Secret string `json:"secret"`
	// Report says what a trial did that began with the ticket. Nil says only that nobody waits
	// for the line any more, or that it was kept without a question.
	Report *TicketReport `json:"report,omitempty"`
}

// A TicketReport says what the line of a ticket did that was tried.
type TicketReport struct {
	Exit    int          `json:"exit"`
	Output  string       `json:"output"`
	Effects TrialEffects `json:"effects"`
	// Late says that nobody waits for the line any more: a person is asked then, whatever it did.
	Late bool `json:"late,omitempty"`
}

// A TicketEnded is the answer to a TicketEnd.
type TicketEnded struct {
	// First says that nobody had ended the ticket before.
	First bool `json:"first,omitempty"`
	// Batch is that of the call after a report.
	Batch Batch `json:"batch"`
}
