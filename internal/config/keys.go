package config

import (
	"cmp"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/view/languages"
	"github.com/umpirehq/umpire/policy"
)

// A Key is one key of the configuration.
type Key struct {
	Name, About string
	set         func(*Config, *docedit.Value) error
	Value       func(*Config) any
	// tightens reports whether a project may change one configuration into the next. If
	// nil, only the user may set the key.
	tightens func(now, next *Config) bool
}

// enforceKey is the only key that the administrator's file can loosen.
const enforceKey = "security.permission.enforce_gateway"

// Keys are all keys, in the order in which they are shown.
var Keys = slices.Concat(ownKeys[:2], autonomyKeys, ownKeys[2:])

// ownKeys are all keys except those of autonomy, which come after the first two.
var ownKeys = []Key{
	{
		"mode", "how calls are decided if no rule applies",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.Mode) },
		func(c *Config) any { return c.Mode.String() },
		func(now, next *Config) bool { return next.Mode.Tightens(now.Mode) },
	},
	{
		"risk.medium", "ask about calls of medium risk, or allow them",
		func(c *Config, v *docedit.Value) error { return decodeChoice(v, &c.AllowMedium, "ask", "allow") },
		func(c *Config) any { return choice(c.AllowMedium, "ask", "allow") },
		func(now, next *Config) bool { return now.AllowMedium || !next.AllowMedium },
	},
	{
		enforceKey, "false: umpire only records and warns; only the machine's administrator can set this",
		func(c *Config, v *docedit.Value) error { return decodeNot(v, &c.WarnOnly) },
		func(c *Config) any { return !c.WarnOnly },
		func(now, next *Config) bool { return !next.WarnOnly },
	},
	{
		"security.external_directory.default_action", "ask about or deny paths outside the project",
		func(c *Config, v *docedit.Value) error { return decodeChoice(v, &c.DenyExternal, "ask", "deny") },
		func(c *Config) any { return choice(c.DenyExternal, "ask", "deny") },
		func(now, next *Config) bool { return next.DenyExternal || !now.DenyExternal },
	},
	{
		"session.cross_project.allow", "continue sessions of other projects without the flag",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.CrossProject) },
		func(c *Config) any { return c.CrossProject },
		func(now, next *Config) bool { return !next.CrossProject },
	},
	{
		"session.resume.scope", "where umpire looks for sessions to resume",
		func(c *Config, v *docedit.Value) error { return decodeWord(v, &c.ResumeScope, "current_project") },
		func(c *Config) any { return c.ResumeScope },
		func(_, _ *Config) bool { return true },
	},
	{
		"rules.precedence", "deny,ask,allow or deny,allow,ask",
		func(c *Config, v *docedit.Value) error { return decodeIndex(v, &c.Precedence, precedenceNames) },
		func(c *Config) any { return precedenceNames[c.Precedence] },
		func(now, next *Config) bool { return next.Precedence <= now.Precedence },
	},
	{
		"rules.also_read", "other tools' rule files",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.AlsoRead) },
		func(c *Config) any { return orNone(c.AlsoRead) },
		// Folders that a project adds must lie in it, where its allow rules need trust.
		func(now, next *Config) bool {
			return containsAll(next.AlsoRead, now.AlsoRead) && allLocal(next.AlsoRead, now.AlsoRead)
		},
	},
	{
		"rules.off", "built-in rules to switch off",
		decodeRulesOff,
		func(c *Config) any { return orNone(c.RulesOff) },
		nil, // a project could switch off the rules that restrain it
	},
	{
		"auto.max_consecutive_denials", "refusals in a row after which auto mode asks",
		func(c *Config, v *docedit.Value) error { return decodeCount(v, &c.MaxDenialsInRow) },
		func(c *Config) any { return c.MaxDenialsInRow },
		func(now, next *Config) bool { return next.MaxDenialsInRow <= now.MaxDenialsInRow },
	},
	{
		"auto.max_denials", "refusals in all after which auto mode asks",
		func(c *Config, v *docedit.Value) error { return decodeCount(v, &c.MaxDenials) },
		func(c *Config) any { return c.MaxDenials },
		func(now, next *Config) bool { return next.MaxDenials <= now.MaxDenials },
	},
	{
		"auto.remember", "how long auto mode remembers an answer",
		func(c *Config, v *docedit.Value) error { return decodeDuration(v, &c.Remember) },
		func(c *Config) any { return c.Remember },
		func(now, next *Config) bool { return next.Remember <= now.Remember },
	},
	{
		"hook.deadline", "deadline for a hook's answer",
		func(c *Config, v *docedit.Value) error { return decodeDuration(v, &c.Hook.Deadline) },
		func(c *Config) any { return orWord(c.Hook.Deadline, "host timeout - 5s") },
		nil,
	},
	{
		"hook.when_asked",
		"where questions go: hold (umpire's inbox), native (the agent's prompt), or auto: hold if an inbox is open " +
			"or no terminal is",
		func(c *Config, v *docedit.Value) error {
			return decodeWord(v, (*string)(&c.Hook.WhenAsked), "auto", "hold", "native")
		},
		func(c *Config) any { return string(c.Hook.WhenAsked) },
		func(_, next *Config) bool { return next.Hook.WhenAsked == policy.AskedHold },
	},
	{
		"hook.observe", "true: umpire records its decisions, and leaves every call to the agent",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.Hook.Observe) },
		func(c *Config) any { return c.Hook.Observe },
		func(now, next *Config) bool { return now.Hook.Observe || !next.Hook.Observe },
	},
	{
		"hook.rewrite", "auto: commands of agents are tried first where autonomy says so; or off",
		func(c *Config, v *docedit.Value) error { return decodeChoice(v, &c.Hook.NeverRewrite, "auto", "off") },
		func(c *Config) any { return choice(c.Hook.NeverRewrite, "auto", "off") },
		nil,
	},
	{
		"hook.turn_line", "on: an agent's turn ends with a line about kept changes, if there are any; or off",
		func(c *Config, v *docedit.Value) error { return decodeChoice(v, &c.Hook.NoTurnLine, "on", "off") },
		func(c *Config) any { return choice(c.Hook.NoTurnLine, "on", "off") },
		nil,
	},
	{
		"pending.timeout", "how long a call waits for its answer",
		func(c *Config, v *docedit.Value) error { return decodeDuration(v, &c.PendingTimeout) },
		func(c *Config) any { return orWord(c.PendingTimeout, "none") },
		func(now, next *Config) bool {
			return next.PendingTimeout >= shortestTimeout &&
				(now.PendingTimeout == 0 || next.PendingTimeout <= now.PendingTimeout)
		},
	},
	{
		"pending.max_per_session", "how many calls of a session may wait",
		func(c *Config, v *docedit.Value) error { return decodeCount(v, &c.MaxPending) },
		func(c *Config) any { return c.MaxPending },
		func(now, next *Config) bool { return next.MaxPending <= now.MaxPending },
	},
	{
		"sandbox.mode", "read-only, workspace-write or full-access",
		func(c *Config, v *docedit.Value) error {
			return decodeWord(v, (*string)(&c.Sandbox.Mode), SandboxModes...)
		},
		func(c *Config) any { return string(c.Sandbox.Mode) },
		func(now, next *Config) bool {
			return !now.Sandbox.Mode.Tighter(next.Sandbox.Mode)
		},
	},
	{
		"sandbox.require", "if the full sandbox is unavailable: strict asks, degraded-ok accepts a weaker one, off " +
			"runs anyway",
		func(c *Config, v *docedit.Value) error { return decodeIndex(v, &c.SandboxRequire, requireNames) },
		func(c *Config) any { return c.SandboxRequire.String() },
		func(now, next *Config) bool { return next.SandboxRequire <= now.SandboxRequire },
	},
	{
		"sandbox.network", "let sandboxed commands reach the network",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.Sandbox.Network) },
		func(c *Config) any { return c.Sandbox.Network },
		func(_, next *Config) bool { return !next.Sandbox.Network },
	},
	{
		"sandbox.env", "variables passed to sandboxed commands even if they may hold secrets",
		decodeNames,
		func(c *Config) any { return orNone(c.SandboxEnv) },
		nil, // a project could widen its commands' view
	},
	{
		"sandbox.show", "further files and folders in your home that a trial can see",
		decodeShown,
		func(c *Config) any { return orNone(c.SandboxShow) },
		nil, // a project could widen its commands' view
	},
	{
		"undo.max_size", "how much is kept for umpire undo, such as 500MiB or 2GiB",
		func(c *Config, v *docedit.Value) error { return decodeSize(v, &c.UndoSize) },
		func(c *Config) any { return formatSize(c.UndoSize) },
		nil, // it is kept for all projects together
	},
	{
		"undo.max_age", "how long it is kept for umpire undo",
		func(c *Config, v *docedit.Value) error { return decodeDuration(v, &c.UndoAge) },
		func(c *Config) any { return c.UndoAge },
		nil,
	},
	{
		"retention", "how long inactive sessions are kept with their events",
		func(c *Config, v *docedit.Value) error { return decodeDuration(v, &c.Retention) },
		func(c *Config) any { return orWord(c.Retention, "none") },
		nil, // a repository could remove its own records
	},
	{
		"store", "where sessions and the timeline are kept",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.Store) },
		func(c *Config) any { return cmp.Or(c.Store, "sqlite in state/") },
		nil,
	},
	{
		"listen", "where the gate listens",
		func(c *Config, v *docedit.Value) error { return v.Decode(&c.Listen) },
		func(c *Config) any { return cmp.Or(c.Listen, "unix socket in state/") },
		nil,
	},
	{
		"network.proxy", "where the gate leads out connections of agents' own sandboxes, such as 127.0.0.1:7578",
		decodeProxy,
		func(c *Config) any { return c.NetworkProxy },
		nil, // a repository could open a port
	},
	{
		"agents", "tools and editable suffixes of each agent",
		decodeAgents,
		func(c *Config) any { return effective(c.Agents) },
		narrowsAgents,
	},
	{
		"hooks", "programs that run before and after tools",
		decodeHooks,
		func(c *Config) any { return c.hooks },
		nil, // a program of the project's choice would run unseen
	},
	{
		"mcp_servers", "MCP servers of the built-in agent",
		decodeServers,
		func(c *Config) any { return shownServers(c.Servers) },
		nil, // as with hooks
	},
	{
		"notify", "where notices go when a call waits",
		decodeNotify,
		func(c *Config) any { return c.Notify.masked() },
		nil, // a repository could have notices sent anywhere
	},
	{
		"console", "the address at which browsers on other machines reach the console",
		decodeConsole,
		func(c *Config) any { return c.Console },
		nil, // a repository could open the console to others
	},
	{
		"watch.notify", "how umpire watch announces a new question: off, bell or desktop",
		func(c *Config, v *docedit.Value) error {
			return decodeWord(v, &c.WatchNotify, "bell", "off", "desktop")
		},
		func(c *Config) any { return c.WatchNotify },
		nil,
	},
	{
		"lang", "the language of umpire's texts, such as en or zh-CN",
		func(c *Config, v *docedit.Value) error { return decodeWord(v, &c.Lang, languages.Tags()...) },
		func(c *Config) any { return c.Lang },
		nil,
	},
}

