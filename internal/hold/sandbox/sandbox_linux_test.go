package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

func TestWorkspaceWriteLetsWorkBeDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.works(writing, "echo one >file && mkdir -p a/b && mv file a/b/ && ln a/b/file linked && ln -s a link && rm link")
	b.works(writing, "git add . && git commit -q -m first && git checkout -q -b next && git merge -q main && git status --porcelain")
	b.works(writing, "echo kept >/tmp/kept && mkfifo pipe && ! test -e /tmp/.umpire-test")
	if out := b.works(writing, "cat /tmp/kept && echo $TMPDIR"); out != "kept\n/tmp\n" {
		t.Errorf("the next command sees %q in /tmp", out)
	}
	b.has(filepath.Join(b.root, "a/b/file"), "one\n")
	b.lacks("/tmp/kept")
	if log := b.bare("git log --oneline --all | wc -l"); strings.TrimSpace(log) != "1" {
		t.Errorf("%s commits", log)
	}
}

// Arguments and names are bytes, and need not be UTF-8.
func TestCommandsAreNotTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if out := b.works(writing, "printf %s 'a\xffb' && mkdir 'n\xff' && ls"); out != "a\xffbn\xff\n" {
		t.Errorf("it came to %q", out)
	}
	inner := &Place{Workspace: []string{filepath.Join(b.root, "n\xff")}}
	(&bench{Place: inner, t: t, root: inner.Workspace[0]}).works(writing, "echo x >file")
	b.has(filepath.Join(b.root, "n\xff/file"), "x\n")
}

func TestWorkspaceWriteChangesNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fails(writing, "echo x >"+b.outside+"/x", "Read-only file system")
	b.fails(writing, "touch ~/.bashrc", "Read-only file system")
	b.fails(writing, "git config core.pager evil", "")
	b.fails(writing, "echo x >.git/hooks/post-commit", "Read-only file system")
	b.fails(writing, "mkdir .husky", "File exists")
	b.fails(writing, "mv .git git", "Device or resource busy")
	b.bare("git status") // the repository still works
	if left := b.bare("ls -A"); left != ".git\n" {
		t.Errorf("the workspace holds %q", left)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fails(Limits{}, "echo x >x", "Read-only file system") // the zero value
	b.fails(Limits{Mode: umpire.SandboxReadOnly}, "echo x >x", "Read-only file system")
	b.works(Limits{}, "git status && echo x >/tmp/x && cat /tmp/x >/dev/null")
}

func TestFullAccessIsNoSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.works(Limits{Mode: umpire.SandboxFullAccess}, "echo x >"+b.outside+"/x")
	b.has(filepath.Join(b.outside, "x"), "x\n")
}

// Paths that a person allowed by name are writable, and nothing next to them.
func TestOpened(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir ../o/sub")
	limits := Limits{Mode: umpire.SandboxWorkspaceWrite, Open: []string{filepath.Join(b.outside, "sub/new"), filepath.Join(b.root, ".git/config")}}
	b.works(limits, "echo x >"+b.outside+"/sub/new && git config core.pager less")
	b.fails(limits, "echo x >"+b.outside+"/x", "Read-only file system")
	b.fails(limits, "echo x >.git/hooks/post-commit", "Read-only file system")
}

// Caches are readable, and writes to them are deleted with the session.
func TestCachesAreLayered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cache := filepath.Join(b.Home, ".cache")
	b.bare("mkdir ../h/.cache && echo old >../h/.cache/entry")
	b.Cache = []Cache{{Folder: cache}, {Folder: filepath.Join(b.Home, "not-there")}, {Folder: filepath.Join(b.Home, "go/pkg"), Make: true}}
	if out, err := b.run(writing, "echo new >~/.cache/entry"); err != nil {
		t.Skipf("layers are not to be had here: %s", out)
	}
	if out := b.works(writing, "cat ~/.cache/entry"); out != "new\n" {
		t.Errorf("the next command reads %q from the cache", out)
	}
	b.has(filepath.Join(cache, "entry"), "old\n")

	// A missing cache is created if it is wanted, and stays empty.
	b.works(writing, "mkdir -p ~/go/pkg/mod && echo new >~/go/pkg/mod/entry")
	if out := b.bare("find ../h/go; ls -d ../h/not-there || true"); !strings.HasPrefix(out, "../h/go\n../h/go/pkg\nls: ") {
		t.Errorf("the home holds %q", out)
	}
	b.fails(writing, "mkdir ~/not-there", "Read-only file system")

	// The layer over the home only shows its caches, and so does that of a cache elsewhere.
	b.fails(writing, "touch ~/go/bin", "Read-only file system")
	b.fails(writing, "touch ~/new", "Read-only file system")
	b.Cache = append(b.Cache, Cache{Folder: filepath.Join(b.outside, "cache"), Make: true})
	b.works(writing, "echo x >../o/cache/entry && rm ~/.cache/entry && ! test -e ~/.cache/entry")
	b.lacks(filepath.Join(b.outside, "cache/entry"))
	b.has(filepath.Join(cache, "entry"), "old\n")
}

