package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/sandbox"
	"github.com/umpirehq/umpire/internal/trial"
)

// trials are the commands of a set that are tried.
type trials struct{ set *Set }

// Try runs a command where nothing of it is real, and says what it did. Its layer waits then
// for KeepTrial or DiscardTrial, whatever happens to this process. After an error there is none; that of
// a machine without trials wraps [trial.ErrUnavailable].
func (t trials) Try(ctx context.Context, begun umpire.BegunTrial) (umpire.TrialReport, error) {
	report := umpire.TrialReport{Trial: begun.Trial}
	if begun.Call.Tool != "Bash" || t.set.options.State == "" || t.set.options.Sandbox == nil {
		return report, trial.ErrUnavailable
	}
	in, err := readInput(begun.Call.Input)
	if err != nil {
		return report, err
	}
	command, err := commandOf(in)
	if err != nil {
		return report, err
	}
	limit, err := in.number("timeout", bashTimeout, 1, maxBashTimeout)
	if err != nil {
		return report, err
	}
	timeout := time.Duration(limit) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %v", errTimeout, timeout))
	defer cancel()
	var out output
	sink, done := t.set.streamOutput(begun.Call.ID, &out)
	place := t.set.options.Sandbox
	result, err := trial.Run(ctx, trial.Spec{
		Args: []string{ShellName(), "-c", command}, Dir: begun.Call.Dir, Stdout: sink, Stderr: sink,
		Env:   SandboxEnv(t.set.options.Env, t.set.options.EnvListed),
		Place: &sandbox.Place{Workspace: place.Workspace, Home: place.Home, State: place.State, Cache: place.Cache},
		State: trial.LayersIn(t.set.options.State),
	})
	done()
	if err != nil {
		return report, err
	}
	held := trial.Held{
		ID: filepath.Base(result.Layer.Dir), Time: time.Now().UTC(), Command: command, Root: t.set.options.Root,
		Call: begun.Call.ID, Session: begun.Call.Session,
		Exit: result.Exit, Layer: result.Layer, Effects: result.Effects,
	}
	if err := trial.Hold(t.set.options.State, &held); err != nil {
		return report, errors.Join(err, result.Layer.Discard())
	}
	report.Exit, report.Output = result.Exit, cleanText(out.String())
	report.Effects = result.Layer.Describe(&result.Effects)
	return report, nil
}

// errLayerGone says that a trial cannot be kept any more.
var errLayerGone = errors.New("its layer is gone")

// findTrial returns the trial that waits with a layer.
func (t trials) findTrial(digest string) (*trial.Held, error) {
	all, err := trial.HeldTrials(t.set.options.State)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Effects.Digest == digest && all[i].Root == t.set.options.Root {
			return &all[i], nil
		}
	}
	return nil, errLayerGone
}

// KeepTrial makes real what the trial of a call has shown that the gate has started, all of it or
// nothing. It says what became of it.
func (t trials) KeepTrial(ctx context.Context, started umpire.Started) (umpire.TrialSettlement, error) {
	settled := umpire.TrialSettlement{State: umpire.TrialDiscarded}
	if !started.Go || started.Decision.Verdict != umpire.Allow || started.Trial == nil {
		return settled, errors.New("the gate has not let this call run")
	}
	settled.Trial, settled.Digest = started.Trial.ID, started.Trial.Effects.Digest
	held, err := t.findTrial(settled.Digest)
	if err != nil {
		return settled, err
	}
	_, err = held.Layer.Keep(ctx, trial.KeepSpec{
		State: t.set.options.State, Shown: &held.Effects, Command: held.Command, Call: held.Call,
		Session: held.Session,
	})
	if conflict, is := errors.AsType[*trial.ConflictError](err); is {
		settled.State, settled.Paths = umpire.TrialConflict, conflict.Paths
	}
	if err != nil {
		return settled, err
	}
	settled.State = umpire.TrialKept
	return settled, trial.Release(t.set.options.State, held.ID)
}

// DiscardTrial removes the layer of a trial, if it is there.
func (t trials) DiscardTrial(digest string) error {
	held, err := t.findTrial(digest)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to remove
	}
	return errors.Join(held.Layer.Discard(), trial.Release(t.set.options.State, held.ID))
}
