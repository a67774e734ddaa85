package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"sync"

	"github.com/umpirehq/umpire"
)

// Available sets up a sandbox, once per process, and returns the result. It takes a few
// milliseconds.
var Available = sync.OnceValue(func() Ability {
	err := tryLayers(allLayers)
	if err == nil {
		return Ability{Level: umpire.SandboxFull}
	}
	if tryLayers(weakerLayers) == nil {
		return Ability{Level: umpire.SandboxWeaker, Lacks: reasonOf(err)}
	}
	return Ability{Level: umpire.SandboxNone, Lacks: reasonOf(err)}
})

// reasonOf shortens a SetupError to its step and reason.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*SetupError](err); ok {
		return e.Step + ": " + e.Reason
	}
	return err.Error()
}

// tryLayers sets up some of the layers and starts no command.
func tryLayers(which layers) error {
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // it ends by itself
	b := &Box{cmd: cmd}
	err := b.hand(cmd, &order{
		Dir: "/", Layers: which, Reach: (Limits{Mode: umpire.SandboxWorkspaceWrite}).reach(which),
		Hidden: []string{"/run"}, Env: os.Environ(), Check: true,
	})
	if err == nil {
		err = cmd.Run()
	}
	return b.Close(err)
}
