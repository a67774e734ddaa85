package setup

// vsCode is a file of hooks of the agents of Visual Studio Code, which read every file of that
// folder.
var vsCode = Settings{
	Host:  "vscode",
	Place: placeOf("vscode"),
	format: hookList{
		key: "hooks",
		handler: func(h Hook, e event) handler {
			return handler{Type: "command", Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
		},
	},
}
