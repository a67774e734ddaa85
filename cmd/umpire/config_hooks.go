package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// A hookConfig is one hook as it stands in the configuration.
type hookConfig struct {
	ID        string `yaml:"id" json:"id,omitempty"`
	ToolMatch string `yaml:"toolMatch" json:"toolMatch,omitempty"`
	Command   string `yaml:"command" json:"command"`
	Timeout   *int64 `yaml:"timeout" json:"timeout,omitempty"` // milliseconds
	OnFailure string `yaml:"onFailure" json:"onFailure,omitempty"`

	line int
}

var hookKeys = []string{"id", "toolMatch", "command", "timeout", "onFailure"}

// decodeHooks reads the hooks by their events. What is wrong with one makes the
// configuration broken, so that no protection goes missing.
func decodeHooks(c *config, n *yaml.Node) error {
	c.hooks = nil // a map is shared with the configuration before
	var events map[string][]yaml.Node
	if err := decode(n, &events); err != nil {
		return err
	}
	hooks := map[rulefile.HookEvent][]hookConfig{}
	for event, list := range events {
		for i := range list {
			h := hookConfig{line: list[i].Line}
			if err := onlyKeys(&list[i], hookKeys); err != nil {
				return err
			}
			if err := decode(&list[i], &h); err != nil {
				return err
			}
			made, err := h.hook(rulefile.HookEvent(event), "")
			if err == nil {
				err = made.Validate(policy.Validate)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", h.line, err)
			}
			hooks[made.Event] = append(hooks[made.Event], h)
		}
	}
	c.hooks = hooks
	return nil
}

// hook is the hook as the gate knows it.
func (h hookConfig) hook(event rulefile.HookEvent, file string) (rulefile.Hook, error) {
	made := rulefile.Hook{
		ID: h.ID, Event: event, ToolMatch: h.ToolMatch, Command: h.Command,
		Source: umpire.SourceUser, File: file, Line: h.line,
	}
	if h.Timeout != nil {
		made.Timeout = time.Duration(*h.Timeout) * time.Millisecond
		if *h.Timeout < 1 || made.Timeout/time.Millisecond != time.Duration(*h.Timeout) {
			made.Timeout = -1 // refused by Validate
		}
	}
	made.Named()
	var err error
	made.Skip, err = rulefile.OnFailure(h.OnFailure)
	return made, err
}

// hookList are the hooks of the configuration in the order of their lines.
func (c *config) hookList() []rulefile.Hook {
	var all []rulefile.Hook
	for event, list := range c.hooks {
		for _, h := range list {
			if made, err := h.hook(event, c.sources["hooks"]); err == nil { // it was read before
				all = append(all, made)
			}
		}
	}
	slices.SortFunc(all, func(a, b rulefile.Hook) int { return a.Line - b.Line })
	return all
}

// listHooks writes the hooks that are in force, below the rules.
func (a *app) listHooks(hooks []rulefile.Hook) error {
	if len(hooks) == 0 {
		return nil
	}
	fmt.Fprintf(a.stdout, "\n%s\n", a.text.of("hooks"))
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for i := range hooks {
		h := &hooks[i]
		failure := "block"
		if h.Skip {
			failure = "skip"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s:%d\n", h.Source, clip(visible(h.ID)), h.Event, clip(visible(strings.Join(h.Tools(), "|"))),
			clip(visible(orText(h.Fault, h.Command))), h.Limit(), failure, visible(h.File), h.Line)
	}
	return table.Flush()
}
