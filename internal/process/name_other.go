//go:build !linux

package process

// knowsStart says that the start time of a process is not known on this system.
const knowsStart = false

// Stat knows of no process.
func Stat(int) (parent int, started string, ok bool) { return 0, "", false }

// Running names none.
func Running() []string { return nil }

// arguments knows of none.
func arguments(int) []string { return nil }

// environment knows of none.
func environment(int) []string { return nil }

// command returns "": the names of processes are not known on this system.
func command(int) string { return "" }

// program knows of none.
func program(int) string { return "" }
