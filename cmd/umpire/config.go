package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/mcp"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// maxConfigSize bounds a configuration file; a long one takes a few kilobytes.
const maxConfigSize = 256 << 10

// A config is the configuration in force: the defaults, the user's file over
// them, and the project's file where it is tighter.
type config struct {
	mode         umpire.Mode
	mediumRisk   umpire.Verdict // ask or allow
	enforce      bool           // false only records and warns
	external     umpire.Verdict // ask or deny
	crossProject bool
	resumeScope  string
	precedence   policy.Precedence
	alsoRead     []string

	maxConsecutiveDenials int
	maxDenials            int
	remember              time.Duration

	hookDeadline   time.Duration // 0: the host's timeout less 5 s
	whenAsked      string        // hold or native
	pendingTimeout time.Duration // 0: none
	maxPending     int

	sandboxMode    string
	sandboxRequire string
	sandboxNetwork bool

	store, listen, lang string
	agents              map[string]agentConfig
	hooks               map[rulefile.HookEvent][]hookConfig
	servers             map[string]mcp.Server

	root    string            // of the project
	sources map[string]string // key -> file that set it
	notices []notice          // what was ignored, or does not do what it seems to
}

// defaults is the configuration without any file.
func defaults() *config {
	return &config{
		mode: umpire.ModeDefault, mediumRisk: umpire.Ask, enforce: true, external: umpire.Ask,
		resumeScope: "current_project", precedence: policy.DenyAskAllow,
		maxConsecutiveDenials: 3, maxDenials: 20, remember: 720 * time.Hour,
		whenAsked: "hold", maxPending: 100,
		sandboxMode: "workspace-write", sandboxRequire: "strict",
		sources: map[string]string{},
	}
}

// config reads the configuration that holds in the project of a folder. What
// is wrong with a file is an error that names the file and the line.
func (a *app) config(dir string) (*config, error) {
	c, err := a.readConfig(dir)
	if err != nil {
		return nil, err
	}
	if c.lang != "" && a.getenv("UMPIRE_LANG") == "" {
		a.text = catalogueFor(c.lang)
	}
	return c, nil
}

