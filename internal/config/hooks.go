package config

import (
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// A Hook is one hook of the configuration.
type Hook struct {
	ID        string `key:"id" json:"id,omitempty"`
	ToolMatch string `key:"toolMatch" json:"toolMatch,omitempty"`
	Command   string `key:"command" json:"command"`
	Timeout   *int64 `key:"timeout" json:"timeout,omitempty"` // milliseconds
	OnFailure string `key:"onFailure" json:"onFailure,omitempty"`

	line int
}

// decodeHooks reads the hooks by their events. A malformed hook breaks the configuration: a
// protection must not go missing.
func decodeHooks(c *Config, v *docedit.Value) error {
	c.hooks = nil // a map is shared with the configuration before
	var events map[rulefile.HookEvent][]Hook
	if err := v.Decode(&events); err != nil {
		return err
	}
	for event, list := range events {
		for i := range list {
			at := v.At(string(event)).Items[i]
			list[i].line = at.Line
			made, err := list[i].hook(event, "")
			if err == nil {
				err = made.Validate(policy.Validate)
			}
			if err != nil {
				return at.Fault(err)
			}
		}
	}
	c.hooks = events
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
