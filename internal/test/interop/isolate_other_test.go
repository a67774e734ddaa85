//go:build interop && !linux

package interop

import (
	"errors"
	"os/exec"
)

func isolated() (int, error) { return 0, errors.New("only Linux has network namespaces") }

func loopbackUp() error { return nil }

// ordinaryUser is 0: everything is started as this process's own user.
const ordinaryUser = 0

func asUser(*exec.Cmd, int) {}
