package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/policy"
)

// An Agent limits one agent, see policy.Profile.
type Agent struct {
	Tools            []string `key:"tools" json:"tools,omitzero"`
	EditableSuffixes []string `key:"editableFileSuffixes" json:"editableFileSuffixes,omitzero"`
	// SuffixScope says what EditableSuffixes applies to: "" and editTools are the two
	// filesystem-edit tools, AllWrites is every file that any tool writes or deletes.
	SuffixScope string `key:"editableFileSuffixesScope" json:"editableFileSuffixesScope,omitempty"`
	Model       string `key:"model" json:"model,omitempty"`
}

// The values of editableFileSuffixesScope.
const (
	editTools = "edit-tools"
	AllWrites = "all-writes"
)

// profile returns the part of the configuration that the policy uses.
func (c Agent) profile() policy.Profile {
	return policy.Profile{Tools: c.Tools, EditableSuffixes: c.EditableSuffixes, AllWrites: c.SuffixScope == AllWrites}
}

// Profile returns the profile of an agent, or nil if it has no profile. An unknown name is an
// error unless it is the main agent. An empty name may stand for any agent: the main agent's
// file limits apply because they apply everywhere, but its list of tools does not.
func (c *Config) Profile(name string) (*policy.Profile, error) {
	agent, known := c.Agents[name]
	switch {
	case known:
		profile := agent.profile()
		return &profile, nil
	case name == "":
		main := c.Agents[MainAgent].profile()
		return main.EditLimit(), nil
	case name == MainAgent:
		return nil, nil
	}
	return nil, umpire.Errorf("%q: the configuration has no such agent", name)
}

// effective returns the profiles with normalised suffixes.
func effective(agents map[string]Agent) map[string]Agent {
	all := maps.Clone(agents)
	for name, agent := range all {
		agent.EditableSuffixes = policy.NormalizeSuffixes(agent.EditableSuffixes)
		all[name] = agent
	}
	return all
}

func decodeAgents(c *Config, v *docedit.Value) error {
	c.Agents = map[string]Agent{} // a map is shared with the configuration before
	if err := v.Decode(&c.Agents); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		switch scope := c.Agents[name].SuffixScope; scope {
		case "", editTools, AllWrites:
		default:
			return umpire.Errorf("%s.editableFileSuffixesScope: %q: want %s or %s", name, scope, editTools, AllWrites)
		}
	}
	return nil
}

// restoreModels undoes a project's choice of models. Only a person may choose a model, because it decides
// what the agent does and where the conversation goes. Agents that a project does not name stay unchanged.
func restoreModels(now, next *Config) (ignored []string) {
	if next.Agents == nil {
		next.Agents = map[string]Agent{}
	}
	for name, was := range now.Agents {
		if _, named := next.Agents[name]; !named {
			next.Agents[name] = was
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Agents)) {
		is, was := next.Agents[name], now.Agents[name]
		if is.Model != "" && is.Model != was.Model {
			ignored = append(ignored, "agents."+name+".model")
		}
		is.Model = was.Model
		next.Agents[name] = is
	}
	return ignored
}

// narrowsAgents: a project may leave an agent fewer tools and suffixes, and name other
// agents that are no less limited than the main one, whose sub-agents they could be.
func narrowsAgents(now, next *Config) bool {
	for name, was := range now.Agents {
		if !narrowsAgent(was, next.Agents[name]) {
			return false
		}
	}
	for name, is := range next.Agents {
		if _, known := now.Agents[name]; !known && !narrowsAgent(now.Agents[MainAgent], is) {
			return false
		}
	}
	return true
}

func narrowsAgent(was, is Agent) bool {
	before, after := policy.NormalizeSuffixes(was.EditableSuffixes), policy.NormalizeSuffixes(is.EditableSuffixes)
	limited := len(before) == 0 || len(after) > 0 && containsAll(before, after)
	if was.SuffixScope == AllWrites && is.SuffixScope != AllWrites && len(before) > 0 {
		return false
	}
	return limited && narrowerTools(was.Tools, is.Tools)
}

// narrowerTools reports whether every tool that is listed was listed before. Two patterns are
// not compared, unless one of them lists everything.
func narrowerTools(was, is []string) bool {
	if was == nil || slices.Contains(was, "*") {
		return was == nil || is != nil
	}
	before := policy.Profile{Tools: was}
	return is != nil && !slices.ContainsFunc(is, func(tool string) bool {
		return !slices.Contains(was, tool) && (strings.ContainsAny(tool, `*?[\`) || !before.Lists(tool))
	})
}
