package setup

import _ "embed" // the text of the file

//go:embed cline_hook.sh
var clineHook string

// cline is a program that cline starts by its name. cline runs the call when the program says
// nothing that it understands, so this one answers even where umpire cannot be started.
var cline = Settings{
	Host:    "cline",
	Place:   placeOf("cline"),
	Program: true,
	format:  ownFile{"PreToolUse", "# command: ", clineHook},
}
