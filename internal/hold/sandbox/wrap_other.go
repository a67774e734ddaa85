//go:build !linux && !darwin

package sandbox

import (
	"os/exec"

	"github.com/umpirehq/umpire"
)

// hand returns ErrUnavailable because this system cannot confine a command.
func (b *Box) hand(*exec.Cmd, *order) error { return ErrUnavailable }

func (b *Box) letGo(ended error) error { return ended }

// Available reports that this system has no sandbox.
func Available() Ability {
	return Ability{
		Level: umpire.SandboxNone, Lacks: "umpire has no sandbox for this system; on Windows run umpire inside WSL2",
	}
}

// lockScratch does nothing on this system.
func lockScratch(string) (release func(), err error) { return func() {}, nil }

// seizeScratch never succeeds: this system cannot tell whether a process has died.
func seizeScratch(string) (free func(), dead bool) { return nil, false }
