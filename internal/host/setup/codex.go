package setup

// Codex is the file of hooks of the Codex CLI. Codex runs a hook only once its hash is in
// config.toml: see [TrustCodex].
var Codex = Settings{
	Host:  "codex",
	Place: placeOf("codex"),
	format: hookList{
		key: "hooks", grouped: true, matcher: ".*",
		handler: shellHandler,
	},
}

// CodexTrust is the file with the trust in Codex's hooks. [TrustCodex] writes it, since only Codex
// knows the hashes.
var CodexTrust = Settings{
	Host:   Codex.Host,
	Place:  Codex.Place.named("config.toml"),
	format: codexTrust{},
}

// codexTrust are umpire's lines in Codex's configuration.
type codexTrust struct{}

func (codexTrust) install(text []byte, _ string, _ Hook) ([]byte, error) { return text, nil }
func (codexTrust) registered(_ []byte, _ string) ([]Registration, error) { return nil, nil }
func (codexTrust) uninstall(text []byte, host string) ([]byte, error) {
	return block{host}.remove(text)
}

// shellHandler is a hook started by the host's shell, with a time limit in seconds.
func shellHandler(h Hook, e event) handler {
	return handler{Type: "command", Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
}

// milliHandler is such a hook with a time limit in milliseconds.
func milliHandler(h Hook, e event) handler {
	return handler{Name: "umpire", Type: "command", Command: h.shellLine(e), Timeout: h.timeoutOf(e).Milliseconds()}
}
