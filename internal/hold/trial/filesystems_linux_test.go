package trial

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// onEveryFileSystem are the tests to run on each file system, as root and as an ordinary
// user.
const onEveryFileSystem = "^(TestEffects|TestRandomSequences|TestTrialKeepUndo|TestNothingLeaks|TestKilledWhileRunning|TestTrialsOfANobody)$"

// TestTrialsOfANobody runs the ordinary user's tests on each file system.
func TestTrialsOfANobody(t *testing.T) {
	if os.Getenv(testDir) == "" {
		t.Skip("it is run on every file system")
	}
	t.Parallel()
	asNobody(t, "^(TestRandomSequences|TestTrialKeepUndo)$")
}

// TestOnFileSystems runs trials with project, state and record on each file system that
// this machine can make in a loop-mounted file.
func TestOnFileSystems(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	if os.Geteuid() != 0 || os.Getenv(testDir) != "" {
		t.Skip("only root can mount")
	}
	makers := map[string][]string{
		"tmpfs": nil, "ext4": {"mkfs.ext4", "-q"}, "btrfs": {"mkfs.btrfs", "-q"}, "xfs": {"mkfs.xfs", "-q"},
	}
	for _, name := range sample.Of(t, 1, []string{"ext4", "btrfs", "xfs", "tmpfs"}) {
		format := makers[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(plainDir(t), "mounted")
			must(t, errors.Join(os.Mkdir(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)))
			mount := []string{"mount", "-t", "tmpfs", "-o", "size=1g", "umpire", dir}
			if format != nil {
				image := filepath.Join(filepath.Dir(dir), "image")
				must(t, os.WriteFile(image, nil, 0o600))
				must(t, os.Truncate(image, 1<<30))
				runOrSkip(t, append(format, image)...)
				mount = []string{"mount", "-t", name, "-o", "loop", image, dir}
			}
			runOrSkip(t, mount...)
			t.Cleanup(func() { unmount(t, dir) })
			must(t, os.Chmod(dir, 0o755)) // the mode of the mounted folder
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", onEveryFileSystem, sample.Flag(), "-test.v", "-test.parallel", "2")
			cmd.Env = append(os.Environ(), testDir+"="+dir, sequencesVariable+"="+strconv.Itoa(sequenceCount()/4),
				crashesEnv+"="+strconv.Itoa(crashCount()/4))
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestRandomSequences")) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("figure: on %s: %d tests passed, %d skipped", name,
				strings.Count(string(out), "--- PASS"), strings.Count(string(out), "--- SKIP"))
			logFigures(t, "on "+name+": ", out)
		})
	}
}

// runOrSkip runs a program, and skips the test if it fails.
func runOrSkip(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Skipf("%s: %v: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}
