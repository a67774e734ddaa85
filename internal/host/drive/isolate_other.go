//go:build !linux

package drive

import (
	"errors"
	"os/exec"
)

// Isolate cannot take the network away on this system.
func Isolate(*exec.Cmd) error { return errors.New("only Linux has network namespaces") }

// RaiseLoopback does nothing without isolation.
func RaiseLoopback() error { return nil }

func setUser(*exec.Cmd, int) {}
