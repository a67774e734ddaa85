package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/policy"
)

// An agentConfig limits one agent, see policy.Profile.
type agentConfig struct {
	Tools            []string `yaml:"tools" json:"tools,omitzero"`
	EditableSuffixes []string `yaml:"editableFileSuffixes" json:"editableFileSuffixes,omitzero"`
	Model            string   `yaml:"model" json:"model,omitempty"`
}

func (c agentConfig) profile() policy.Profile {
	return policy.Profile{Tools: c.Tools, EditableSuffixes: c.EditableSuffixes}
}

// profile is the profile that a flag names; none is named by "".
func (c *config) profile(name string) (*policy.Profile, error) {
	agent, known := c.agents[name]
	switch {
	case known:
		profile := agent.profile()
		return &profile, nil
	case name == "" || name == mainAgent:
		return nil, nil
	}
	return nil, usage("umpire config", "--agent %q: the configuration has no such agent", name)
}

// text is the profile for people: what it limits, with the suffixes as they are
// compared.
func (c agentConfig) text(in catalogue) string {
	tools, suffixes := in.of("all tools"), in.of("every suffix")
	if c.Tools != nil {
		tools = orText(strings.Join(c.Tools, " "), in.of("no tools"))
	}
	if effective := policy.NormalizeSuffixes(c.EditableSuffixes); len(effective) > 0 {
		suffixes = strings.Join(effective, " ")
	}
	return tools + "; " + suffixes
}

// effective is the profiles with the suffixes as they are compared.
func effective(agents map[string]agentConfig) map[string]agentConfig {
	all := maps.Clone(agents)
	for name, agent := range all {
		agent.EditableSuffixes = policy.NormalizeSuffixes(agent.EditableSuffixes)
		all[name] = agent
	}
	return all
}

// agentsText is the profiles of all agents, one after the other.
func agentsText(agents map[string]agentConfig, in catalogue) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		all = append(all, name+": "+agents[name].text(in))
	}
	return strings.Join(all, " | ")
}

// A notice is something about the configuration that a person should know.
type notice struct {
	text string // a format
	args []any
}

func (n notice) in(c catalogue) string { return fmt.Sprintf(c.of(n.text), n.args...) }

// The notices.
const (
	onlyTightens  = "%s:%d: %s is ignored: a project may only tighten"
	limitsNothing = "%s: no item of agents.%s.editableFileSuffixes is a suffix, so that EVERY file may be edited"
	neverMatches  = "%s: %q in agents.%s.editableFileSuffixes fits no file: a suffix begins at the last dot"
)

// suffixNotices are about lists of suffixes that do not limit what they seem to.
func (c *config) suffixNotices() []notice {
	var notices []notice
	for _, name := range slices.Sorted(maps.Keys(c.agents)) {
		profile := c.agents[name].profile()
		if profile.LimitsNothing() {
			notices = append(notices, notice{limitsNothing, []any{c.source("agents"), name}})
		}
		for _, suffix := range policy.NormalizeSuffixes(profile.EditableSuffixes) {
			if strings.LastIndexByte(suffix, '.') > 0 {
				notices = append(notices, notice{neverMatches, []any{c.source("agents"), suffix, name}})
			}
		}
	}
	return notices
}

// remarkAll tells the person of notices.
func (a *app) remarkAll(notices []notice) {
	for _, n := range notices {
		a.remark(n.in(a.text))
	}
}
