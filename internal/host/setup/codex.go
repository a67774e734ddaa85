package setup

// Codex is the file of hooks of the Codex CLI. Codex runs a hook only once its hash stands in
// config.toml: see [TrustCodex].
var Codex = Settings{
	Host:  "codex",
	Place: Place{Variable: "CODEX_HOME", Folder: ".codex", Name: "hooks.json"},
	format: hookList{
		key: "hooks", grouped: true,
		events: []event{
			{"PreToolUse", ".*", true}, {"PermissionRequest", ".*", true}, {"PostToolUse", ".*", false},
			{"SessionStart", "", false},
		},
		handler: shellHandler,
	},
}

// CodexConfig is where the trust in Codex's hooks stands.
var CodexConfig = Place{Variable: "CODEX_HOME", Folder: ".codex", Name: "config.toml"}

// shellHandler is a hook that the host's shell starts, with a time limit in seconds.
func shellHandler(h Hook, e event) handler {
	return handler{Type: "command", Command: h.commandLine(), Timeout: seconds(h.timeoutOf(e))}
}

// milliHandler is one with a time limit in milliseconds.
func milliHandler(h Hook, e event) handler {
	return handler{Name: "umpire", Type: "command", Command: h.commandLine(), Timeout: h.timeoutOf(e).Milliseconds()}
}
