package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A claimer is a set of tools whose providers make claims beyond a call's input. The gate and the
// person asked see them with the call.
type claimer interface {
	Extra(name string) map[string]json.RawMessage
}

// A Toolbox combines several sets of tools. If several have a tool of the same name, the first one
// wins. The zero value has no tools.
type Toolbox []Tools

// find returns the innermost set that has a tool, or nil.
func find(tools Tools, name string) Tools {
	switch set := tools.(type) {
	case Toolbox:
		for _, inner := range set {
			if found := find(inner, name); found != nil {
				return found
			}
		}
		return nil
	case *chosen:
		if !set.keep(name) {
			return nil
		}
		return find(set.from, name)
	}
	if !tools.Has(name) {
		return nil
	}
	return tools
}

// claimsOf returns the claims about a tool.
func claimsOf(tools Tools, name string) map[string]json.RawMessage {
	if set, ok := find(tools, name).(claimer); ok {
		return set.Extra(name)
	}
	return nil
}

// trierOf returns the set that can try a call of a tool, or nil.
func trierOf(tools Tools, name string) trier {
	set, _ := find(tools, name).(trier)
	return set
}

// Has reports whether a set has the tool.
func (b Toolbox) Has(name string) bool { return find(b, name) != nil }

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

// Run runs a call with the set that has its tool. A missing tool is an error for the model.
func (b Toolbox) Run(ctx context.Context, started umpire.Started) umpire.Result {
	if set := find(b, started.Call.Tool); set != nil {
		return set.Run(ctx, started)
	}
	return umpire.Result{
		Call: started.Call.ID, Status: umpire.ResultError,
		Output: fmt.Sprintf("tool %q no longer exists", started.Call.Tool),
	}
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

func (c *chosen) Run(ctx context.Context, started umpire.Started) umpire.Result {
	return c.from.Run(ctx, started)
}

func (c *chosen) Stop() { c.from.Stop() }
