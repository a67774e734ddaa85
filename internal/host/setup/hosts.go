package setup

import _ "embed" // the texts of plugins

// Settings of hosts that others ask for by name. Claude Code drops a file with a comment or a
// trailing comma (seen with 2.1.329), so its hooks would never start: show the findings of
// [AuditClaude] for the result of an install. Codex runs a hook only once its hash is in
// config.toml, which [TrustCodex] writes, since only Codex knows the hashes. Windsurf has no time
// limit.
var (
	Claude     = settingsOf("claude", claudeHooks)
	Codex      = settingsOf("codex", hookList{key: "hooks", grouped: true, matcher: ".*", handler: shellHandler})
	CodexTrust = Settings{Host: Codex.Host, Place: Codex.Place.named("config.toml"), format: codexTrust{}}
	Qwen       = settingsOf("qwen", hookList{key: "hooks", grouped: true, matcher: "*", handler: milliHandler})
	Windsurf   = settingsOf("windsurf", hookList{key: "hooks", handler: windsurfHandler})
)

// All lists the settings of every host that umpire can register with.
var All = []Settings{
	Claude, Codex,
	settingsOf("gemini", hookList{key: "hooks", grouped: true, matcher: "*", handler: milliHandler}),
	Qwen,
	settingsOf("copilot", hookList{key: "hooks", version: 1, handler: copilotHandler}),
	settingsOf("vscode", hookList{key: "hooks", handler: shellHandler}),
	settingsOf("opencode", ownFile{"tool.execute.before", commandMark, openCodePlugin}),
	settingsOf("cursor", hookList{key: "hooks", version: 1, handler: cursorHandler}),
	settingsOf("crush", hookList{key: "hooks", handler: crushHandler}),
	// Cline starts the program by its name, and runs the call unless the program gives a valid answer, so
	// this one answers even if umpire cannot be started.
	{"cline", placeOf("cline"), true, ownFile{"PreToolUse", "# command: ", clineHook}},
	settingsOf("kiro", kiroFile{}),
	settingsOf("amp", ownFile{"tool.call", commandMark, ampPlugin}),
	settingsOf("droid", hookList{key: "hooks", grouped: true, matcher: "*", handler: shellHandler}),
	Windsurf,
	settingsOf("kimi", kimiHooks{}),
	// Each hook of Antigravity has a name, with its events below.
	settingsOf("antigravity", hookList{key: "umpire", grouped: true, matcher: ".*", handler: shellHandler}),
	settingsOf("grok", hookList{key: "hooks", grouped: true, handler: shellHandler}),
}

func settingsOf(host string, f format) Settings {
	return Settings{Host: host, Place: placeOf(host), format: f}
}

// The files that belong only to umpire: plugins, whose folders the hosts load, and a program.
var (
	//go:embed amp_plugin.ts
	ampPlugin string
	//go:embed opencode_plugin.js
	openCodePlugin string
	//go:embed cline_hook.sh
	clineHook string
)

var claudeHooks = hookList{
	key: "hooks", grouped: true, matcher: "*",
	handler: func(h Hook, e event) handler {
		out := handler{Type: "command", Command: h.Command, Args: h.Args, Timeout: seconds(h.timeoutOf(e))}
		if e.decides {
			out.Status = h.Status
		}
		if e.decides && h.OnFailureBlock {
			out.OnFailure = "block"
		}
		return out
	},
}

// shellHandler is a hook started by the host's shell, with a time limit in seconds.
func shellHandler(h Hook, e event) handler {
	return handler{Type: "command", Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
}

// milliHandler is such a hook with a time limit in milliseconds.
func milliHandler(h Hook, e event) handler {
	return handler{Name: "umpire", Type: "command", Command: h.shellLine(e), Timeout: h.timeoutOf(e).Milliseconds()}
}

func crushHandler(h Hook, e event) handler {
	return handler{Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
}

func windsurfHandler(h Hook, e event) handler { return handler{Command: h.shellLine(e)} }

func copilotHandler(h Hook, e event) handler {
	return handler{Type: "command", Bash: h.shellLine(e), TimeoutSec: seconds(h.timeoutOf(e))}
}

// cursorHandler sets failClosed, with which a hook that cannot answer stops the call.
func cursorHandler(h Hook, e event) handler {
	return handler{Command: h.commandLine(), Timeout: seconds(h.timeoutOf(e)), FailClosed: e.decides}
}
