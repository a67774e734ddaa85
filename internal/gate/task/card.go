package task

import "context"

// A Desk drafts tasks for a session, and tells what a task would allow.
type Desk interface {
	// Draft returns a task that would have answered the session's questions, or with the lines of an old one too,
	// and the calls that no line can allow.
	Draft(old *Task) (made Task, left []string)
	// Describe returns the card of a task.
	Describe(ctx context.Context, t *Task) (*Card, error)
}

// A Card tells a person what a task would allow, before they approve it.
type Card struct {
	Task      Task
	Questions int // of the session so far; equal ones count each time
	Answered  int // of these, by the task
	Lines     []CardLine
	Risky     bool // a call that it allows has a high risk
}

// A CardLine tells about the line of a task with its index.
type CardLine struct {
	Answers int    // the questions so far that it takes part in answering
	Worst   string // the worst call that it allows; "" if it allows only the call that it names
}
