package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
)

// seatbeltProgram is an absolute path because PATH could lead to another program.
const seatbeltProgram = "/usr/bin/sandbox-exec"

// hand changes the command to start under Seatbelt.
func (b *Box) hand(cmd *exec.Cmd, o *order) error {
	if len(o.Over) > 0 {
		return ErrUnavailable
	}
	env := o.Env
	if o.Tmp != "" {
		env = setEnv(env, "TMPDIR", o.Tmp)
	}
	cmd.Args = append([]string{"sandbox-exec", "-p", seatbelt(o), o.Path}, o.Args[1:]...)
	cmd.Path, cmd.Dir, cmd.Env = seatbeltProgram, o.Dir, env
	return nil
}

func (b *Box) letGo(ended error) error {
	if b.cmd != nil && b.cmd.Process == nil && ended != nil {
		return &SetupError{Step: seatbeltProgram, Reason: ended.Error()}
	}
	return ended
}

// Available tests writing inside and outside of a sandbox, once per process.
var Available = sync.OnceValue(func() Ability {
	if err := proveSeatbelt(); err != nil {
		return Ability{Level: umpire.SandboxNone, Lacks: err.Error()}
	}
	return Ability{Level: umpire.SandboxFull}
})

func proveSeatbelt() error {
	base, err := os.MkdirTemp("", "umpire-sandbox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	inside, outside := filepath.Join(base, "in"), filepath.Join(base, "out")
	for _, dir := range []string{inside, outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	place := &Place{Workspace: []string{inside}}
	for _, dir := range []string{inside, outside} {
		cmd := exec.Command(
			"/bin/sh", "-c", `: >"$1"`, "sh", filepath.Join(dir, "file"),
		) //nolint:noctx // it ends by itself
		cmd.Dir = inside
		box, err := place.Wrap(cmd, Limits{Mode: umpire.SandboxWorkspaceWrite})
		if err != nil {
			return err
		}
		err = box.Close(cmd.Run())
		if wrote := isPresent(filepath.Join(dir, "file")); wrote != (dir == inside) {
			return umpire.Errorf("%s does not do what umpire asked of it: %w", seatbeltProgram, err)
		}
	}
	return nil
}
