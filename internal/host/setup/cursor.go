package setup

// cursor is the file of hooks of cursor. With failClosed, a hook that cannot answer stops the call.
var cursor = Settings{
	Host:  "cursor",
	Place: placeOf("cursor"),
	format: hookList{
		key: "hooks", version: 1,
		handler: func(h Hook, e event) handler {
			return handler{Command: h.commandLine(), Timeout: seconds(h.timeoutOf(e)), FailClosed: e.decides}
		},
	},
}
