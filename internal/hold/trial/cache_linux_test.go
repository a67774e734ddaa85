package trial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// newCacheBench makes a bench whose home has filled caches.
func newCacheBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, cachedFiles)
	b.spec.Place.Cache = sandbox.Caches(home, func(string) string { return "" })
	return b
}

// cachedFiles are in all caches in the table of homes.
var cachedFiles = map[string]string{
	".cache/go-build/00/0-d": "PLAIN", ".cache/pip/http/0": "PLAIN", ".cache/uv/archive/0": "PLAIN",
	"go/pkg/mod/m@v1/m.go":    "PLAIN",
	".npm/_cacache/content/0": "PLAIN", ".cargo/registry/src/c/lib.rs": "PLAIN", ".cargo/git/db/c/HEAD": "PLAIN",
	".gradle/caches/0": "PLAIN", ".m2/repository/a.jar": "PLAIN", ".local/share/pnpm/store/0": "PLAIN",
	".bun/install/cache/0": "PLAIN", ".yarn/berry/cache/0": "PLAIN", ".nuget/packages/p/0": "PLAIN",
}

// goModule is a module of two packages without other imports, so it compiles fast.
var goModule = map[string]string{
	"go.mod":   "module example.com/m\n\ngo 1.21\n",
	"m.go":     "package m\n\nimport \"example.com/m/in\"\n\n// Two is 2.\nfunc Two() int { return 2 * in.One() }\n",
	"in/in.go": "package in\n\n// One is 1.\nfunc One() int { return 1 }\n",
}

// useGo prepares building the module with the caches of the bench's home.
func (b *bench) useGo() {
	b.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		b.Skip("the go command is not in PATH")
	}
	b.write(b.root, goModule)
	b.spec.Env = append(b.spec.Env, "GOCACHE=", "GOMODCACHE=", "GOPATH=", "GOFLAGS=", "GOTOOLCHAIN=local", "GOENV=off",
		"GOPROXY=off")
}

// TestSecondBuildIsWarm checks that a tried build finds the outputs of earlier tried builds. A
// plain build does not find them, and neither does a trial in another project or with the network.
func TestSecondBuildIsWarm(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	b.useGo()
	before := snapshot(t, b.spec.Place.Home)
	compiles := func(want int, when string) {
		t.Helper()
		result := b.try("go build -x ./... 2>&1")
		if got := strings.Count(string(result.Output), "/compile -o "); got != want {
			t.Errorf("%s it compiled %d packages, want %d:\n%s", when, got, want, result.Output)
		}
	}
	compiles(2, "at first")
	compiles(0, "the second time")
	b.write(b.root, map[string]string{"m.go": "package m\n\nimport _ \"example.com/m/in\"\n"})
	compiles(1, "after a change")
	b.spec.Exit = sending(t)
	compiles(2, "with the network")
	compiles(0, "with the network, the second time")
	b.spec.Exit = nil
	compiles(0, "the last time")
	other := filepath.Join(b.base, "other")
	b.write(other, goModule)
	b.spec.Dir, b.spec.Place.Workspace = other, []string{other}
	compiles(2, "in another project")
	if diff := cmp.Diff(withoutState(before), withoutState(snapshot(t, b.spec.Place.Home))); diff != "" {
		t.Errorf("the person's caches are not as they were (-want +got):\n%s", diff)
	}
	if out := b.bare("go build -x ./... 2>&1"); strings.Count(out, "/compile -o ") != 2 {
		t.Errorf("a plain build finds outputs of tried ones:\n%s", out)
	}
}

// sending returns the way out of a command that may send something.
func sending(t *testing.T) *egress.Proxy {
	t.Helper()
	p, err := egress.NewProxy(egress.Way{Approved: []string{"registry.example"}})
	must(t, err)
	return p
}

// withoutState removes umpire's own folder from a snapshot of the home.
func withoutState(all map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range all {
		if !strings.Contains(name, ".umpire") {
			kept[name] = text
		}
	}
	return kept
}

