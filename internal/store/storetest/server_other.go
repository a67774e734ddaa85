//go:build !unix

package storetest

import (
	"os/exec"
	"testing"
)

// An owner is the user that a server runs as: here always this one.
type owner struct{}

func serverOwner(t testing.TB) owner {
	t.Helper()
	t.Skip("a private PostgreSQL server needs unix sockets")
	return owner{}
}

func (owner) own(string) error { return nil }

func (owner) runAs(*exec.Cmd) {}
