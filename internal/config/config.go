// Package config defines the configuration: the keys and their meaning, the values that
// a project's file may set over a person's, and how files are read and written.
//
// A file is YAML, with keys joined by dots or nested. An unknown key, an invalid value and a
// duplicate key are errors with file and line, and then nothing in that file takes effect. A
// project's file comes with a clone, so only its stricter settings count, and a Notice names
// the ignored ones.
package config

import (
	"cmp"
	"reflect"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// FileName is the name of a configuration file in its folder.
const FileName = "config.yaml"

// A Config is the configuration in force: the defaults, and over them the files of the
// administrator, the person and the project.
type Config struct {
	Settings

	ResumeScope string
	SandboxEnv  []string // variables with secrets that sandboxed commands get
	UndoSize    int64    // bytes that are kept for undoing
	UndoAge     time.Duration
	Retention   time.Duration // of sessions that are over, 0 for ever

	Store, Listen, Lang string
	NetworkProxy        string // where sandboxes of agents find the gate's proxy, or ""
	WatchNotify         string // off, bell or desktop
	Agents              map[string]Agent
	Servers             map[string]Server
	Notify              Notify
	Console             Console

	Root    string            // the project's root folder
	Sources map[string]string // key -> file that set it
	managed map[string]bool   // keys that the administrator's file sets
	hooks   map[rulefile.HookEvent][]Hook
	Notices []Notice // settings that are ignored, or that differ from what they suggest
}

// MainAgent is the default profile.
const MainAgent = "main"

// defaults returns the configuration that applies without any file.
func defaults() *Config {
	return &Config{
		Settings: Settings{
			Settings: policy.Settings{
				Mode: umpire.ModeDefault, Precedence: policy.DenyAskAllow,
				Sandbox: policy.Sandbox{Mode: umpire.SandboxWorkspaceWrite},
				Hook:    policy.HookSettings{WhenAsked: policy.AskedAuto},
			},
			MaxDenialsInRow: 3, MaxDenials: 20, Remember: 720 * time.Hour, MaxPending: 100,
		},
		UndoSize: 2 << 30, UndoAge: 7 * day,
		WatchNotify: "bell",
		ResumeScope: "current_project", Sources: map[string]string{}, managed: map[string]bool{},
	}
}

// User reads the machine's and the person's configuration; it does not need a project. An
// error names the file and the line.
func User(home string) (*Config, error) { return readFiles(filesOf(home, "")) }

// Read reads the configuration of a project: the administrator's file, then the person's in
// home, then the project's. Neither of the latter can loosen the administrator's settings,
// and a project loosens nothing.
func Read(home, root string) (*Config, error) {
	c, err := readFiles(filesOf(home, root))
	if err != nil {
		return nil, err
	}
	c.Root = root
	c.Notices = append(c.Notices, c.suffixNotices()...)
	if c.WarnOnly {
		c.Notices = append(c.Notices, Notice{NotEnforced, []any{c.Source(enforceKey)}})
	}
	return c, nil
}

// prepare derives the gate's view of the agents and hooks.
func (c *Config) prepare() {
	c.Profiles = map[string]policy.Profile{}
	for name, agent := range c.Agents {
		c.Profiles[name] = agent.profile()
	}
	c.Hooks = c.hookList()
}

// Source is the file that set a key, or "default".
func (c *Config) Source(key string) string { return cmp.Or(c.Sources[key], "default") }

// A InForce is one key in force.
type InForce struct {
	Value  any    `json:"value"`
	Source string `json:"source"` // default, or the file that set it
}

// Values are all keys with their Values.
func (c *Config) Values() map[string]InForce {
	all := map[string]InForce{}
	for i := range Keys {
		all[Keys[i].Name] = InForce{Keys[i].Value(c), c.Source(Keys[i].Name)}
	}
	return all
}

// read merges one file into c. A missing file changes nothing.
func (c *Config) read(f file) error {
	d, err := open(f.path)
	if err != nil {
		return f.fault(err)
	}
	if err := f.guarded(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, given := range flatten("", d.Root) {
		if seen[given.key] {
			return f.fault(given.value.Fault(docedit.DuplicateKey(given.key)))
		}
		seen[given.key] = true
		if err := c.take(f, given); err != nil {
			return f.fault(docedit.Locate(err, given.value.Pos))
		}
	}
	return nil
}

// take sets one key.
func (c *Config) take(f file, g given) error {
	s, err := keyOf(g.key)
	if err != nil {
		return err
	}
	next := *c
	if err := s.set(&next, g.value); err != nil {
		at := docedit.Locate(err, g.value.Pos)
		return at.Fault(umpire.Errorf("%s: %w", g.key, at.Err))
	}
	if next.WarnOnly && g.key == enforceKey && f.source != umpire.SourceManaged {
		return umpire.Errorf("%s: false has an effect only in %s; remove this line", g.key, managedFile())
	}
	project := f.source == umpire.SourceProject
	if restore := restores[g.key]; project && restore != nil {
		for _, name := range restore(c, &next) {
			c.Notices = append(c.Notices, Notice{onlyTightens, []any{f.path, g.value.Line, name}})
		}
		next.Notices = c.Notices
	}
	bound := project || c.managed[g.key]
	if bound && (s.tightens == nil || !s.tightens(c, &next)) {
		if !reflect.DeepEqual(s.Value(c), s.Value(&next)) {
			c.Notices = append(c.Notices, c.ignored(f, g))
		}
		return nil
	}
	*c = next
	c.Sources[g.key] = f.path
	if f.source == umpire.SourceManaged {
		c.managed[g.key] = true
		c.limit(g.key)
	}
	return nil
}

// limit records the administrator's limit on modes that flags choose.
func (c *Config) limit(key string) {
	switch key {
	case "mode":
		c.Most.Mode = new(c.Mode)
	case "sandbox.mode":
		c.Most.Sandbox = c.Sandbox.Mode
	}
}

// ignored returns a notice that a value is ignored, with the reason.
func (c *Config) ignored(f file, g given) Notice {
	if f.source == umpire.SourceProject {
		return Notice{onlyTightens, []any{f.path, g.value.Line, g.key}}
	}
	return Notice{onlyTightensManaged, []any{f.path, g.value.Line, g.key, managedFile()}}
}
