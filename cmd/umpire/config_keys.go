package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A setting is one key of the configuration.
type setting struct {
	key, about string
	set        func(*config, *yaml.Node) error
	value      func(*config) any
	// tightens reports whether a project may go from one configuration to the
	// next; nil says that the key is the user's alone.
	tightens func(now, next *config) bool
}

// settings are all keys, in the order in which they are shown.
var settings = []setting{
	{
		"mode", "what happens where no rule speaks",
		func(c *config, n *yaml.Node) error { return decodeText(n, &c.mode) },
		func(c *config) any { return c.mode.String() },
		func(now, next *config) bool { return slices.Contains(tighterModes[now.mode], next.mode) },
	},
	{
		"risk.medium", "ask or allow what is of medium risk",
		func(c *config, n *yaml.Node) error { return decodeVerdict(n, &c.mediumRisk, umpire.Ask, umpire.Allow) },
		func(c *config) any { return c.mediumRisk.String() },
		func(now, next *config) bool { return next.mediumRisk <= now.mediumRisk },
	},
	{
		"security.permission.enforce_gateway", "false only records and warns",
		func(c *config, n *yaml.Node) error { return decode(n, &c.enforce) },
		func(c *config) any { return c.enforce },
		func(now, next *config) bool { return next.enforce },
	},
	{
		"security.external_directory.default_action", "ask about or deny paths outside the project",
		func(c *config, n *yaml.Node) error { return decodeVerdict(n, &c.external, umpire.Ask, umpire.Deny) },
		func(c *config) any { return c.external.String() },
		func(now, next *config) bool { return next.external <= now.external },
	},
	{
		"session.cross_project.allow", "continue sessions of other projects without the flag",
		func(c *config, n *yaml.Node) error { return decode(n, &c.crossProject) },
		func(c *config) any { return c.crossProject },
		func(now, next *config) bool { return !next.crossProject },
	},
	{
		"session.resume.scope", "where sessions to resume are looked for",
		func(c *config, n *yaml.Node) error { return decodeWord(n, &c.resumeScope, "current_project") },
		func(c *config) any { return c.resumeScope },
		func(_, _ *config) bool { return true },
	},
	{
		"rules.precedence", "deny,ask,allow or deny,allow,ask",
		decodePrecedence,
		func(c *config) any { return precedenceNames[c.precedence] },
		func(now, next *config) bool { return next.precedence <= now.precedence },
	},
	{
		"rules.also_read", "other tools' rule files",
		func(c *config, n *yaml.Node) error { return decodeList(n, &c.alsoRead) },
		func(c *config) any { return orNone(c.alsoRead) },
		// What a project adds must lie in it, where its allow rules need trust.
		func(now, next *config) bool {
			return containsAll(next.alsoRead, now.alsoRead) && allLocal(next.alsoRead, now.alsoRead)
		},
	},
	{
		"auto.max_consecutive_denials", "refusals in a row after which auto mode asks",
		func(c *config, n *yaml.Node) error { return decodeCount(n, &c.maxConsecutiveDenials) },
		func(c *config) any { return c.maxConsecutiveDenials },
		func(now, next *config) bool { return next.maxConsecutiveDenials <= now.maxConsecutiveDenials },
	},
	{
		"auto.max_denials", "refusals in all after which auto mode asks",
		func(c *config, n *yaml.Node) error { return decodeCount(n, &c.maxDenials) },
		func(c *config) any { return c.maxDenials },
		func(now, next *config) bool { return next.maxDenials <= now.maxDenials },
	},
	{
		"auto.remember", "how long auto mode remembers an answer",
		func(c *config, n *yaml.Node) error { return decodeDuration(n, &c.remember) },
		func(c *config) any { return shortDuration(c.remember) },
		func(now, next *config) bool { return next.remember <= now.remember },
	},
	{
		"hook.deadline", "when a hook answers at the latest",
		func(c *config, n *yaml.Node) error { return decodeDuration(n, &c.hookDeadline) },
		func(c *config) any { return orWord(c.hookDeadline, "host timeout - 5s") },
		nil,
	},
	{
		"hook.when_asked", "hold the call, or native: the agent's own prompt",
		func(c *config, n *yaml.Node) error { return decodeWord(n, &c.whenAsked, "hold", "native") },
		func(c *config) any { return c.whenAsked },
		func(_, next *config) bool { return next.whenAsked == "hold" },
	},
	{
		"pending.timeout", "how long a call waits for its answer",
		func(c *config, n *yaml.Node) error { return decodeDuration(n, &c.pendingTimeout) },
		func(c *config) any { return orWord(c.pendingTimeout, "none") },
		func(now, next *config) bool {
			return next.pendingTimeout > 0 && (now.pendingTimeout == 0 || next.pendingTimeout <= now.pendingTimeout)
		},
	},
	{
		"pending.max_per_session", "how many calls of a session may wait",
		func(c *config, n *yaml.Node) error { return decodeCount(n, &c.maxPending) },
		func(c *config) any { return c.maxPending },
		func(now, next *config) bool { return next.maxPending <= now.maxPending },
	},
	{
		"sandbox.mode", "read-only, workspace-write or full-access",
		func(c *config, n *yaml.Node) error { return decodeWord(n, &c.sandboxMode, sandboxModes...) },
		func(c *config) any { return c.sandboxMode },
		func(now, next *config) bool {
			return slices.Index(sandboxModes, next.sandboxMode) <= slices.Index(sandboxModes, now.sandboxMode)
		},
	},
	{
		"sandbox.require", "where the sandbox cannot be had: strict asks, degraded-ok takes a weaker one, off goes on",
		func(c *config, n *yaml.Node) error { return decodeWord(n, &c.sandboxRequire, sandboxRequires...) },
		func(c *config) any { return c.sandboxRequire },
		func(now, next *config) bool {
			return slices.Index(sandboxRequires, next.sandboxRequire) <= slices.Index(sandboxRequires, now.sandboxRequire)
		},
	},
	{
		"sandbox.network", "let sandboxed commands reach the network",
		func(c *config, n *yaml.Node) error { return decode(n, &c.sandboxNetwork) },
		func(c *config) any { return c.sandboxNetwork },
		func(_, next *config) bool { return !next.sandboxNetwork },
	},
	{
		"store", "where sessions and the timeline are kept",
		func(c *config, n *yaml.Node) error { return decode(n, &c.store) },
		func(c *config) any { return orText(c.store, "sqlite in state/") },
		nil,
	},
	{
		"listen", "where the gate listens",
		func(c *config, n *yaml.Node) error { return decode(n, &c.listen) },
		func(c *config) any { return orText(c.listen, "unix socket in state/") },
		nil,
	},
	{
		"agents", "tools and editable suffixes of each agent",
		decodeAgents,
		func(c *config) any { return effective(c.agents) },
		narrowsAgents,
	},
	{
		"hooks", "programs that run before and after tools",
		decodeHooks,
		func(c *config) any { return c.hooks },
		nil, // a program of the project's choice would run unseen
	},
	{
		"mcp_servers", "MCP servers whose tools the built-in agent has",
		decodeServers,
		func(c *config) any { return shownServers(c.servers) },
		nil, // as with hooks
	},
	{
		"lang", "en or zh-CN",
		func(c *config, n *yaml.Node) error { return decodeWord(n, &c.lang, "en", "zh-CN") },
		func(c *config) any { return c.lang },
		nil,
	},
}

