package setup

import _ "embed" // the text of the file

//go:embed cline_hook.sh
var clineHook string

// Cline is a program that Cline starts by its name. Cline runs the call when the program says
// nothing that it understands, so this one answers even where umpire cannot be started.
var Cline = Settings{
	Host:    "cline",
	Place:   placeOf("cline"),
	Program: true,
	format:  ownFile{"PreToolUse", "# command: ", clineHook},
}
