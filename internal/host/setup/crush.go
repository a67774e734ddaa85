package setup

// Crush is the settings file of Crush.
var Crush = Settings{
	Host:  "crush",
	Place: placeOf("crush"),
	format: hookList{
		key: "hooks",
		handler: func(h Hook, e event) handler {
			return handler{Command: h.shellLine(e), Timeout: seconds(h.timeoutOf(e))}
		},
	},
}
