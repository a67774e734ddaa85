package setup

// Copilot is a file of hooks of GitHub Copilot CLI, which reads every file of that folder.
var Copilot = Settings{
	Host:  "copilot",
	Place: Place{Variable: "COPILOT_HOME", Folder: ".copilot", Name: "hooks/umpire.json"},
	format: hookList{
		key: "hooks", version: 1,
		handler: func(h Hook, e event) handler {
			return handler{Type: "command", Bash: h.shellLine(e), TimeoutSec: seconds(h.timeoutOf(e))}
		},
	},
}
