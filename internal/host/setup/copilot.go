package setup

// copilot is a file of hooks of GitHub copilot CLI, which reads every file of that folder.
var copilot = Settings{
	Host:  "copilot",
	Place: placeOf("copilot"),
	format: hookList{
		key: "hooks", version: 1,
		handler: func(h Hook, e event) handler {
			return handler{Type: "command", Bash: h.shellLine(e), TimeoutSec: seconds(h.timeoutOf(e))}
		},
	},
}