// userConfig is the person's own configuration, so that no project needs to be
// found.
func (a *app) userConfig() (*config, error) {
	c := defaults()
	if home := a.home(); home != "" {
		if err := c.read(filepath.Join(home, "config.yaml"), false); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readConfig reads the files and changes nothing else: a gate does it while it
// serves.
func (a *app) readConfig(dir string) (*config, error) {
	c, err := a.userConfig()
	if err != nil {
		return nil, err
	}
	p, err := a.project(dir)
	if err != nil {
		return nil, err
	}
	c.root = p.Root
	if file := filepath.Join(p.Root, ".umpire", "config.yaml"); file != filepath.Join(a.home(), "config.yaml") {
		if err := c.read(file, true); err != nil {
			return nil, err
		}
	}
	c.notices = append(c.notices, c.suffixNotices()...)
	return c, nil
}

// project finds the project of a folder.
func (a *app) project(dir string) (*project.Project, error) {
	if dir == "" {
		return nil, failed(errors.New("the working directory is not known"))
	}
	cache := ""
	if a.home() != "" {
		cache = filepath.Join(a.home(), "state", "projects")
	}
	p, err := project.Open(dir, project.Options{Home: a.userHome(), Cache: cache})
	if err != nil {
		return nil, failed(fmt.Errorf("project of %s: %w", dir, err))
	}
	return p, nil
}

// gate is the configuration as the gate understands it.
func (c *config) gate(a *app) gate.Config {
	return gate.Config{UserHome: a.userHome(), Home: a.home(), Now: a.now, Settings: c.settings()}
}

// settings are what the configuration says of a project.
func (c *config) settings() gate.Settings {
	profiles := map[string]policy.Profile{}
	for name, agent := range c.agents {
		profiles[name] = agent.profile()
	}
	return gate.Settings{
		Sandbox: umpire.SandboxMode(c.sandboxMode), SandboxNetwork: c.sandboxNetwork,
		SandboxRequire: gate.Require(slices.Index(sandboxRequires, c.sandboxRequire)),
		Mode:           c.mode, AlsoRead: c.alsoRead, CrossProject: c.crossProject,
		AllowMedium: c.mediumRisk == umpire.Allow, DenyExternal: c.external == umpire.Deny, Precedence: c.precedence,
		PendingTimeout: c.pendingTimeout, MaxPending: c.maxPending,
		Remember: c.remember, MaxDenialsInRow: c.maxConsecutiveDenials, MaxDenials: c.maxDenials,
		Profiles: profiles, Hooks: c.hookList(),
	}
}

// read takes in one file; a missing one says nothing. A project's file comes
// with a clone, so there only what tightens counts.
func (c *config) read(file string, projects bool) error {
	top, err := readYAML(file)
	if err != nil {
		return usage("umpire config --help", "%s: %w", file, err)
	}
	seen := map[string]bool{}
	for _, given := range flatten("", top) {
		if seen[given.key] {
			return usage("umpire config --help", "%s:%d: key %q stands twice", file, given.node.Line, given.key)
		}
		seen[given.key] = true
		if err := c.take(file, given, projects); err != nil {
			return usage("umpire config --help", "%s:%d: %w", file, given.node.Line, err)
		}
	}
	return nil
}

// take sets one key.
func (c *config) take(file string, g given, projects bool) error {
	s, err := settingOf(g.key)
	if err != nil {
		return err
	}
	next := *c
	if err := s.set(&next, g.node); err != nil {
		return fmt.Errorf("%s: %w", g.key, err)
	}
	if projects && (s.tightens == nil || !s.tightens(c, &next)) {
		if !reflect.DeepEqual(s.value(c), s.value(&next)) {
			c.notices = append(c.notices, notice{onlyTightens, []any{file, g.node.Line, g.key}})
		}
		return nil
	}
	*c = next
	c.sources[g.key] = file
	return nil
}

// readYAML returns the mapping in a file, nil when there is nothing.
func readYAML(file string) (*yaml.Node, error) {
	data, err := readConfigFile(file)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, errors.New("is not valid UTF-8")
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return nil, nil
	}
	if top := document.Content[0]; top.Kind == yaml.MappingNode && !hasAlias(top) {
		return top, nil
	}
	return nil, errors.New("want a mapping of keys to values, without aliases")
}

func readConfigFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfigSize+1))
	if err == nil && len(data) > maxConfigSize {
		err = fmt.Errorf("larger than %d bytes", maxConfigSize)
	}
	return data, err
}

// hasAlias: a few lines of aliases can stand for gigabytes.
func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		return true
	}
	return slices.ContainsFunc(n.Content, hasAlias)
}

// A given is one key as it stands in a file.
type given struct {
	key  string
	node *yaml.Node
}

// flatten joins nested keys with dots, up to a key that is known.
func flatten(prefix string, n *yaml.Node) []given {
	if n == nil {
		return nil
	}
	var all []given
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		_, err := settingOf(key)
		if err != nil && value.Kind == yaml.MappingNode && isPrefix(key+".") {
			all = append(all, flatten(key+".", value)...)
			continue
		}
		all = append(all, given{key, value})
	}
	return all
}

// settingOf finds a key, or says which one is probably meant.
func settingOf(key string) (*setting, error) {
	for i := range settings {
		if settings[i].key == key {
			return &settings[i], nil
		}
	}
	if near := nearestKey(key); near != "" {
		return nil, fmt.Errorf("key %q is not known; did you mean %q?", key, near)
	}
	return nil, fmt.Errorf("key %q is not known", key)
}

func nearestKey(key string) string {
	var known []string
	for i := range settings {
		known = append(known, settings[i].key)
	}
	return rulefile.Nearest(key, known)
}

func isPrefix(prefix string) bool {
	for i := range settings {
		if strings.HasPrefix(settings[i].key, prefix) {
			return true
		}
	}
	return false
}
