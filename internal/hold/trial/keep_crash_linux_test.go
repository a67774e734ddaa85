package trial

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// crashEnv makes the test binary keep or undo something, during which it is killed.
const crashEnv = "UMPIRE_TEST_KEEP"

// crashesEnv sets how many crashes a test makes, if the default is too few.
const crashesEnv = "UMPIRE_TEST_CRASHES"

// runCrashing is the process to be killed: it keeps or undoes, and reports when it is done.
func runCrashing(tb testing.TB, what string) {
	state := os.Getenv(crashEnv + "_STATE")
	var err error
	if what == "undo" {
		_, err = Undo(tb.Context(), UndoSpec{State: state})
	} else {
		layer := readLayer(tb, what)
		effects, readErr := read(tb.Context(), *layer, limits{})
		must(tb, readErr)
		fmt.Println("begin")
		_, err = layer.Keep(tb.Context(), KeepSpec{State: state, Shown: &effects, Report: true})
	}
	must(tb, err)
	fmt.Println("done")
}

// A keep or undo that is killed at any moment is either complete or absent after the next
// start. If it reported success, it is complete.
func TestKilledWhileKeeping(t *testing.T) {
	if what := os.Getenv(crashEnv); what != "" {
		runCrashing(t, what)
		return
	}
	t.Parallel()
	crashes := crashCount()
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprint("apart ", apart), func(t *testing.T) {
			t.Parallel()
			finished, rolledBack := 0, 0
			longest := 30 * time.Millisecond
			for i := range crashes / 2 {
				r := rand.New(rand.NewPCG(uint64(i), 7))
				l := newLab(t)
				if apart {
					l.state = tmpfs(t, "64m")
				}
				for range 40 {
					randomChange(r, l.project, false)
				}
				fill(t, l)
				before := describeTree(t, l.project)
				layer, effects, seen := l.try(t, func(dir string) {
					for range 60 {
						randomChange(r, dir, true)
					}
					put(t, filepath.Join(dir, "new"), "new")
				})
				if !effects.Whole() {
					continue
				}
				acknowledged, took := l.kill(t, saveLayer(t, layer), r, longest)
				longest = max(longest, took)
				whole := l.wantWhole(t, "keep", acknowledged, before, seen)
				if !whole {
					rolledBack++
					// A rolled back keep can be repeated.
					l.mustKeep(t, layer, &effects)
					wantTree(t, "keep again", describeTree(t, l.project), seen)
				} else {
					finished++
				}
				acknowledged, _ = l.kill(t, "undo", r, longest)
				if !l.wantWhole(t, "undo", acknowledged, seen, before) {
					rolledBack++
					l.mustUndo(t)
					wantTree(t, "undo again", describeTree(t, l.project), before)
				} else {
					finished++
				}
				if t.Failed() {
					t.Fatalf("seed %d", i)
				}
			}
			t.Logf("figure: %d keeps and undos, killed at random, layer and record on one file system: %v; %d finished, %d rolled back",
				finished+rolledBack, !apart, finished, rolledBack)
		})
	}
}

// kill starts a process that keeps or undoes, and kills it. It reports whether the
// process had reported success, and how long it ran.
func (l *lab) kill(tb testing.TB, what string, r *rand.Rand, longest time.Duration) (acknowledged bool, took time.Duration) {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileKeeping$")
	cmd.Env = append(os.Environ(), crashEnv+"="+what, crashEnv+"_STATE="+l.state)
	var out bytes.Buffer
	cmd.Stdout = &out
	start := time.Now()
	must(tb, cmd.Start())
	timer := time.AfterFunc(time.Duration(r.Int64N(int64(longest))), func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	took = time.Since(start)
	timer.Stop()
	acknowledged = bytes.Contains(out.Bytes(), []byte("done\n"))
	if err == nil != acknowledged && !acknowledged {
		tb.Errorf("%s: %v: %s", what, err, out.Bytes())
	}
	l.recoverAll(tb, nil)
	return acknowledged, took
}

// wantWhole checks that the project is in either its old or its new state, without leftovers.
func (l *lab) wantWhole(tb testing.TB, what string, acknowledged bool, before, after map[string]string) bool {
	tb.Helper()
	now := describeTree(tb, l.project)
	whole := maps.Equal(now, after)
	switch {
	case acknowledged && !whole:
		wantTree(tb, "acknowledged "+what, now, after)
	case !whole && !maps.Equal(now, before):
		wantTree(tb, what+" that was killed, beside before", now, before)
		wantTree(tb, what+" that was killed, beside after", now, after)
	}
	records, err := os.ReadDir(filepath.Join(l.state, keptFolder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		tb.Fatal(err)
	}
	for _, r := range records {
		if !files.Exists(filepath.Join(l.state, keptFolder, r.Name()), doneFile) {
			tb.Errorf("%s is half there", r.Name())
		}
	}
	l.wantReported(tb, what, whole)
	return whole
}

// wantReported checks that a complete operation is due for one report, and nothing else is.
func (l *lab) wantReported(tb testing.TB, what string, whole bool) {
	tb.Helper()
	due, err := Unreported(l.state)
	must(tb, err)
	if whole != (len(due) == 1) {
		tb.Errorf("%s is whole: %v; %d are to be reported", what, whole, len(due))
	}
	for i := range due {
		must(tb, MarkReported(l.state, due[i].Record))
	}
}

// savedLayer is the file with a layer for another process.
const savedLayer = "layer.json"

// saveLayer writes a layer for another process.
func saveLayer(tb testing.TB, layer *Layer) string {
	tb.Helper()
	text, err := jsonOf(layer)
	must(tb, err)
	must(tb, os.WriteFile(filepath.Join(layer.Dir, savedLayer), text, 0o600))
	return layer.Dir
}

// A record stays while it has leftovers in the project: the next start tries again.
func TestRecordStaysWithItsFolder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	fill(t, l)
	layer, effects, _ := l.try(t, func(dir string) { put(t, filepath.Join(dir, "new"), "new") })
	j := &journal{Version: journalVersion, ID: "t0", Layer: layer.Dir}
	must(t, layer.planSteps(j, &effects))
	j.Roots[0].Apart = true
	record, lock, err := claimRecord(l.state, j.ID)
	must(t, err)
	tr, err := openTransaction(record, lock, j)
	must(t, err)
	must(t, writeJournal(record, j))
	must(t, tr.makeStages())
	theirs := filepath.Join(j.stageName(), "theirs")
	l.write(t, theirs, "x")
	if err := tr.drop(); err == nil || !files.Exists(record, journalFile) {
		t.Errorf("%v: the record is gone, and the folder in the project is there", err)
	}
	tr.close()
	must(t, os.Remove(l.path(theirs)))
	l.recoverAll(t, nil)
	if files.Exists(l.project, j.stageName()) || files.Exists(l.state, filepath.Join(keptFolder, j.ID)) {
		t.Error("the next start has not removed it")
	}
}
