package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// trials are the commands of a set that are tried.
type trials struct{ set *Set }

// Try runs a command as a trial, without real effects, and reports its effects. The layer survives this process
// and waits for KeepTrial or DiscardTrial. After an error there is no layer; without support for trials, the error
// wraps [trial.ErrUnavailable].
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
	seen, written := NamedOutside(&begun.Decision, false)
	temporary := sandbox.TemporaryFolder{Path: sandbox.Temporary, Named: written}
	if place.Scratch != "" {
		temporary.Path = sandbox.TmpIn(place.Scratch)
	}
	temporary.Session, temporary.Ledger = begun.Call.Session, sandbox.NewScratchLedger(t.set.options.State, time.Now)
	var exit *egress.Proxy
	if t.set.options.Exit != nil {
		if exit, err = t.set.options.Exit(&begun.Call, begun.Reach); err != nil {
			return report, err
		}
	}
	result, err := trial.Run(ctx, trial.Spec{
		Args: []string{ShellName(), "-c", command}, Dir: begun.Call.Dir, Stdout: sink, Stderr: sink,
		Env: SandboxEnv(t.set.options.Env, t.set.options.EnvListed),
		Place: &sandbox.Place{
			Workspace: place.Workspace, Home: place.Home, State: place.State, Cache: place.Cache, Show: place.Show,
		},
		Seen: seen, Temporary: temporary,
		State: trial.LayersIn(t.set.options.State), Exit: exit,
	})
	done()
	if err != nil {
		return report, err
	}
	held := trial.Held{
		ID: filepath.Base(result.Layer.Dir), Time: time.Now().UTC(), Command: command, Root: t.set.options.Root,
		Call: begun.Call.ID, Session: begun.Call.Session, Batch: begun.Call.Batch, Trial: begun.Trial,
		Exit: result.Exit, Network: len(begun.Reach) > 0, Layer: result.Layer, Effects: result.Effects,
	}
	if err := trial.Hold(t.set.options.State, &held); err != nil {
		return report, errors.Join(err, result.Layer.Discard())
	}
	report.Exit, report.Output = result.Exit, cleanText(out.String())
	report.Effects = result.Layer.Describe(&result.Effects)
	return report, nil
}

// KeepTrial makes the effects of a call's trial real, all or none, after the gate has started the
// call. It returns the outcome.
func (t trials) KeepTrial(ctx context.Context, started umpire.Started) (umpire.TrialSettlement, error) {
	if !started.Go || started.Decision.Verdict != umpire.Allow || started.Trial == nil {
		return umpire.TrialSettlement{State: umpire.TrialDiscarded}, errors.New("the gate has not let this call run")
	}
	return t.keeper().Keep(ctx, started.Trial.ID, started.Trial.Effects.Digest)
}

// DiscardTrial removes the layer of a trial, if it is there.
func (t trials) DiscardTrial(id umpire.TrialID) error { return t.keeper().Discard(id) }

func (t trials) keeper() *trial.Keeper {
	return &trial.Keeper{State: t.set.options.State, Vault: t.set.options.Vault}
}
