//go:build !linux && !darwin

package sandbox

import (
	"io/fs"
	"os/exec"

	"github.com/umpirehq/umpire"
)

// Main is for systems where the program starts itself again as the sandbox's helper.
func Main() {}

type holdings struct{}

func (l Limits) layers() layers { return allLayers }

func (b *Box) keepAbsent(string) error { return nil }

// hand returns ErrUnavailable because this system cannot confine a command.
func (b *Box) hand(*exec.Cmd, *order) error { return ErrUnavailable }

func (b *Box) letGo(ended error) error { return ended }

// layersOver returns nil because this system has no layers.
func layersOver(string, []string, string, bool) ([]caches, error) { return nil, nil }

// sockets returns false because it cannot find the listening sockets.
func sockets() (paths []string, all bool) { return nil, false }

func hasMark(string, fs.FileInfo) bool { return false }

// Available reports that this system has no sandbox.
func Available() Ability {
	return Ability{
		Level: umpire.SandboxNone, Lacks: "umpire has no sandbox for this system; on Windows run umpire inside WSL2",
	}
}
