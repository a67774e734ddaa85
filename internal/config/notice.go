package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/umpirehq/umpire/policy"
)

// A Notice is something about the configuration that a person should know.
type Notice struct {
	Text string // a format
	Args []any
}

// In returns the notice in a language: say translates an English format.
func (n Notice) In(say func(string) string) string { return fmt.Sprintf(say(n.Text), n.Args...) }

// The notices.
const (
	onlyTightens = "%s:%d: %s is ignored: a project may only tighten"
	// onlyTightensManaged is about a person's value for a key that the administrator has set.
	onlyTightensManaged = "%s:%d: %s is ignored: %s sets it, and you may only tighten it"
	// NotEnforced describes the effect of a gateway that is not enforced.
	NotEnforced = "%s: the gateway is not enforced: umpire only records and warns, and denies only critical, " +
		"forbidden or malformed calls"
	limitsNothing = "%s: EVERY file may be edited, because no item of agents.%s.editableFileSuffixes is a suffix"
	neverMatches  = "%s: %q in agents.%s.editableFileSuffixes fits no file: a suffix begins at the last dot"
)

// suffixNotices returns notices about lists of suffixes that do not limit as much as they seem to.
func (c *Config) suffixNotices() []Notice {
	var notices []Notice
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		profile := c.Agents[name].profile()
		if profile.LimitsNothing() {
			notices = append(notices, Notice{limitsNothing, []any{c.Source("agents"), name}})
		}
		for _, suffix := range policy.NormalizeSuffixes(profile.EditableSuffixes) {
			if policy.FitsNoFile(suffix) {
				notices = append(notices, Notice{neverMatches, []any{c.Source("agents"), suffix, name}})
			}
		}
	}
	return notices
}
