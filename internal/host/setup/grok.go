package setup

// grok is a file of hooks of the grok CLI, which reads every file of that folder. Without a
// matcher it sees every tool.
var grok = Settings{
	Host:  "grok",
	Place: placeOf("grok"),
	format: hookList{
		key: "hooks", grouped: true,
		handler: shellHandler,
	},
}
