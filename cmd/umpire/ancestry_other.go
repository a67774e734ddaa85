//go:build !linux

package main

// ancestors is not known on this system: what an agent starts is told by its
// environment alone.
func ancestors(int) []ancestor { return nil }

// runnerOf names no process on this system.
func runnerOf(int) string { return "" }

// runnerAlive knows of none.
func runnerAlive(string) (alive, known bool) { return false, false }
