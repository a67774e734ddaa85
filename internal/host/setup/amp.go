package setup

import _ "embed" // the text of the file

//go:embed amp_plugin.ts
var ampPlugin string

// amp is a plugin of amp, which loads every file of that folder.
var amp = Settings{
	Host:   "amp",
	Place:  placeOf("amp"),
	format: ownFile{"tool.call", commandMark, ampPlugin},
}
