package setup

// Antigravity is the file of hooks of the Antigravity CLI. Each hook has a name there, below
// which its events stand.
var Antigravity = Settings{
	Host:  "antigravity",
	Place: placeOf("antigravity"),
	format: hookList{
		key: "umpire", grouped: true, matcher: ".*",
		handler: shellHandler,
	},
}
