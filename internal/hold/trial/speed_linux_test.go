package trial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// speedVariable enables the measurement, and sets the number of runs per median. The
// table in docs/speed.md has the results.
const speedVariable = "UMPIRE_TRIAL_SPEED"

// TestSpeed measures how long a trial takes, depending on the size of the project and of
// the changes, and how long keeping and undoing take. It compares with a plain start and
// bubblewrap. Starts are measured in turns, so other load slows all of them equally.
func TestSpeed(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(speedVariable))
	if err != nil {
		t.Skip("it is measured by make trials")
	}
	names, starts := []string{"a plain start"}, []func(){func() { startPlainly(t, "sh", "-c", "true") }}
	if _, err := exec.LookPath("bwrap"); err == nil {
		names = append(names, "a start in bubblewrap")
		starts = append(starts, func() {
			startPlainly(t, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
				"--die-with-parent", "sh", "-c", "true")
		})
	}
	var benches []*speedBench
	for _, size := range []int{1_000, 10_000, 100_000} {
		b := newSpeedBench(t, size)
		benches = append(benches, b)
		names = append(names, fmt.Sprintf("a trial of true over %d files", size))
		starts = append(starts, func() { must(t, b.tryLine("true").Layer.Discard()) })
	}
	time.Sleep(2 * time.Second) // recently made folders are not cached
	took := timeInTurns(runs, starts...)
	for i, name := range names {
		t.Logf("figure: %s takes %s", name, spreadOf(took[i]))
	}
	for _, b := range benches {
		t.Logf("figure: over %d files", b.size)
		for _, changed := range []int{1, 100, 10_000} {
			if changed <= b.size {
				b.measure(changed, max(3, runs*10/max(changed, 10)))
			}
		}
	}
}

func startPlainly(t *testing.T, args ...string) {
	t.Helper()
	must(t, exec.CommandContext(t.Context(), args[0], args[1:]...).Run())
}

// timeInTurns runs each function in turn, several times. It returns the sorted durations of each.
func timeInTurns(runs int, all ...func()) [][]time.Duration {
	took := make([][]time.Duration, len(all))
	for range runs {
		for i, do := range all {
			began := time.Now()
			do()
			took[i] = append(took[i], time.Since(began))
		}
	}
	for _, times := range took {
		slices.Sort(times)
	}
	return took
}

// medianOf returns the median duration of a function.
func medianOf(runs int, do func()) time.Duration { return timeInTurns(runs, do)[0][runs/2] }

// spreadOf formats the median and the quartiles of durations.
func spreadOf(times []time.Duration) string {
	n := len(times)
	return fmt.Sprintf("%s (%s to %s)", milliseconds(times[n/2]), milliseconds(times[n/4]), milliseconds(times[n*3/4]))
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// A speedBench is a project with many files.
type speedBench struct {
	*testing.T
	base, root string
	size       int
}

func newSpeedBench(t *testing.T, size int) *speedBench {
	t.Helper()
	b := &speedBench{T: t, base: plainDir(t), size: size}
	b.root = filepath.Join(b.base, "p")
	for i := range size {
		dir := filepath.Join(b.root, fmt.Sprint("d", i/100))
		if i%100 == 0 {
			must(t, os.MkdirAll(dir, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(strings.Repeat("some text\n", 50)), 0o644))
	}
	if _, err := b.run("true"); err != nil {
		t.Skipf("no trials on this machine: %v", err)
	}
	return b
}

func (b *speedBench) run(line string) (*Result, error) {
	b.Helper()
	return Run(b.Context(), Spec{
		Args: []string{"sh", "-c", line}, Dir: b.root, Env: os.Environ(), State: filepath.Join(b.base, "s/trials"),
		Place: &sandbox.Place{Workspace: []string{b.root}, Home: b.base, State: b.base},
	})
}

func (b *speedBench) tryLine(line string) *Result {
	b.Helper()
	result, err := b.run(line)
	must(b, err)
	return result
}

// measure measures a command that changes some files, directly and in a trial, and how
// long keeping and undoing take.
func (b *speedBench) measure(changed, runs int) {
	b.Helper()
	line := fmt.Sprintf("ls d*/* | head -%d | xargs sed -i s/some/any/", changed)
	var keeps, undos []time.Duration
	state := filepath.Join(b.base, "s")
	trial := medianOf(runs, func() { must(b, b.tryLine(line).Layer.Discard()) })
	for range runs {
		result := b.tryLine(line)
		began := time.Now()
		kept, err := result.Layer.Keep(b.Context(), KeepSpec{State: state, Shown: &result.Effects})
		keeps = append(keeps, time.Since(began))
		must(b, err)
		began = time.Now()
		_, err = Undo(b.Context(), UndoSpec{State: state, ID: kept.ID})
		undos = append(undos, time.Since(began))
		must(b, err)
	}
	slices.Sort(keeps)
	slices.Sort(undos)
	own := medianOf(runs, func() {
		cmd := exec.CommandContext(b.Context(), "sh", "-c", line)
		cmd.Dir = b.root
		must(b, cmd.Run())
	})
	b.Logf("figure:   sed -i of %d: %s, in a trial %s; keep %s, undo %s", changed, milliseconds(own), milliseconds(trial),
		milliseconds(keeps[runs/2]), milliseconds(undos[runs/2]))
}
