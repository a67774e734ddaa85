package setup

// Grok is a file of hooks of the Grok CLI, which reads every file of that folder. Without a
// matcher it sees every tool.
var Grok = Settings{
	Host:  "grok",
	Place: placeOf("grok"),
	format: hookList{
		key: "hooks", grouped: true,
		handler: shellHandler,
	},
}