// TestPoisonedCaches writes other content into each cache in a trial. The user's caches must not
// change, however the trial is settled. Only later trials of the project see the content.
func TestPoisonedCaches(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	home := b.spec.Place.Home
	before := withoutState(snapshot(t, home))
	var poison, read strings.Builder
	for name := range cachedFiles {
		path := filepath.Join(home, name)
		dir := filepath.Dir(path)
		fmt.Fprintf(&poison,
			"chmod -R u+w %s; printf BAD >%s.new && mv %s.new %s && printf BAD >%s/more && ln -s /etc/passwd %s/link\n",
			dir, path, path, path, dir, dir)
		fmt.Fprintf(&read, "cat %s %s/more;", path, dir)
	}
	poisoned := b.try("set -e; " + poison.String() + "echo x >f")
	if got := b.listing(&poisoned.Effects); got != "created f\n" || len(poisoned.Effects.Refused) > 0 {
		t.Errorf("%s%+v", got, poisoned.Effects.Refused)
	}
	if got := b.try(read.String()); string(got.Output) != strings.Repeat("BADBAD", len(cachedFiles)) {
		t.Errorf("a later trial reads %s", got.Output)
	}
	_, err := poisoned.Layer.Keep(t.Context(), KeepSpec{State: filepath.Dir(b.state), Shown: &poisoned.Effects})
	must(t, err)
	must(t, b.try("echo y >g").Layer.Discard())
	if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
		t.Errorf("the person's caches are not as they were (-want +got):\n%s", diff)
	}
	b.spec.Exit = sending(t)
	if got, err := b.run(read.String()); err != nil || strings.Contains(string(got.Output), "BAD") {
		t.Errorf("a trial with the network reads %s, %v", got.Output, err)
	}
	b.spec.Seen = []string{filepath.Join(b.base, "o")}
	b.try("echo y >~/.cache/seen")
	b.spec.Seen = nil
	if got, err := b.run("cat ~/.cache/seen"); err != nil || got.Exit == 0 {
		t.Errorf("a trial with the network reads what one wrote that saw more: %s, %v", got.Output, err)
	}
	if got := b.bare("cd; cat " + read.String()[4:] + "true"); strings.Contains(got, "BAD") {
		t.Errorf("a plain command reads %s", got)
	}
}

// TestRejectedCaches checks that after a trial was shown and discarded, no later trial sees its writes to caches.
func TestRejectedCaches(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	state := filepath.Dir(b.state)
	hold := func(line string) *Held {
		result := b.try(line)
		h := &Held{ID: filepath.Base(result.Layer.Dir), Time: time.Now(), Root: b.root, Trial: "t1",
			Layer: result.Layer, Effects: result.Effects}
		must(t, Hold(state, h))
		all, err := HeldTrials(state)
		must(t, err)
		return &all[0]
	}
	must(t, hold("echo one >~/.cache/shared").Discard(state))
	held := hold("cat ~/.cache/shared && echo x >f")
	b.try("cat ~/.cache/shared")
	must(t, held.Discard(state))
	if result, err := b.run("cat ~/.cache/shared"); err != nil || result.Exit == 0 {
		t.Errorf("%v, %+v", err, result)
	}
}

// TestPoisonedBuild plants outputs for a build's inputs in a trial. A plain build must use its own.
func TestPoisonedBuild(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	b.useGo()
	const build = "go build -trimpath -o out.a ./in"
	b.bare(build + " && mv out.a ../plain.a")
	b.try("for f in ~/.cache/go-build/*/*-d; do chmod u+w $f; printf BAD | dd of=$f conv=notrunc 2>/dev/null; done")
	if result, err := b.run(build + " && ! cmp out.a ../plain.a"); err != nil || result.Exit != 0 {
		t.Errorf("the poison does nothing, so this test tells nothing: %v, %+v", err, result)
	}
	b.bare("go build -trimpath -o out.a ./in && cmp out.a ../plain.a")
}

