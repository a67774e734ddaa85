package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// A claimer is a set of tools whose providers make claims beyond a call's input. The gate and the
// person asked see them with the call.
type claimer interface {
	Extra(name string) map[string]json.RawMessage
}

// A Toolbox combines several sets of tools. If several have a tool of the same name, the first one
// wins. The zero value has no tools.
type Toolbox []Tools

// set returns the set that has a tool, or nil.
func (b Toolbox) set(name string) Tools {
	for _, set := range b {
		if set.Has(name) {
			return set
		}
	}
	return nil
}

// Has reports whether a set has the tool.
func (b Toolbox) Has(name string) bool { return b.set(name) != nil }

// Tools describes the tools to a model, one set after the other.
func (b Toolbox) Tools() []llm.Tool {
	var all []llm.Tool
	seen := map[string]bool{}
	for _, set := range b {
		for _, t := range set.Tools() {
			if !seen[t.Name] {
				all, seen[t.Name] = append(all, t), true
			}
		}
	}
	return all
}

// Extra returns the claims about a tool.
func (b Toolbox) Extra(name string) map[string]json.RawMessage {
	if set, ok := b.set(name).(claimer); ok {
		return set.Extra(name)
	}
	return nil
}

// Run runs a call with the set that has its tool. A missing tool is an error for the model.
func (b Toolbox) Run(ctx context.Context, started umpire.Started) umpire.Result {
	if set := b.set(started.Call.Tool); set != nil {
		return set.Run(ctx, started)
	}
	return umpire.Result{
		Call: started.Call.ID, Status: umpire.ResultError,
		Output: fmt.Sprintf("there is no tool %q here any more", started.Call.Tool),
	}
}

// trier returns the set that can try a call of a tool, or nil.
func (b Toolbox) trier(name string) trier {
	trier, _ := b.set(name).(trier)
	return trier
}

// Try tries a call with the set that has its tool.
func (b Toolbox) Try(ctx context.Context, begun umpire.BegunTrial) (umpire.TrialReport, error) {
	if t := b.trier(begun.Call.Tool); t != nil {
		return t.Try(ctx, begun)
	}
	return umpire.TrialReport{}, trial.ErrUnavailable
}

// KeepTrial keeps a trial's effects with the set that has the tool of its call.
func (b Toolbox) KeepTrial(ctx context.Context, started umpire.Started) (umpire.TrialSettlement, error) {
	if t := b.trier(started.Call.Tool); t != nil {
		return t.KeepTrial(ctx, started)
	}
	return umpire.TrialSettlement{State: umpire.TrialDiscarded}, trial.ErrUnavailable
}

// DiscardTrial removes a layer from the set that has it.
func (b Toolbox) DiscardTrial(id umpire.TrialID) error {
	var errs []error
	for _, set := range b {
		if t, can := set.(trier); can {
			errs = append(errs, t.DiscardTrial(id))
		}
	}
	return errors.Join(errs...)
}

// Stop ends background work.
func (b Toolbox) Stop() {
	for _, set := range b {
		set.Stop()
	}
}

// Only returns the tools for which keep returns true.
func Only(tools Tools, keep func(name string) bool) Tools { return &chosen{tools, keep} }

type chosen struct {
	from Tools
	keep func(name string) bool
}

func (c *chosen) Has(name string) bool { return c.keep(name) && c.from.Has(name) }

func (c *chosen) Tools() []llm.Tool {
	return slices.DeleteFunc(c.from.Tools(), func(t llm.Tool) bool { return !c.keep(t.Name) })
}

func (c *chosen) Extra(name string) map[string]json.RawMessage {
	return Toolbox{c.from}.Extra(name)
}

func (c *chosen) Run(ctx context.Context, started umpire.Started) umpire.Result {
	return c.from.Run(ctx, started)
}

func (c *chosen) Stop() { c.from.Stop() }

// Try, KeepTrial and DiscardTrial are those of the whole set.

func (c *chosen) Try(ctx context.Context, begun umpire.BegunTrial) (umpire.TrialReport, error) {
	return Toolbox{c.from}.Try(ctx, begun)
}

func (c *chosen) KeepTrial(ctx context.Context, started umpire.Started) (umpire.TrialSettlement, error) {
	return Toolbox{c.from}.KeepTrial(ctx, started)
}

func (c *chosen) DiscardTrial(id umpire.TrialID) error { return Toolbox{c.from}.DiscardTrial(id) }
