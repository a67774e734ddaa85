package gate

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// TestDecisionsGoOnWhileRulesAreCompiled: a large change of the rules does not block decisions. The
// test holds it up between reading and use, and calls are decided by the previous rules.
func TestDecisionsGoOnWhileRulesAreCompiled(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.be.config.Follow = true
	d.userFile(`{"version": 1, "rules": [{"id": "a", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "make"}}]}`)
	p := must(d.projects.Project(d.project))(t)
	if err := p.watcher.Close(); err != nil {
		t.Fatal(err)
	}
	d.projects.following.Wait()
	compiling, release := make(chan struct{}), make(chan struct{})
	prepare, begin := p.options.Prepare, sync.OnceFunc(func() { close(compiling) })
	p.options.Prepare = func(set *rulefile.Set) {
		begin()
		<-release
		prepare(set)
	}
	p.watcher = rulefile.Watch(p.layers, p.options)

	s := d.session(umpire.Opening{})
	decide := func(id, line string) umpire.ReasonCode {
		b := d.submit(s, id, command(id, line))
		return b.Call(umpire.CallID(id)).Code
	}
	if code := decide("before", "make x"); code != umpire.CodeBlocked {
		t.Fatalf("before: %s", code)
	}
	writeManyRules(t, d.home, 2_000) // make is not among them
	if code := decide("noticed", "make x"); code != umpire.CodeBlocked {
		t.Errorf("when the change is noticed: %s", code)
	}
	<-compiling
	var decided atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if len(slices.Collect(p.policy().Rules())) == 1 {
					decided.Add(1)
				}
			}
		})
	}
	all.Wait()
	if code := decide("meanwhile", "make x"); code != umpire.CodeBlocked || decided.Load() != 100 {
		t.Errorf("while the rules are compiled: %s, %d of 100 others", code, decided.Load())
	}
	close(release)
	p.reload()
	if code := decide("after", "make x"); code == umpire.CodeBlocked {
		t.Errorf("after: %s", code)
	}
}

// TestOneFolderHangsAlone: reading one project's folder may take forever, as on a disk that is
// gone; calls in other folders, known or new, are decided meanwhile.
func TestOneFolderHangsAlone(t *testing.T) {
	t.Parallel()
	hangs, known, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	reading, release := make(chan struct{}), make(chan struct{})
	g := New(Config{UserHome: t.TempDir(), SettingsOf: func(dir string) (config.Settings, error) {
		if dir == hangs {
			close(reading)
			<-release
		}
		return config.Settings{}, nil
	}})
	must(g.projects.Project(known))(t)
	var hung *Project
	var all sync.WaitGroup
	all.Go(func() { hung = must(g.projects.Project(hangs))(t) })
	<-reading
	for _, dir := range []string{known, fresh, known} {
		if p := must(g.projects.Project(dir))(t); p.Root != dir {
			t.Errorf("the project of %s is %s", dir, p.Root)
		}
	}
	close(release)
	all.Wait()
	if again := must(g.projects.Project(hangs))(t); again != hung {
		t.Error("the folder was read twice")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestPanicWhileOpening: a panic while a project is opened is an error for the waiting callers, and
// later callers can still open it.
func TestPanicWhileOpening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reading, release := make(chan struct{}), make(chan struct{})
	var read atomic.Int64
	g := New(Config{UserHome: t.TempDir(), SettingsOf: func(string) (config.Settings, error) {
		if read.Add(1) == 1 {
			close(reading)
			<-release
			panic("a reader is broken")
		}
		return config.Settings{}, nil
	}})
	var all sync.WaitGroup
	open := func() {
		if p, err := g.projects.Project(dir); p != nil || err == nil {
			t.Errorf("a project that was not opened: %v, %v", p, err)
		}
	}
	all.Go(open)
	<-reading
	all.Go(func() {
		if p, err := g.projects.Project(dir); (p == nil) == (err == nil) { // it waits, or comes later
			t.Errorf("who waits gets %v, %v", p, err)
		}
	})
	close(release)
	all.Wait()
	must(g.projects.Project(dir))(t)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
