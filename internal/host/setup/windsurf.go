package setup

// Windsurf is the file of hooks of Windsurf's Cascade. It knows no time limit, and has an
// event for each kind of call.
var Windsurf = Settings{
	Host:  "windsurf",
	Place: placeOf("windsurf"),
	format: hookList{
		key:     "hooks",
		handler: func(h Hook, e event) handler { return handler{Command: h.shellLine(e)} },
	},
}
