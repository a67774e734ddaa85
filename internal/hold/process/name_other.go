//go:build !linux

package process

import "time"

// knowsStart means that this system does not report the start time of a process.
const knowsStart = false

// Stat returns false on this system.
func Stat(int) (parent int, started string, ok bool) { return 0, "", false }

// age returns false on this system.
func age() (passed time.Duration, known bool) { return 0, false }

// Running returns nil on this system.
func Running() []string { return nil }

// arguments returns nil on this system.
func arguments(int) []string { return nil }

// environment returns nil on this system.
func environment(int) []string { return nil }

// command returns "" on this system.
func command(int) string { return "" }

// program returns "" on this system.
func program(int) string { return "" }
