package rulefile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// await waits until the watcher's set is as wanted.
func await(t *testing.T, w *Watcher, what string, want func(*Set) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for !want(w.Set()) {
		select {
		case <-w.Changed():
		case <-ctx.Done():
			t.Fatalf("%s: not seen; files %+v", what, w.Set().Files)
		}
	}
}

func rules(n int) func(*Set) bool { return func(s *Set) bool { return len(s.Rules) == n } }

func health(h Health) func(*Set) bool { return func(s *Set) bool { return s.Files[0].Health == h } }

func startWatch(t *testing.T, l Layer, o Options) *Watcher {
	t.Helper()
	w := Watch([]Layer{l}, o)
	t.Cleanup(func() { w.Close() })
	return w
}

func TestWatch(t *testing.T) {
	t.Parallel()
	l, _ := project(t, "")
	w := startWatch(t, l, testOptions())
	await(t, w, "M-151 nothing there", health(HealthMissing))

	write(t, l.Path, rulesFile(denyLocks))
	await(t, w, "M08 folder and file made late", rules(1))

	write(t, l.Path, `{"version": 1, "rules": [{"id": "lo`)
	await(t, w, "M09 half a text", health(HealthDegraded))
	if set := w.Set(); len(set.Rules) != 1 || set.Degraded != "" {
		t.Errorf("M09: rules %v, degraded %q", brief(set.Rules), set.Degraded)
	}

	write(t, l.Path, rulesFile(denyLocks, askFetch))
	await(t, w, "M-204 mended in place", rules(2))

	other := write(t, l.Path+"~new", rulesFile(denyLocks, askFetch, `{"action": "deny", "tool": "LS"}`))
	if err := os.Rename(other, l.Path); err != nil {
		t.Fatal(err)
	}
	await(t, w, "M-146 replaced by renaming", rules(3))

	if err := os.Remove(l.Path); err != nil {
		t.Fatal(err)
	}
	await(t, w, "M08 file removed", health(HealthMissing))

	write(t, l.Path, rulesFile(denyLocks))
	await(t, w, "file made again", rules(1))
	if err := os.RemoveAll(filepath.Dir(l.Path)); err != nil {
		t.Fatal(err)
	}
	await(t, w, "folder removed", health(HealthMissing))
	write(t, l.Path, rulesFile(denyLocks))
	await(t, w, "folder made again", rules(1))

	if err := os.Rename(filepath.Dir(l.Path), filepath.Dir(l.Path)+"-away"); err != nil {
		t.Fatal(err)
	}
	await(t, w, "folder renamed away", health(HealthMissing))
	if err := os.Rename(filepath.Dir(l.Path)+"-away", filepath.Dir(l.Path)); err != nil {
		t.Fatal(err)
	}
	await(t, w, "folder renamed back", rules(1))
}

func TestWatchDeepFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	l := Layer{Source: umpire.SourceUser, Path: filepath.Join(root, "a", "b", "c", fileName)}
	w := startWatch(t, l, testOptions())
	write(t, l.Path, rulesFile(denyLocks))
	await(t, w, "three folders made at once", rules(1))
}

func TestWatchLinkTarget(t *testing.T) {
	t.Parallel()
	target := userLayer(t, rulesFile(denyLocks))
	l := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), fileName)}
	if err := os.Symlink(target.Path, l.Path); err != nil {
		t.Fatal(err)
	}
	w := startWatch(t, l, testOptions())
	write(t, target.Path, rulesFile(denyLocks, askFetch))
	await(t, w, "the file behind a link", rules(2))
}

func TestWatchTrust(t *testing.T) {
	t.Parallel()
	l, trust := project(t, rulesFile(allowTests))
	o := testOptions()
	o.Trust = trust
	w := startWatch(t, l, o)
	await(t, w, "a clone", health(HealthUntrusted))
	if err := trust.Grant(l.Root, l.Path, w.Set().Files[0].Hash); err != nil {
		t.Fatal(err)
	}
	await(t, w, "trusted elsewhere", rules(1))

	// Readers never see umpire's own writes inactive.
	if _, err := (Writer{Check: testCheck, Trust: trust}).Add(l, npm("run build")); err != nil {
		t.Fatal(err)
	}
	await(t, w, "an approval", rules(2))
}

// On systems that do not report changes, the watcher polls the files.
func TestWatchPolling(t *testing.T) {
	t.Parallel()
	l, _ := project(t, "")
	w := newWatcher([]Layer{l}, testOptions(), nil)
	t.Cleanup(func() { w.Close() })
	write(t, l.Path, rulesFile(denyLocks))
	await(t, w, "polled", rules(1))
}

func TestWatchClose(t *testing.T) {
	t.Parallel()
	l := userLayer(t, rulesFile(denyLocks))
	for range 3 { // M-147: it can be started again
		w := Watch([]Layer{l}, testOptions())
		if w.polls != nil {
			t.Error("polls although it is told of changes")
		}
		w.Close()
		w.Close()
		if _, open := <-w.Changed(); open {
			t.Error("M-147: a change is told after Close")
		}
		if len(w.Set().Rules) != 1 {
			t.Error("the set is gone after Close")
		}
	}
}

// A decision reads the files as they are now, and does not wait for the system to
// announce a change.
func TestCurrentIsNeverLate(t *testing.T) {
	t.Parallel()
	l, _ := project(t, "")
	w := startWatch(t, l, testOptions())
	for round := range 100 {
		text, want := rulesFile(denyLocks), 1
		if round%2 == 1 {
			text, want = rulesFile(denyLocks, askFetch), 2
		}
		write(t, l.Path, text)
		if got := w.Current(); len(got.Rules) != want {
			t.Fatalf("round %d: %d rules, want %d", round, len(got.Rules), want)
		}
	}
	write(t, l.Path, `{"version": 1, "ru`)
	if set := w.Current(); len(set.Rules) != 2 || set.Files[0].Health != HealthDegraded {
		t.Errorf("half a text: %d rules, health %s", len(set.Rules), set.Files[0].Health)
	}
	if err := os.Remove(l.Path); err != nil {
		t.Fatal(err)
	}
	await(t, w, "a file that has gone", health(HealthMissing))
}

// TestReadyWaitsForNoLargeFile: while a large change is read and prepared, decisions use the
// previous set. They wait for a small change, so it applies to the next call.
func TestReadyWaitsForNoLargeFile(t *testing.T) {
	t.Parallel()
	l := userLayer(t, rulesFile(denyLocks))
	o, reading, release := testOptions(), make(chan *Set), make(chan struct{})
	o.Prepare = func(s *Set) {
		if len(s.Rules) > 2 {
			reading <- s
			<-release
		}
	}
	w := startWatch(t, l, o)
	write(t, l.Path, rulesFile(denyLocks, askFetch))
	if set := w.Ready(); len(set.Rules) != 2 {
		t.Errorf("a small change: %d rules, want 2", len(set.Rules))
	}
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": "r%d", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "tool-%d run"}}`, i, i)
	}
	write(t, l.Path, rulesFile(lines...))
	if set := w.Ready(); len(set.Rules) != 2 {
		t.Errorf("before a large change is read: %d rules, want 2", len(set.Rules))
	}
	<-reading
	for range 1000 {
		if set := w.Ready(); len(set.Rules) != 2 {
			t.Fatalf("while a large change is made ready: %d rules, want 2", len(set.Rules))
		}
	}
	close(release)
	await(t, w, "a large change", rules(len(lines)))
	if set := w.Current(); len(set.Rules) != len(lines) {
		t.Errorf("now: %d rules, want %d", len(set.Rules), len(lines))
	}
}
