package config

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/policy"
)

// AutonomyPrefix begins the keys of autonomy.
const AutonomyPrefix = "autonomy."

// autonomyKeys are the rows of the autonomy table, each with the words for asking and for
// the alternative on a higher level.
var autonomyKeys = []Key{
	autonomyKey("outside_reads", "reads outside the project that name no secret", "run",
		func(a *policy.Autonomy) *bool { return &a.OutsideReads }),
	autonomyKey("scratch", "temporary folders such as /tmp", "inside",
		func(a *policy.Autonomy) *bool { return &a.Scratch }),
	autonomyKey("edits", "writes in the project: edit, format, make folders, copy, move", "run",
		func(a *policy.Autonomy) *bool { return &a.Edits }),
	autonomyKey("unknown_code", "scripts, builds, tests and other code that cannot be judged by reading", "trial",
		func(a *policy.Autonomy) *bool { return &a.UnknownCode }),
	autonomyKey("deletes", "deletions in the project", "trial",
		func(a *policy.Autonomy) *bool { return &a.Deletes }),
	autonomyKey("local_git", "git add, commit, branch, stash and the like", "run",
		func(a *policy.Autonomy) *bool { return &a.LocalGit }),
	{
		AutonomyPrefix + "network",
		"network to the listed destinations: ask, ask once for each in a session, or listed, unasked",
		func(c *Config, v *docedit.Value) error { return decodeIndex(v, &c.Autonomy.Network, networkAnswers) },
		func(c *Config) any { return networkAnswers[c.Autonomy.Network] },
		func(now, next *Config) bool { return next.Autonomy.Network <= now.Autonomy.Network },
	},
	{
		destinationsKey,
		"hosts, or groups of them such as npm, that commands may reach if autonomy.network allows it",
		decodeDestinations,
		func(c *Config) any { return orNone(c.Listed) },
		func(now, next *Config) bool { return containsAll(now.Listed, next.Listed) },
	},
}

const destinationsKey = AutonomyPrefix + "destinations"

// networkAnswers are the values of the key autonomy.network.
var networkAnswers = []string{
	umpire.NetworkAsk: "ask", umpire.NetworkOnce: "once", umpire.NetworkListed: "listed",
}

// autonomyKey returns the key of one row. A project can only set it to ask.
func autonomyKey(name, about, word string, at func(*policy.Autonomy) *bool) Key {
	return Key{
		AutonomyPrefix + name, about,
		func(c *Config, v *docedit.Value) error { return decodeChoice(v, at(&c.Autonomy), "ask", word) },
		func(c *Config) any { return choice(*at(&c.Autonomy), "ask", word) },
		func(now, next *Config) bool { return *at(&now.Autonomy) || !*at(&next.Autonomy) },
	}
}

// decodeDestinations reads hosts and groups.
func decodeDestinations(c *Config, v *docedit.Value) error {
	err := v.Decode(&c.Listed)
	if err == nil {
		_, err = egress.ParseList(c.Listed)
	}
	c.Destinations, c.Fetchers = egress.Hosts(c.Listed)
	return err
}

// LevelNames are the words for the levels.
func LevelNames() []string {
	var names []string
	for _, l := range policy.Levels {
		names = append(names, string(l))
	}
	return names
}

// AutonomyLevel returns the level whose standing answers match those in force, or "" if no level does.
func (c *Config) AutonomyLevel() policy.Level {
	for _, l := range policy.Levels {
		if c.Autonomy == l.Autonomy() {
			return l
		}
	}
	return ""
}

// WriteAutonomy sets the keys of a level in a configuration file, as Write does.
func WriteAutonomy(file string, l policy.Level) error {
	c := Config{Settings: Settings{Settings: policy.Settings{Autonomy: l.Autonomy()}}}
	return rewrite(file, func(d *docedit.Doc) (*docedit.Doc, error) {
		for i := range autonomyKeys {
			k := &autonomyKeys[i]
			word, isWord := k.Value(&c).(string)
			if !isWord {
				continue
			}
			var err error
			if d, err = setKey(d, k.Name, word); err != nil {
				return nil, err
			}
		}
		return d, nil
	})
}
