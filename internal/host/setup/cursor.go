package setup

// Cursor is the file of hooks of Cursor. With failClosed a hook that cannot answer stops the
// call.
var Cursor = Settings{
	Host:  "cursor",
	Place: placeOf("cursor"),
	format: hookList{
		key: "hooks", version: 1,
		handler: func(h Hook, e event) handler {
			return handler{Command: h.commandLine(), Timeout: seconds(h.timeoutOf(e)), FailClosed: e.decides}
		},
	},
}
