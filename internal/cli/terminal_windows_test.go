package cli

import "os/exec"

// leadTerminal does nothing: the terminals of the tests cannot be opened here.
func leadTerminal(*exec.Cmd) {}
