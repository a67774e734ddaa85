package setup

// Crush is the settings file of Crush.
var Crush = Settings{
	Host:  "crush",
	Place: Place{Variable: "XDG_CONFIG_HOME", Folder: ".config", Name: "crush/crush.json"},
	format: hookList{
		key: "hooks",
		handler: func(h Hook, e event) handler {
			return handler{Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
		},
	},
}
