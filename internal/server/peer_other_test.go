//go:build !linux

package server_test

// children are what this test program does when a test starts it again.
var children = map[string]func() int{}
