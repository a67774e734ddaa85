package trial

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// runCrashEnv makes the test binary run a trial in the named folder, during which it is killed.
const runCrashEnv = "UMPIRE_TEST_RUN"

// crashingLine makes many changes, and runs long enough to be killed.
const crashingLine = "for i in 1 2 3 4 5 6 7 8; do echo $i >>f$i; mv d d$i; mv d$i d; rm -f d/f$i; mkdir -p n/$i; sleep 0.01; done"

// TestKilledWhileRunning checks that after umpire is killed during a trial, the project
// is unchanged, the command ends, and a sweep removes the rest of the layer.
func TestKilledWhileRunning(t *testing.T) {
	if base := os.Getenv(runCrashEnv); base != "" {
		root := filepath.Join(base, "p")
		_, err := Run(t.Context(), Spec{
			Args: []string{"sh", "-c", crashingLine}, Dir: root, Env: os.Environ(), State: filepath.Join(base, "s"),
			Place: &sandbox.Place{Workspace: []string{root}, Home: filepath.Join(base, "h"), State: filepath.Join(base, "h/.umpire")},
		})
		must(t, err)
		return
	}
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir ../s d; for i in 1 2 3 4 5 6 7 8; do echo $i >f$i; echo $i >d/f$i; done")
	before := snapshot(t, b.root)
	layers := filepath.Join(b.base, "s")
	crashes, left, finished := crashCount()/2, 0, 0
	for i := range crashes {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileRunning$")
		cmd.Env = append(b.spec.Env, runCrashEnv+"="+b.base)
		must(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(250*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		if cmd.Wait() == nil {
			finished++
		}
		timer.Stop()
		b.waitUntilEnded()
		if diff := cmp.Diff(before, snapshot(t, b.root)); diff != "" {
			t.Fatalf("seed %d: the project is not as it was (-want +got):\n%s", i, diff)
		}
		found, err := filepath.Glob(filepath.Join(layers, layerPrefix+"*"))
		must(t, err)
		left += len(found)
		for began := time.Now(); time.Since(began) < patience; { // its helper holds the lock a bit longer
			must(t, sweepFolder(layers, func(string) bool { return false }, time.Now().Add(2*sweepAge)))
			if found, _ = filepath.Glob(filepath.Join(layers, layerPrefix+"*")); len(found) == 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if len(found) > 0 {
			t.Fatalf("seed %d: %v was not swept", i, found)
		}
	}
	t.Logf("figure: %d trials, killed at random while they ran: %d ended before; each left the project as it was, and %d layers, "+
		"which were swept", crashes, finished, left)
}

// waitUntilEnded waits until no process sees an overlay over the project.
func (b *bench) waitUntilEnded() {
	b.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		all, err := filepath.Glob("/proc/[0-9]*/mounts")
		must(b, err)
		if !slices.ContainsFunc(all, func(name string) bool {
			text, err := os.ReadFile(name) // the process may have ended
			return err == nil && strings.Contains(string(text), " "+b.root+" overlay ")
		}) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("a command runs on although umpire was killed")
}

// crashCount returns how many crashes a test makes.
func crashCount() int {
	if n, err := strconv.Atoi(os.Getenv(crashesEnv)); err == nil {
		return n
	}
	return sample.Times(8, 40)
}
