package setup

// antigravity is the file of hooks of the antigravity CLI. Each hook has a name there, with its
// events below.
var antigravity = Settings{
	Host:  "antigravity",
	Place: placeOf("antigravity"),
	format: hookList{
		key: "umpire", grouped: true, matcher: ".*",
		handler: shellHandler,
	},
}
