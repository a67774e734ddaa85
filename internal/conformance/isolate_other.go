//go:build !linux

package conformance

import (
	"errors"
	"os/exec"
)

// Isolate has no way to take the network away here.
func Isolate(*exec.Cmd) error { return errors.New("only Linux has network namespaces") }

// RaiseLoopback has nothing to do where there is no isolation.
func RaiseLoopback() error { return nil }

// OrdinaryUser is 0: everything is started as this process's own user.
func OrdinaryUser() int { return 0 }

func setUser(*exec.Cmd, int) {}
