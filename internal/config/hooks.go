package config

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// A Hook is one hook of the configuration.
type Hook struct {
	ID        string `yaml:"id" json:"id,omitempty"`
	ToolMatch string `yaml:"toolMatch" json:"toolMatch,omitempty"`
	Command   string `yaml:"command" json:"command"`
	Timeout   *int64 `yaml:"timeout" json:"timeout,omitempty"` // milliseconds
	OnFailure string `yaml:"onFailure" json:"onFailure,omitempty"`

	line int
}

var hookKeys = []string{"id", "toolMatch", "command", "timeout", "onFailure"}

// decodeHooks reads the hooks by their events. A malformed hook breaks the configuration: a
// protection must not go missing.
func decodeHooks(c *Config, n *yaml.Node) error {
	c.hooks = nil // a map is shared with the configuration before
	var events map[string][]yaml.Node
	if err := decode(n, &events); err != nil {
		return err
	}
	hooks := map[rulefile.HookEvent][]Hook{}
	for event, list := range events {
		for i := range list {
			h := Hook{line: list[i].Line}
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
				return &lineError{h.line, err}
			}
			hooks[made.Event] = append(hooks[made.Event], h)
		}
	}
	c.hooks = hooks
	return nil
}

// hook is the hook as the gate knows it.
func (h Hook) hook(event rulefile.HookEvent, file string) (rulefile.Hook, error) {
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

// hookList returns the hooks of the configuration in the order of their lines.
func (c *Config) hookList() []rulefile.Hook {
	var all []rulefile.Hook
	for event, list := range c.hooks {
		for _, h := range list {
			if made, err := h.hook(event, c.Sources["hooks"]); err == nil { // it was read before
				all = append(all, made)
			}
		}
	}
	slices.SortFunc(all, func(a, b rulefile.Hook) int { return a.Line - b.Line })
	return all
}
