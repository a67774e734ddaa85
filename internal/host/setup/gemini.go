package setup

// gemini is the settings file of gemini CLI, which counts in milliseconds.
var gemini = Settings{
	Host:  "gemini",
	Place: placeOf("gemini"),
	format: hookList{
		key: "hooks", grouped: true, matcher: "*",
		handler: milliHandler,
	},
}
