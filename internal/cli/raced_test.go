//go:build race

package cli

// raced says that the race detector watches. Programs under it take five times as long.
const raced = true
