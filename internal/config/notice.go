package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/policy"
)

// A Notice is something about the configuration that a person should know.
type Notice struct {
	Text string // a format
	Args []any
}

// In is the notice in a language: say turns an English format into its own.
func (n Notice) In(say func(string) string) string { return fmt.Sprintf(say(n.Text), n.Args...) }

// The notices.
const (
	OnlyTightens  = "%s:%d: %s is ignored: a project may only tighten"
	LimitsNothing = "%s: no item of agents.%s.editableFileSuffixes is a suffix, so that EVERY file may be edited"
	NeverMatches  = "%s: %q in agents.%s.editableFileSuffixes fits no file: a suffix begins at the last dot"
)

// suffixNotices are about lists of suffixes that do not limit what they seem to.
func (c *Config) suffixNotices() []Notice {
	var notices []Notice
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		profile := c.Agents[name].Profile()
		if profile.LimitsNothing() {
			notices = append(notices, Notice{LimitsNothing, []any{c.Source("agents"), name}})
		}
		for _, suffix := range policy.NormalizeSuffixes(profile.EditableSuffixes) {
			if strings.LastIndexByte(suffix, '.') > 0 {
				notices = append(notices, Notice{NeverMatches, []any{c.Source("agents"), suffix, name}})
			}
		}
	}
	return notices
}
