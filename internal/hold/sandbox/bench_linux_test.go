package sandbox

import (
	"os/exec"
	"testing"
)

// BenchmarkSetUp compares starting a command in the sandbox, directly, and in bubblewrap
// with a similar setup.
func BenchmarkSetUp(b *testing.B) {
	needFull(b)
	dir := plainDir(b)
	run := func(b *testing.B, cmd func() (*exec.Cmd, *Box)) {
		for b.Loop() {
			c, box := cmd()
			if err := box.Close(c.Run()); err != nil {
				b.Fatal(err)
			}
		}
	}
	alone := func() (*exec.Cmd, *Box) { return exec.Command("/bin/true"), &Box{} }
	b.Run("alone", func(b *testing.B) { run(b, alone) })
	b.Run("sandbox", func(b *testing.B) {
		place := &Place{Workspace: []string{dir}}
		run(b, func() (*exec.Cmd, *Box) {
			cmd := exec.Command("/bin/true")
			cmd.Dir = dir
			box, err := place.Wrap(cmd, writing)
			if err != nil {
				b.Fatal(err)
			}
			return cmd, box
		})
	})
	b.Run("bubblewrap", func(b *testing.B) {
		bwrap, err := exec.LookPath("bwrap")
		if err != nil {
			b.Skip("bubblewrap is not installed")
		}
		run(b, func() (*exec.Cmd, *Box) {
			return exec.Command(bwrap, "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session",
				"--ro-bind", "/", "/", "--bind", dir, dir, "--tmpfs", "/tmp", "--tmpfs", "/run", "--proc", "/proc", "--dev", "/dev",
				"--chdir", dir, "/bin/true"), &Box{}
		})
	})
}
