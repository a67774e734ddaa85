package trial

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// A barrier is a command's output. The command continues after its first line when the
// barrier is opened: until then its output is not read, and exceeds a pipe's capacity.
type barrier struct {
	reached, opened chan struct{}
	text            bytes.Buffer
}

func newBarrier() *barrier {
	return &barrier{reached: make(chan struct{}), opened: make(chan struct{})}
}

func (b *barrier) Write(p []byte) (int, error) {
	if b.text.Len() == 0 {
		close(b.reached)
		<-b.opened
	}
	return b.text.Write(p)
}

// waits is a command line that waits at the barrier.
const waits = "echo here; head -c 300000 /dev/zero; "

// A pending is a trial that waits at its barrier.
type pending struct {
	*barrier
	again  []string
	result *Result
	err    error
	done   chan struct{}
}

// start runs a command line in a trial that waits at a barrier, and returns when it has reached the barrier.
func (b *bench) start(line string, retry bool) *pending {
	b.Helper()
	p := &pending{barrier: newBarrier(), done: make(chan struct{})}
	spec := b.spec
	spec.Args, spec.Stdout = []string{"sh", "-c", line}, p
	if retry {
		spec.Again = func(changed []string) { p.again = append(p.again, changed...) }
	}
	go func() {
		defer close(p.done)
		p.result, p.err = Run(b.Context(), spec)
	}()
	select {
	case <-p.reached:
	case <-p.done:
		b.Fatalf("%s: %v", line, p.err)
	}
	return p
}

// end opens a trial's barrier and waits for its end.
func (b *bench) end(p *pending) *Result {
	b.Helper()
	close(p.opened)
	<-p.done
	if p.err != nil {
		b.Fatal(p.err)
	}
	b.Cleanup(func() {
		if err := p.result.Layer.Discard(); err != nil {
			b.Error(err)
		}
	})
	return p.result
}

func (b *bench) keep(r *Result) (*Kept, error) {
	return r.Layer.Keep(b.Context(), KeepSpec{State: filepath.Dir(b.state), Shown: &r.Effects})
}

func (b *bench) mustKeep(r *Result) *Kept {
	b.Helper()
	kept, err := b.keep(r)
	if err != nil {
		b.Fatal(err)
	}
	return kept
}

// TestTrialsOverlap runs and keeps twenty trials of a project while another one waits. The waiting trial may
// have seen an older state of the project, so it runs again and then sees all their changes.
func TestTrialsOverlap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	put(t, filepath.Join(b.root, "n"), "0\n")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	b.spec.Stdin = null // /dev/null counts as no input
	first := b.start("cat n; "+waits+"cat n >>sum", true)
	began := time.Now()
	for i := range 20 {
		b.mustKeep(b.try(fmt.Sprintf("echo %d >n; touch made%d", i+1, i)))
	}
	t.Logf("20 trials ran and were kept in %v while another one ran", time.Since(began))
	r := b.end(first)
	if len(first.again) != 21 || len(r.Effects.Stale) > 0 {
		t.Errorf("it ran again for %q, and is stale by %q", first.again, r.Effects.Stale)
	}
	b.mustKeep(r)
	if got := b.bare("cat sum; ls | grep -c made"); got != "20\n20\n" {
		t.Errorf("the project has %q", got)
	}
}

// TestStaleTrialIsAConflict checks that only a person can keep results that mix two states of the project.
func TestStaleTrialIsAConflict(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){
		"a keep":              func(b *bench) { b.mustKeep(b.try("echo new >n")) },
		"a keep of a removal": func(b *bench) { b.mustKeep(b.try("rm n")) },
		"an undo": func(b *bench) {
			if _, err := Undo(b.Context(), UndoSpec{State: filepath.Dir(b.state)}); err != nil {
				b.Fatal(err)
			}
		},
		"a call that writes": func(b *bench) {
			r, err := Record(b.Context(), RecordSpec{
				State: filepath.Dir(b.state), Roots: []string{b.root}, Paths: []string{filepath.Join(b.root, "n")},
			})
			if err != nil {
				b.Fatal(err)
			}
			put(b, filepath.Join(b.root, "n"), "new\n")
			if _, err := r.Seal(b.Context()); err != nil {
				b.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.mustKeep(b.try("echo old >n"))
			first := b.start("cat n >copy; "+waits, false)
			change(b)
			r := b.end(first)
			path := filepath.Join(b.root, "n")
			if !slices.Equal(r.Effects.Stale, []string{path}) {
				t.Fatalf("it is stale by %q", r.Effects.Stale)
			}
			_, err := b.keep(r)
			if conflict, is := errors.AsType[*ConflictError](err); !is || !slices.Equal(conflict.Paths, []string{path}) {
				t.Errorf("kept: %v", err)
			}
			spec := KeepSpec{State: filepath.Dir(b.state), Shown: &r.Effects, Reviewed: true}
			if _, err = r.Layer.Keep(t.Context(), spec); err != nil {
				t.Errorf("a person keeps it: %v", err)
			}
		})
	}
}

