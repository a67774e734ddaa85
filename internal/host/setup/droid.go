package setup

// Droid is the settings file of Factory Droid.
var Droid = Settings{
	Host:  "droid",
	Place: Place{Folder: ".factory", Name: "settings.json"},
	format: hookList{
		key: "hooks", grouped: true,
		events:  []event{{"PreToolUse", "*", true}, {"PostToolUse", "*", false}},
		handler: shellHandler,
	},
}