// tighterModes lists, for each mode, those that allow less in every case.
var tighterModes = [...][]umpire.Mode{
	umpire.ModeReject:  {umpire.ModeReject},
	umpire.ModeDefault: {umpire.ModeDefault, umpire.ModeAsk, umpire.ModeReject, umpire.ModePlan},
	umpire.ModeAuto:    {umpire.ModeAuto, umpire.ModeReject, umpire.ModePlan},
	umpire.ModeAsk:     {umpire.ModeAsk},
	umpire.ModePlan:    {umpire.ModePlan},
	umpire.ModeBypass: {
		umpire.ModeBypass, umpire.ModeDefault, umpire.ModeAuto, umpire.ModeAsk, umpire.ModeReject, umpire.ModePlan,
	},
}

var (
	sandboxModes    = []string{"read-only", "workspace-write", "full-access"} // tightest first
	sandboxRequires = []string{"strict", "degraded-ok", "off"}                // tightest first, as in gate.Require
	precedenceNames = [...]string{policy.DenyAskAllow: "deny,ask,allow", policy.DenyAllowAsk: "deny,allow,ask"}
)

func decodePrecedence(c *config, n *yaml.Node) error {
	var word string
	if err := decodeWord(n, &word, precedenceNames[:]...); err != nil {
		return err
	}
	c.precedence = policy.Precedence(slices.Index(precedenceNames[:], word))
	return nil
}

func decodeAgents(c *config, n *yaml.Node) error {
	if err := knownKeys(n, "tools", "editableFileSuffixes", "model"); err != nil {
		return err
	}
	c.agents = nil // a map is shared with the configuration before
	return decode(n, &c.agents)
}