// TestTrialsWithCachesAtATime checks that overlapping trials do not see each other's writes, and that all finish.
func TestTrialsWithCachesAtATime(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	b.try("echo one >~/.cache/shared")
	done := make(chan string)
	for i := range 2 {
		spec := b.spec
		line := fmt.Sprintf("cat ~/.cache/shared 2>/dev/null; echo %d >~/.cache/own; mkdir $HOME/.cache/d%d; sleep 1; cat ~/.cache/own; ls -d ~/.cache/d*", i, i)
		spec.Args = []string{"sh", "-c", line}
		go func() {
			result, err := Run(t.Context(), spec)
			if err != nil {
				done <- err.Error()
				return
			}
			text := strings.TrimPrefix(string(result.Output), "one\n")
			text = strings.ReplaceAll(text, b.spec.Place.Home, "~")
			if err := result.Layer.Discard(); err != nil || text != fmt.Sprintf("%d\n~/.cache/d%d\n", i, i) {
				done <- fmt.Sprintf("%d: %s, %v", i, text, err)
				return
			}
			done <- ""
		}()
	}
	for range 2 {
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
	if found, err := filepath.Glob(b.state + "/cache/*/used-*"); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
}

// cacheCrashEnv makes the test binary run a trial in the named folder, in which it is killed.
const cacheCrashEnv = "UMPIRE_TEST_CACHE"

// TestKilledWithCaches checks that no mount is left when umpire is killed, and that the
// next trial runs and does not see a half-written cache.
func TestKilledWithCaches(t *testing.T) {
	line := "for i in 1 2 3 4 5 6 7 8; do echo x >~/.cache/half$i; echo x >started; sleep 0.1; done; sleep 60"
	if base := os.Getenv(cacheCrashEnv); base != "" {
		root, home := filepath.Join(base, "p"), filepath.Join(base, "h")
		_, err := Run(t.Context(), Spec{
			Args: []string{"sh", "-c", line}, Dir: root, Env: append(os.Environ(), "HOME="+home),
			State: filepath.Join(home, ".umpire/state/trials"),
			Place: &sandbox.Place{
				Workspace: []string{root}, Home: home, State: filepath.Join(home, ".umpire"),
				Cache: sandbox.Caches(home, func(string) string { return "" }),
			},
		})
		must(t, err)
		return
	}
	t.Parallel()
	b := newCacheBench(t)
	b.try("echo one >~/.cache/shared")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWithCaches$")
	cmd.Env = append(b.spec.Env, cacheCrashEnv+"="+b.base)
	must(t, cmd.Start())
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(b.state + "/trial-*/0/upper/started"); len(found) > 0 {
			break
		}
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for range 3 { // the command's last processes may still be ending
		if result := b.try("ls ~/.cache"); strings.Contains(string(result.Output), "half") {
			t.Errorf("%s", result.Output)
		}
	}
	b.waitUntilEnded()
	if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), b.base) {
		t.Errorf("%v: a mount is left:\n%s", err, mounts)
	}
	must(t, sweepFolder(b.state, func(string) bool { return false }, time.Now().Add(2*sweepAge)))
	if found, err := filepath.Glob(b.state + "/cache/*/used-*"); err != nil || len(found) != 1 {
		t.Errorf("%v, %v: want the one that the later trials used", found, err)
	}
}

// TestCachesGoWithTheirTime checks that a sweep removes caches after the waiting time of abandoned trials.
func TestCachesGoWithTheirTime(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	b.try("echo one >~/.cache/shared")
	must(t, sweepFolder(b.state, func(string) bool { return true }, time.Now().Add(heldAge-time.Hour)))
	if result := b.try("cat ~/.cache/shared"); string(result.Output) != "one\n" {
		t.Errorf("%s", result.Output)
	}
	must(t, sweepFolder(b.state, func(string) bool { return true }, time.Now().Add(heldAge+time.Hour)))
	if found, err := os.ReadDir(b.state + "/cache"); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestCachesAreHidden checks that a command cannot see the state of any trial, even through its caches.
func TestCachesAreHidden(t *testing.T) {
	t.Parallel()
	b := newCacheBench(t)
	b.try("echo SECRET-OF-TRIAL >~/.cache/shared")
	result := b.try("ls -A " + b.state + " ~/.umpire/state 2>/dev/null; echo x 2>/dev/null >" + b.state +
		"/cache/x; true")
	if strings.TrimSpace(string(result.Output)) != "" {
		t.Errorf("%s", result.Output)
	}
}
