package setup

import _ "embed" // the text of the file

//go:embed amp_plugin.ts
var ampPlugin string

// Amp is a plugin of Amp, which loads every file of that folder.
var Amp = Settings{
	Host:   "amp",
	Place:  placeOf("amp"),
	format: ownFile{"tool.call", commandMark, ampPlugin},
}
