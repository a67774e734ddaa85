package setup

// Gemini is the settings file of Gemini CLI, which counts in milliseconds.
var Gemini = Settings{
	Host:  "gemini",
	Place: placeOf("gemini"),
	format: hookList{
		key: "hooks", grouped: true, matcher: "*",
		handler: milliHandler,
	},
}
