package setup

// Copilot is a file of hooks of GitHub Copilot CLI, which reads every file of that folder.
var Copilot = Settings{
	Host:  "copilot",
	Place: placeOf("copilot"),
	format: hookList{
		key: "hooks", version: 1,
		handler: func(h Hook, e event) handler {
			return handler{Type: "command", Bash: h.shellLine(e), TimeoutSec: seconds(h.timeoutOf(e))}
		},
	},
}