// knownKeys refuses, in a map of named things, keys that a thing does not have.
func knownKeys(n *yaml.Node, known ...string) error {
	for i := 1; i < len(n.Content); i += 2 {
		if err := onlyKeys(n.Content[i], known); err != nil {
			return err
		}
	}
	return nil
}

// onlyKeys refuses a mapping with a key that is not known.
func onlyKeys(n *yaml.Node, known []string) error {
	for k := 0; n.Kind == yaml.MappingNode && k < len(n.Content); k += 2 {
		if key := n.Content[k]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d: key %q is not known; want one of %s", key.Line, key.Value, strings.Join(known, ", "))
		}
	}
	return nil
}

// narrowsAgents: a project may leave an agent fewer tools and suffixes, name other
// agents that are no less limited than the main one, whose sub-agents they could be,
// and change nothing else.
func narrowsAgents(now, next *config) bool {
	for name, was := range now.agents {
		is, ok := next.agents[name]
		if !ok || is.Model != was.Model || !narrowsAgent(was, is) {
			return false
		}
	}
	for name, is := range next.agents {
		if _, known := now.agents[name]; !known && !narrowsAgent(now.agents[mainAgent], is) {
			return false
		}
	}
	return true
}

func narrowsAgent(was, is agentConfig) bool {
	before, after := policy.NormalizeSuffixes(was.EditableSuffixes), policy.NormalizeSuffixes(is.EditableSuffixes)
	limited := len(before) == 0 || len(after) > 0 && containsAll(before, after)
	return limited && narrowerTools(was.Tools, is.Tools)
}

// narrowerTools reports whether every tool that is listed was listed before. Of two
// patterns it is not asked which one lists more, unless the one lists everything.
func narrowerTools(was, is []string) bool {
	if was == nil || slices.Contains(was, "*") {
		return was == nil || is != nil
	}
	before := policy.Profile{Tools: was}
	return is != nil && !slices.ContainsFunc(is, func(tool string) bool {
		return !slices.Contains(was, tool) && (strings.ContainsAny(tool, `*?[\`) || !before.Lists(tool))
	})
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// allLocal reports whether what next adds lies below the project.
func allLocal(next, now []string) bool {
	return !slices.ContainsFunc(next, func(name string) bool {
		local := filepath.IsLocal(filepath.FromSlash(name)) && !strings.HasPrefix(name, "~")
		return !local && !slices.Contains(now, name)
	})
}

func decode(n *yaml.Node, into any) error {
	if err := n.Decode(into); err != nil {
		return fmt.Errorf("cannot be read: %w", errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", "")))
	}
	return nil
}

func decodeText(n *yaml.Node, into interface{ UnmarshalText([]byte) error }) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("want one word")
	}
	return into.UnmarshalText([]byte(n.Value))
}

func decodeVerdict(n *yaml.Node, into *umpire.Verdict, known ...umpire.Verdict) error {
	var words []string
	for _, v := range known {
		words = append(words, v.String())
	}
	var word string
	if err := decodeWord(n, &word, words...); err != nil {
		return err
	}
	return into.UnmarshalText([]byte(word))
}

func decodeWord(n *yaml.Node, into *string, known ...string) error {
	if n.Kind != yaml.ScalarNode || !slices.Contains(known, n.Value) {
		return fmt.Errorf("%q: want one of %s", n.Value, strings.Join(known, ", "))
	}
	*into = n.Value
	return nil
}

func decodeList(n *yaml.Node, into *[]string) error {
	*into = nil // a list is shared with the configuration before
	return decode(n, into)
}

func decodeCount(n *yaml.Node, into *int) error {
	var count int
	if err := decode(n, &count); err != nil {
		return err
	}
	if count < 1 {
		return fmt.Errorf("%d: want at least 1", count)
	}
	*into = count
	return nil
}

func decodeDuration(n *yaml.Node, into *time.Duration) error {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		return fmt.Errorf("%q: want a duration such as 90s, 10m or 720h", n.Value)
	}
	*into = d
	return nil
}

// shortDuration writes 720h, not 720h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, tail := range []string{"0s", "0m"} {
		if rest, ok := strings.CutSuffix(text, tail); ok && strings.ContainsAny(rest[len(rest)-1:], "hm") {
			text = rest
		}
	}
	return text
}

func orWord(d time.Duration, word string) string {
	if d == 0 {
		return word
	}
	return shortDuration(d)
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
