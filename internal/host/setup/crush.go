package setup

// crush is the settings file of crush.
var crush = Settings{
	Host:  "crush",
	Place: placeOf("crush"),
	format: hookList{
		key: "hooks",
		handler: func(h Hook, e event) handler {
			return handler{Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
		},
	},
}
