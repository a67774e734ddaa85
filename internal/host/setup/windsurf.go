package setup

// Windsurf is the file of hooks of Windsurf's Cascade. It has no time limit, and a separate event
// for each kind of call.
var Windsurf = Settings{
	Host:  "windsurf",
	Place: placeOf("windsurf"),
	format: hookList{
		key:     "hooks",
		handler: func(h Hook, e event) handler { return handler{Command: h.shellLine(e)} },
	},
}
