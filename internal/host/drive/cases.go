package drive

import "context"

// A Case is a call with which a user can try an installed agent. The agent is in the mode that asks
// nothing, to make umpire the only thing that stops the call.
type Case struct {
	// Name describes the call.
	Name string
	// Want is the outcome that umpire promises.
	Want Outcome

	play func(context.Context, *Lab) (Outcome, error)
}

// Cases lists the cases. The others tell nothing about an agent that cannot play the first one.
var Cases = []Case{
	{"a call that a rule allows", Runs, playShell(Free, "touch made")},
	{"a call that a rule denies", Blocked, playShell(Free, "touch denied")},
	{"a call that waits for a person until its deadline", HeldBlocked, playHeld(Free, (*Lab).wait)},
	{"a call while umpire is missing", Blocked, playBroken("")},
}

// Try plays a case. It fails if the case could not be played, and the call may still have run then.
func (s *Subject) Try(ctx context.Context, c *Case) (Outcome, error) {
	return s.play(ctx, c.play, true)
}
