package userhook

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// runsHookIn makes the test's own program run a hook in a folder.
const runsHookIn = "HOOK_TEST_FOLDER"

// A hook does not outlive the umpire that started it, however that one ended.
func TestHookDiesWithItsUmpire(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(runsHookIn); dir != "" {
		h := pre("exec 9>alive; echo x >started; exec sleep 1000")
		h.Timeout = time.Hour
		Run(t.Context(), h, &Occasion{Root: dir})
		return
	}
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	dead := waitForEnd(t, filepath.Join(dir, "alive"))
	umpire := exec.Command(os.Args[0], "-test.run=^TestHookDiesWithItsUmpire$")
	umpire.Env = append(os.Environ(), runsHookIn+"="+dir)
	if err := umpire.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(started); err != nil { // returns when the hook runs
		t.Error(err)
	}
	if err := umpire.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = umpire.Wait() // it was killed
	select {
	case <-dead:
	case <-time.After(time.Minute):
		t.Fatal("the hook lives on")
	}
}
