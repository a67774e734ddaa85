package setup

import "time"

// Gemini is the settings file of Gemini CLI, which counts in milliseconds.
var Gemini = Settings{
	Host:  "gemini",
	Place: Place{Folder: ".gemini", Name: "settings.json"},
	format: hookList{
		key: "hooks", grouped: true, unit: time.Millisecond,
		events:  []event{{"BeforeTool", "*", true}, {"AfterTool", "*", false}, {"SessionStart", "", false}},
		handler: milliHandler,
	},
}
