package setup

import _ "embed" // the text of the file

//go:embed opencode_plugin.js
var opencodePlugin string

// openCode is a plugin of opencode, which loads every file of that folder.
var openCode = Settings{
	Host:   "opencode",
	Place:  placeOf("opencode"),
	format: ownFile{"tool.execute.before", commandMark, opencodePlugin},
}
