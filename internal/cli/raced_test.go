//go:build race

package cli

// raced says that the race detector is on. Programs then take five times as long.
const raced = true