// restores undo the parts of a key's value that only the user may set, and name them.
var restores = map[string]func(now, next *Config) (ignored []string){"agents": restoreModels}

// shortestTimeout is the least that a project may leave people to answer: less would
// end every question before it is read.
const shortestTimeout = time.Minute

// SandboxModes are the values of sandbox.mode and of the flags, the tightest first.
var SandboxModes = []string{
	string(umpire.SandboxReadOnly), string(umpire.SandboxWorkspaceWrite), string(umpire.SandboxFullAccess),
}

var precedenceNames = []string{policy.DenyAskAllow: "deny,ask,allow", policy.DenyAllowAsk: "deny,allow,ask"}

// decodeNames reads the names of variables.
func decodeNames(c *Config, v *docedit.Value) error {
	if err := v.Decode(&c.SandboxEnv); err != nil {
		return err
	}
	for _, name := range c.SandboxEnv {
		if name == "" || strings.ContainsAny(name, "=*? \x00") {
			return umpire.Errorf("%q: want the name of a variable", name)
		}
	}
	return nil
}

// decodeProxy reads an address that only this machine can reach.
func decodeProxy(c *Config, v *docedit.Value) error {
	err := v.Decode(&c.NetworkProxy)
	if err != nil || c.NetworkProxy == "" {
		return err
	}
	if host, port, err := net.SplitHostPort(c.NetworkProxy); err != nil || !isPort(port) || !isLoopback(host) {
		return umpire.Errorf("%q: want a loopback address with a port, such as 127.0.0.1:7578", c.NetworkProxy)
	}
	return nil
}

// decodeShown reads paths of the home.
func decodeShown(c *Config, v *docedit.Value) error {
	if err := v.Decode(&c.SandboxShow); err != nil {
		return err
	}
	for _, path := range c.SandboxShow {
		if !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, "/") {
			return umpire.Errorf("%q: want a path that begins with ~/ or /", path)
		}
	}
	return nil
}

// decodeRulesOff reads ids of built-in rules that can be switched off.
func decodeRulesOff(c *Config, v *docedit.Value) error {
	if err := v.Decode(&c.RulesOff); err != nil {
		return err
	}
	known := policy.Switchable()
	for _, id := range c.RulesOff {
		if !slices.Contains(known, id) {
			return umpire.Errorf("%q: want ids of %v", id, known)
		}
	}
	return nil
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// allLocal reports whether all additions in next are below the project.
func allLocal(next, now []string) bool {
	return !slices.ContainsFunc(next, func(name string) bool {
		local := filepath.IsLocal(filepath.FromSlash(name)) && !strings.HasPrefix(name, "~")
		return !local && !slices.Contains(now, name)
	})
}

func orWord(d time.Duration, word string) any {
	if d == 0 {
		return word
	}
	return d
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