// TestWritesBesideTrialsConflict covers writes during a trial that are not announced to
// it: the keep detects them.
func TestWritesBesideTrialsConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	put(t, filepath.Join(b.root, "n"), "old\n")
	first := b.start("echo mine >n; "+waits, true)
	b.bare("echo theirs >n")
	if _, err := b.keep(b.end(first)); err == nil || b.bare("cat n") != "theirs\n" {
		t.Errorf("kept: %v, %q", err, b.bare("cat n"))
	}
}

// TestNotRunAgain covers cases in which a second run would differ or be useless.
func TestNotRunAgain(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*bench) string{
		"nothing to keep": func(*bench) string { return waits },
		"input": func(b *bench) string {
			path := filepath.Join(b.base, "input")
			put(b, path, "given")
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			b.spec.Stdin = f
			return waits + "touch made"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			first := b.start(set(b), true)
			b.mustKeep(b.try("echo new >n"))
			r := b.end(first)
			if len(first.again) > 0 {
				t.Errorf("it ran again for %q", first.again)
			}
			if stale := len(r.Effects.Stale) > 0; stale != (name != "nothing to keep") {
				t.Errorf("stale: %q", r.Effects.Stale)
			}
		})
	}
}

// TestOtherProjectsAreNotStale checks that a keep in another project does not affect a trial.
func TestOtherProjectsAreNotStale(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(waits+"touch made", true)
	other := *b
	other.root = filepath.Join(b.base, "o")
	other.spec.Dir = other.root
	other.spec.Place = &sandbox.Place{Workspace: []string{other.root}, Home: b.spec.Place.Home, State: b.spec.Place.State}
	other.mustKeep(other.try("echo new >n"))
	if r := b.end(first); len(r.Effects.Stale)+len(first.again) > 0 {
		t.Errorf("it ran again for %q, and is stale by %q", first.again, r.Effects.Stale)
	}
}

// TestTrialWaitsForAKeep checks that a trial waits for a keep in the same folder, one above or one below.
func TestTrialWaitsForAKeep(t *testing.T) {
	t.Parallel()
	layers := t.TempDir()
	for _, keep := range []string{"/p", "/", "/p/sub/deep", "/p/sub"} {
		unlock, err := lockFolders(t.Context(), layers, []string{keep})
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan error)
		go func() {
			running, err := registerTrial(t.Context(), layers, []string{"/p"})
			if err == nil {
				err = running.unregister()
			}
			begun <- err
		}()
		for range 3 { // the keep announces its changes and sees the waiting trial
			for {
				if err := announceChanges(layers, []string{"/p/x"}); err != nil {
					t.Fatal(err)
				}
				if names, _ := filepath.Glob(filepath.Join(layers, "running/run-*")); len(names) == 1 {
					break
				}
			}
		}
		select {
		case err := <-begun:
			t.Fatalf("a trial began during a keep in %s: %v", keep, err)
		default:
		}
		if err := errors.Join(unlock(), <-begun); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := lockFolders(t.Context(), layers, []string{"/p"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock() }()
	running, err := registerTrial(t.Context(), layers, []string{"/q"})
	if err != nil {
		t.Fatal(err)
	}
	if err := running.unregister(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(layers, "running/*")); len(left) != 1 || !strings.HasSuffix(left[0], "lock") {
		t.Errorf("left over: %q", left)
	}
}
