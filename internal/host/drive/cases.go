package drive

import (
	"context"
	"os"
	"slices"

	"github.com/umpirehq/umpire"
)

// An Outcome is the outcome of a call.
type Outcome string

// The outcomes.
const (
	Runs        Outcome = "runs"
	Blocked     Outcome = "blocked"
	HeldRuns    Outcome = "asks, runs"    // it was held, a person approved it, and it ran
	HeldBlocked Outcome = "asks, blocked" // it was held, and did not run
)

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
	{"a call that a rule allows", Runs, playTouch("made")},
	{"a call that a rule denies", Blocked, playTouch("denied")},
	{"a call that waits for a person until its deadline", HeldBlocked, playLate},
	{"a call while umpire is missing", Blocked, playMissing},
}

// Try plays a case. It fails if the case could not be played, and the call may still have run then.
func (s *Subject) Try(ctx context.Context, c *Case) (Outcome, error) {
	dir, err := os.MkdirTemp("", "u-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	model, err := StartModel()
	if err != nil {
		return "", err
	}
	defer model.Close()
	l, err := s.NewLab(dir, model)
	if err != nil {
		return "", err
	}
	if err := l.SetUp(ctx); err != nil {
		return "", err
	}
	if err := l.Register(ctx); err != nil {
		return "", err
	}
	return c.play(ctx, l)
}

// playFree plays a command in the mode that asks nothing.
func (l *Lab) playFree(ctx context.Context, command string) error {
	play := func(ctx context.Context) (string, error) { return l.Play(ctx, l.Agent.Free) }
	out, missing, err := l.PlayTurns(ctx, play, Turn{l.Agent.Shell(command)})
	if err == nil && missing != nil {
		err = umpire.Errorf("%s has not made the call: %s", l.Agent.Name, out)
	}
	return err
}

// playTouch plays a call that creates a file.
func playTouch(name string) func(context.Context, *Lab) (Outcome, error) {
	return func(ctx context.Context, l *Lab) (Outcome, error) {
		err := l.playFree(ctx, "touch "+name)
		return l.Became("project/" + name), err
	}
}

func playLate(ctx context.Context, l *Lab) (Outcome, error) {
	play := func(ctx context.Context) error { return l.playFree(ctx, "touch asked") }
	return l.Hold(ctx, play, func(context.Context, *Gate, string) error { return nil })
}

func playMissing(ctx context.Context, l *Lab) (Outcome, error) {
	if err := os.Remove(l.Umpire); err != nil {
		return "", err
	}
	became, err := playTouch("made")(ctx, l)
	if _, made := l.Model.Result("call_1"); !made && ctx.Err() == nil {
		err = nil // some agents refuse the prompt already, because a hook for it is missing too
	}
	return became, err
}

// Became returns the outcome of a call that creates one of these files.
func (l *Lab) Became(names ...string) Outcome {
	if slices.ContainsFunc(names, l.Exists) {
		return Runs
	}
	return Blocked
}
