package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// TestFailsClosed checks that nothing runs if any step of the setup fails.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo ran; touch ran")
			cmd.Dir = b.root
			box := &Box{cmd: cmd}
			o, err := b.order(cmd, writing, allLayers, box)
			if err != nil {
				t.Fatal(err)
			}
			o.Fault = s.name
			if err := box.hand(cmd, o); err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != exitSetup {
				t.Errorf("%v, want exit code %d", err, exitSetup)
			}
			failed, ok := errors.AsType[*SetupError](box.Close(err))
			if !ok || failed.Step != s.name || len(out) > 0 {
				t.Errorf("%v and %q, want a set-up error and no output", failed, out)
			}
			b.lacks(filepath.Join(b.root, "ran"))
		})
	}
}

// TestFailsClosedForReal checks the same with steps that really fail.
func TestFailsClosedForReal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, breakIt := range map[string]func(*order){
		"workspace gone":       func(o *order) { o.Open = []string{b.root + "-gone"} },
		"guarded file gone":    func(o *order) { o.Guarded = append(o.Guarded, b.root+"/gone") },
		"no working directory": func(o *order) { o.Dir = b.root + "/gone" },
		"private /tmp gone":    func(o *order) { o.Tmp += "-gone" },
		"no such program":      func(o *order) { o.Path = "/gone" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo ran; touch ran")
			cmd.Dir = b.root
			box := &Box{cmd: cmd}
			o, err := b.order(cmd, writing, allLayers, box)
			if err != nil {
				t.Fatal(err)
			}
			breakIt(o)
			if err := box.hand(cmd, o); err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			if _, ok := errors.AsType[*SetupError](box.Close(err)); !ok || len(out) > 0 {
				t.Errorf("%v and %q, want a set-up error and no output", err, out)
			}
			b.lacks(filepath.Join(b.root, "ran"))
		})
	}
}

// TestRefusesWhatItCannotHold needs no sandbox.
func TestRefusesWhatItCannotHold(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]*Place{
		"everything":   {Workspace: []string{"/"}},
		"no workspace": {Workspace: []string{filepath.Join(t.TempDir(), "gone")}},
	} {
		_, err := place.Wrap(exec.CommandContext(t.Context(), "true"), writing)
		if _, ok := errors.AsType[*SetupError](err); !ok {
			t.Errorf("%s: %v, want a set-up error", name, err)
		}
	}
}

// TestMachineWithoutNamespaces checks that the command does not start if the machine
// refuses namespaces, and that the error has the machine's reason.
func TestMachineWithoutNamespaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "touch ran")
	cmd.Dir = b.root
	box, err := b.Wrap(cmd, Limits{Mode: umpire.SandboxWorkspaceWrite})
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr.UidMappings = append(cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.UidMappings...) // the kernel refuses them twice
	err = box.Close(cmd.Run())
	if _, ok := errors.AsType[*SetupError](err); !ok || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("%v, want a set-up error", err)
	}
	b.lacks(filepath.Join(b.root, "ran"))
}

// TestScratchIsFreeAtOnce covers a process started by another goroutine, which inherits
// the lock's file until it execs. The folder must be free regardless.
func TestScratchIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir, release, err := MakeScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob("/proc/self/fd/*") // the pattern is valid
	for _, name := range all {
		if to, _ := os.Readlink(name); to != filepath.Join(dir, scratchLock) {
			continue
		}
		number, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		started, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(started)
	}
	release()
	if SweepScratch(parent); isPresent(dir) {
		t.Error("a process that has nothing to do with it keeps the folder")
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	place := &Place{Workspace: []string{root}}
	left, used, theirs := filepath.Join(root, ".husky"), filepath.Join(root, ".vscode"), filepath.Join(root, ".claude")
	here, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	killed, err := holdPlace(here, ".husky")
	if err != nil {
		t.Fatal(err)
	}
	killed.drop()
	running, err := holdPlace(here, ".vscode")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	place.Sweep()
	if isPresent(left) || !isPresent(used) || !isPresent(theirs) {
		t.Errorf("left behind: %v, in use: %v, somebody's: %v; want only the last two", isPresent(left), isPresent(used), isPresent(theirs))
	}
	running.release()
}

// drop leaves a placeholder behind, as if its user had been killed. It unlocks explicitly, because
// a process that another test is starting may also have the folder open.
func (p *placeholder) drop() {
	_ = unix.Flock(int(p.dir.Fd()), unix.LOCK_UN)
	_ = p.dir.Close()
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".husky")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	hold := func() (*placeholder, error) { return holdPlace(root, ".husky") }
	one, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	two, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	one.release()
	if !isPlaceholder(path) {
		t.Error("it was taken away while another command needed it")
	}
	two.release()
	if isPresent(path) {
		t.Error("it is left behind")
	}
	left, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	left.drop()
	next, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	next.release()
	if isPresent(path) {
		t.Error("one that was left behind stays")
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	theirs, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	theirs.release()
	if !isPresent(path) {
		t.Error("somebody else's folder was taken away")
	}
}

// TestManySandboxesInOneFolder checks that the temporary placeholders of one sandbox do
// not disturb the others.
func TestManySandboxesInOneFolder(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := newBench(t)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for range 25 {
				cmd := exec.CommandContext(t.Context(), "true")
				cmd.Dir = b.root
				box, err := b.Wrap(cmd, writing)
				if err == nil {
					err = box.Close(cmd.Run())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
	if left, err := os.ReadDir(b.root); err != nil || len(left) != 1 {
		t.Errorf("%v, %v, want nothing but .git", left, err)
	}
}

// TestFailsClosedOnThisMachine is for machines without a sandbox, on which the other
// tests are skipped: nothing may run, and the error must have a reason.
func TestFailsClosedOnThisMachine(t *testing.T) {
	t.Parallel()
	a := Available()
	if a.Whole() {
		t.Skip("this machine gives everything")
	}
	t.Logf("this machine gives %s: %s", a.Level, a.Lacks)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo ran; touch ran")
	cmd.Dir = dir
	place := &Place{Workspace: []string{dir}}
	box, err := place.Wrap(cmd, writing)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*SetupError](box.Close(err)); !ok || len(out) > 0 || a.Lacks == "" {
		t.Errorf("%v and %q, want a set-up error with a reason and no output", err, out)
	}
	if isPresent(filepath.Join(dir, "ran")) {
		t.Error("it ran without the sandbox that was asked for")
	}
}