// TestForget matters for ordinary users; root can delete everything.
func TestForget(t *testing.T) {
	t.Parallel()
	place := &Place{Scratch: filepath.Join(plainDir(t), "s")}
	module := filepath.Join(place.Scratch, "cache/mod/m@v1")
	for _, dir := range []string{module, filepath.Join(place.Scratch, "work/work")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := os.WriteFile(filepath.Join(module, "file"), nil, 0o444)
	for dir, mode := range map[string]os.FileMode{module: 0o555, filepath.Dir(module): 0o555, filepath.Join(place.Scratch, "work/work"): 0} {
		if err == nil {
			err = os.Chmod(dir, mode)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Forget(); err != nil || isPresent(place.Scratch) {
		t.Errorf("%v, want it to be gone", err)
	}
	if err := place.Forget(); err != nil {
		t.Errorf("forgotten twice: %v", err)
	}
}

func TestSocketsAndStateAreHidden(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listen("../h/agent.sock")
	b.bare("echo secret >../h/.umpire/state/credential; echo rules >../h/.umpire/permissions.json")
	b.bare("mkdir ../h/.umpire/keys; echo secret >../h/.umpire/keys/timeline.key")
	b.works(writing, "! test -S ~/agent.sock && test -z \"$(ls -A ~/.umpire/state ~/.umpire/keys | grep -v :)\" && cat ~/.umpire/permissions.json && test -z \"$(ls -A /run)\"")
}

// A home and a project in /tmp are visible in the sandbox, which has its own /tmp. Hidden
// paths in them are not.
func TestSocketsAndStateInTmpAreHidden(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "u") //nolint:usetesting // t.TempDir may be elsewhere
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := newBenchIn(t, dir)
	b.listen("../h/agent.sock")
	b.listen("own.sock")
	state := filepath.Join(b.State, "state")
	b.bare("echo secret >../h/.umpire/state/credential; echo output >../h/.umpire/state/output; echo x >../h/seen")
	limits := writing
	limits.Seen = []string{filepath.Join(state, "output")}
	b.works(limits, "test -f ~/seen && ! test -S ~/agent.sock && ! test -S own.sock && test \"$(ls ~/.umpire/state)\" = output && cat ~/.umpire/state/output && echo y >new")
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for line, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "exit 125": 125} {
		_, err := b.run(writing, line)
		exited, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exited.ExitCode() != want {
			t.Errorf("%s: %v, want exit code %d", line, err, want)
		}
	}
}

// The command's remaining processes end with it, and everything ends with the helper.
func TestEverythingEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	started := func(line string) (*exec.Cmd, *Box, *os.File) {
		t.Helper()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Stdout = b.root, write
		box, err := b.Wrap(cmd, writing)
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		write.Close()
		return cmd, box, read
	}
	read := func(f *os.File) string { // until every holder of the other end has ended
		var all []byte
		for buf := make([]byte, 100); ; {
			n, err := f.Read(buf)
			if all = append(all, buf[:n]...); err != nil {
				return string(all)
			}
		}
	}

	cmd, box, out := started("setsid sleep 1000 & echo done")
	if text := read(out); text != "done\n" {
		t.Errorf("read %q", text)
	}
	if err := box.Close(cmd.Wait()); err != nil {
		t.Error(err)
	}

	cmd, box, out = started("setsid sleep 1000 & echo up; wait")
	buf := make([]byte, 3)
	if _, err := out.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	read(out)
	if err := box.Close(cmd.Wait()); err == nil {
		t.Error("a killed command ended well")
	}

	cmd, box, out = started("trap 'echo asked; exit 3' TERM; echo up; while :; do sleep 0.01; done")
	if _, err := out.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if text := read(out); text != "asked\n" {
		t.Errorf("read %q after SIGTERM", text)
	}
	if err := box.Close(cmd.Wait()); err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
}

// An unguarded file could make git use other settings.
func TestGitIsNotLedElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, notes, err := b.noted(writing, "mkdir evil && echo ../evil >.git/commondir")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], ".git/commondir") {
		t.Errorf("%q, %v, want a note", notes, err)
	}
	b.lacks(filepath.Join(b.root, ".git/commondir"))

	b.bare("mkdir real && rm -r .git/hooks && ln -s ../real .git/hooks")
	b.fails(writing, "echo x >.git/hooks/pre-commit", "Read-only file system")
	b.works(writing, "rm .git/hooks && mkdir .git/hooks && echo x >.git/hooks/pre-commit")
	if to, err := os.Readlink(filepath.Join(b.root, ".git/hooks")); err != nil || to != "../real" {
		t.Errorf("hooks lead to %q, %v", to, err)
	}
}

func TestGuardsInnerRepositories(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("git init -q sub/lib && git init -q --bare store.git && git config core.hooksPath .hooks && mkdir .hooks")
	for _, file := range []string{"sub/lib/.git/hooks/x", "sub/lib/.git/config", ".hooks/pre-commit"} {
		b.fails(writing, "echo x >"+file, "Read-only file system")
	}
	b.works(writing, "echo x >sub/lib/file")
}

func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	needFull(t)
	asNobody(t, "^(TestWorkspaceWrite.*|TestReadOnly.*|TestOpened|TestCachesAreLayered|TestForget|TestNetwork|TestLoopback|TestExitCodes|TestEverythingEnds|TestSockets.*)$")
}

// TestOtherProcess covers a container in which a process of the sandbox has the id of the
// process outside, which is another process.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	tried := onOther(func(int) error { return nil })
	_, started, _ := process.Stat(os.Getpid())
	if err := tried(&testBed{Process: os.Getpid(), Started: started}); err != nil {
		t.Errorf("the process outside is there, and it is said: %v", err)
	}
	if err := tried(&testBed{Process: os.Getpid(), Started: "1"}); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a process of the sandbox is taken for the one outside: %v", err)
	}
}
