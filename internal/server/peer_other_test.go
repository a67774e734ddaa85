//go:build !linux

package server_test

// children are the functions of this test program when a test starts it again.
var children = map[string]func() int{}
