package setup

import _ "embed" // the text of the file

//go:embed cline_hook.sh
var clineHook string

// cline is a program that cline starts by its name. cline runs the call unless the program gives a
// valid answer, so this one answers even if umpire cannot be started.
var cline = Settings{
	Host:    "cline",
	Place:   placeOf("cline"),
	Program: true,
	format:  ownFile{"PreToolUse", "# command: ", clineHook},
}
