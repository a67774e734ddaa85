//go:build !unix

package storetest

import (
	"os/exec"
	"testing"
)

// An owner is the user that runs a server: always this one on this system.
type owner struct{}

func serverOwner(t testing.TB) owner {
	t.Helper()
	t.Skip("a private PostgreSQL server needs unix sockets")
	return owner{}
}

func (owner) own(string) error { return nil }

func (owner) runAs(*exec.Cmd) {}
