// Package userhook runs the user's programs before and after tool calls.
//
//	ran := hook.Run(ctx, &h, &hook.Occasion{Call: call, Root: root})
//
// A hook can stop a call or cause a question about it; it cannot let one run. A malformed hook, or
// a failure of its program, becomes an outcome and never counts as consent. docs/hooks.md describes
// the input of a program and its possible answers.
package userhook

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// An Outcome is the outcome of one run of a hook. The zero value means there was no outcome.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed" // it has no objection
	Asked  Outcome = "asked"  // it wants a person to decide
	Denied Outcome = "denied" // it rejects the call
	Failed Outcome = "failed" // it exited with another code than 0, was too late, or could not be run
)

// An Occasion is the occasion for running a hook.
type Occasion struct {
	Call umpire.Call
	Root string // of the project: where hooks run
	// Output is the call's output, for a hook that runs after it.
	Output string
	// Env is the environment of this process; nil is os.Environ.
	Env []string
	// Confine makes the program start in a sandbox; done takes the program's error and explains it.
	// If nil, the program starts without a sandbox.
	Confine func(cmd *exec.Cmd) (done func(error) error, err error)
}

// A Ran is one run of a hook.
type Ran struct {
	Hook    *rulefile.Hook
	Outcome Outcome
	Exit    int // of the program; -1 if it did not end by itself
	Took    time.Duration
	Reason  umpire.Phrase // the hook's own words, if any
}

// Verdict returns the verdict of the run on the call. Allow means no objection, which permits
// nothing.
func (r *Ran) Verdict() umpire.Verdict {
	switch r.Outcome {
	case Passed:
		return umpire.Allow
	case Asked:
		return umpire.Ask
	case Denied:
		return umpire.Deny
	case Failed:
		switch {
		case r.Hook.Fault != "":
			return umpire.Ask
		case r.Hook.Skip:
			return umpire.Allow
		}
	}
	return umpire.Deny
}

// Limits on a hook's output, in bytes.
const (
	maxSaid   = 64 << 10 // of each of its streams; the rest is dropped
	maxReason = 4000     // it goes to the model
)

// drainTime is how long a program's streams may stay open after it has ended or was killed:
// background processes may hold them.
const drainTime = 500 * time.Millisecond

// Run runs a hook, and returns after its program has ended. It kills the program at its deadline,
// and when ctx ends.
func Run(ctx context.Context, h *rulefile.Hook, o *Occasion) Ran {
	ran := Ran{Hook: h, Outcome: Failed, Exit: -1}
	if h.Fault != "" {
		ran.Reason = umpire.Say("Hook %q cannot be run: %s", h.ID, h.Fault)
		return ran
	}
	limited, cancel := context.WithTimeout(ctx, h.Limit())
	defer cancel()
	stdout, stderr := &said{}, &said{}
	cmd := shellCommand(limited, h.Command)
	cmd.Dir, cmd.Env, cmd.Stdin = o.Root, environOf(o.env(), h, o), strings.NewReader(payloadOf(h, o))
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, drainTime
	ownGroup(cmd)
	began := time.Now()
	err := o.runProgram(cmd)
	ran.Took = time.Since(began)
	if _, ended := errors.AsType[*exec.ExitError](err); ended || err == nil || errors.Is(err, exec.ErrWaitDelay) {
		ran.Exit = cmd.ProcessState.ExitCode()
	}
	late := limited.Err() != nil && ran.Exit != 0
	switch {
	case late && ctx.Err() != nil:
		ran.Reason = umpire.Say("Hook %q was stopped: its caller is gone", h.ID)
	case late:
		ran.Reason = umpire.Say("Hook %q took longer than %s and was killed", h.ID, h.Limit())
	case ran.Exit == 0:
		ran.readAnswer(stdout)
	case ran.Exit > 0:
		ran.Reason = cmp.Or(umpire.Verbatim(stderr.reasonText()),
			umpire.Say("Hook %q failed with exit code %s", h.ID, ran.Exit))
	default:
		ran.Reason = umpire.Say("Hook %q could not be run: %s", h.ID, err)
	}
	return ran
}

// runProgram runs the program, in the sandbox if one is configured.
func (o *Occasion) runProgram(cmd *exec.Cmd) error {
	if o.Confine == nil {
		return runLocked(cmd)
	}
	done, err := o.Confine(cmd)
	if err != nil {
		return err
	}
	return done(runLocked(cmd))
}

// runLocked runs a program from a thread that lives as long as it does: if a child dies with its
// parent, the parent is that thread.
func runLocked(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- cmd.Run()
	}()
	return <-done
}

func (o *Occasion) env() []string {
	if o.Env == nil {
		return os.Environ()
	}
	return o.Env
}

// said keeps the beginning of a program's output.
type said struct {
	kept []byte
	more bool // it wrote more than was kept
}

func (s *said) Write(p []byte) (int, error) {
	room := min(len(p), maxSaid-len(s.kept))
	s.kept = append(s.kept, p[:room]...)
	s.more = s.more || room < len(p)
	return len(p), nil
}

// reasonText returns the written text as a reason.
func (s *said) reasonText() string {
	return files.ClipTo(strings.TrimSpace(strings.ToValidUTF8(string(s.kept), "\uFFFD")), maxReason, "")
}
