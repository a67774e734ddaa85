package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/sandbox"
)

func TestRunResult(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var out, errs bytes.Buffer
	b.spec.Stdout, b.spec.Stderr, b.spec.MaxOutput = &out, &errs, 4
	result, err := b.run("echo one; cat; sleep 0.1; echo two >&2; exit 7")
	if err != nil || result.Exit != 7 || string(result.Output) != "one\n" || result.Dropped != 4 {
		t.Errorf("%v, %+v", err, result)
	}
	if out.String() != "one\n" || errs.String() != "two\n" {
		t.Errorf("stdout %q, stderr %q", &out, &errs)
	}
	if result, err = b.run("kill -TERM $$"); err != nil || result.Exit != 128+15 {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestRunInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := filepath.Join(b.base, "input")
	if err := os.WriteFile(path, []byte("given"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b.spec.Stdin = f
	if result := b.try("cat"); string(result.Output) != "given" {
		t.Errorf("it read %q", result.Output)
	}
}

// TestRunEndsWithTheContext: nothing of it is left, and no layer.
func TestRunEndsWithTheContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.spec.Args, b.spec.Grace = []string{"sh", "-c", "trap '' TERM; echo started; sleep 60 & sleep 60; sleep 60"}, time.Millisecond
	b.spec.Stdout = writerFunc(func([]byte) { cancel(cause) })
	began := time.Now()
	result, err := Run(ctx, b.spec)
	if !errors.Is(err, cause) || result != nil || time.Since(began) > 20*time.Second {
		t.Errorf("%+v, %v", result, err)
	}
	b.noLayers()
	if result, err := Run(ctx, b.spec); !errors.Is(err, cause) || result != nil {
		t.Errorf("%+v, %v", result, err)
	}
	b.noLayers()
}

// noLayers wants no layer left but that of the first run of each bench.
func (b *bench) noLayers() {
	b.Helper()
	if left, _ := filepath.Glob(b.state + "/*"); len(left) > 1 {
		b.Errorf("left: %q", left)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestRunPassesSignals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	signals := make(chan os.Signal, 1)
	b.spec.Signals = signals
	b.spec.Stdout = writerFunc(func(p []byte) {
		if bytes.Contains(p, []byte("ready")) {
			signals <- syscall.SIGINT
		}
	})
	if result := b.try("trap 'echo caught >f; exit 0' INT; echo ready; while :; do sleep 0.05; done"); b.listing(&result.Effects) != "created f\n" {
		t.Errorf("%+v", result)
	}
}

// TestRunEndsTheBackground: what is left running neither lives on nor writes to the layer.
func TestRunEndsTheBackground(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try("(setsid sh -c 'while :; do date >>late; sleep 0.01; done' >/dev/null 2>&1 &) ; until test -e late; do sleep 0.01; done; echo done")
	time.Sleep(50 * time.Millisecond)
	again, err := Read(t.Context(), result.Layer, Limits{})
	if err != nil || again.Digest != result.Effects.Digest || b.listing(&again) != "created late\n" {
		t.Errorf("%v, %s", err, b.listing(&again))
	}
}

// TestRunSees nothing of the machine's that the sandbox hides, and no other trial.
func TestRunSees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir -p ../h/.umpire/state ../h/.ssh && echo key >../h/.ssh/id_rsa && echo TOKEN=x >.env && echo x >../o/file")
	b.bare("ln -s ../o out && echo real >/dev/null")
	result := b.try("cat ~/.ssh/id_rsa .env; ls ~/.umpire/state; echo x >out/file || echo refused; echo x >../o/new || echo refused")
	if text := string(result.Output); strings.Contains(text, "key") || strings.Contains(text, "TOKEN") || strings.Count(text, "refused") != 2 {
		t.Errorf("it saw %s", text)
	}
	if got := b.listing(&result.Effects); got != "" {
		t.Errorf("effects %s", got)
	}
	want := []Attempt{
		{Kind: AttemptWrite, Target: filepath.Join(b.root, "out/file")}, {Kind: AttemptWrite, Target: filepath.Join(b.base, "o/new")},
	}
	if diff := cmp.Diff(want, result.Effects.Refused); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := b.bare("cat ../o/*"); got != "x\n" {
		t.Errorf("outside lies %q", got)
	}
}

func TestRunNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try(`perl -MIO::Socket::INET -e 'for my $to (qw(203.0.113.7:5432 203.0.113.7:5432 127.0.0.1:9)) {
		IO::Socket::INET->new(PeerAddr => $to, Timeout => 2) and die }'`)
	want := []Attempt{{Kind: AttemptNetwork, Target: "203.0.113.7:5432"}}
	if diff := cmp.Diff(want, result.Effects.Refused); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRunInMemory: where the state folder cannot carry a layer a tmpfs does.
func TestRunInMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var memory unix.Statfs_t
	if unix.Statfs(memoryFolder, &memory) != nil || memory.Type != unix.TMPFS_MAGIC {
		t.Skip("no tmpfs on this machine")
	}
	b.spec.State = "/proc/sys" // nothing can be made there
	b.bare("mkdir d && echo x >d/f && echo y >d/g")
	result := b.try("rm -r d && mkdir d && echo z >d/f")
	if got := b.listing(&result.Effects); got != "changed d/f\ndeleted d/g\n" || !strings.HasPrefix(result.Layer.Dir, memoryFolder) {
		t.Errorf("%s in %s", got, result.Layer.Dir)
	}
}

// TestRunLimits: a command that writes without end is ended, and what it did is not whole.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.spec.MaxLayer, b.spec.Grace = 1<<20, time.Millisecond
	result, err := b.run("while :; do head -c 1000000 /dev/urandom >>f; sleep 0.01; done")
	if err != nil || result.Effects.Whole() || !strings.Contains(result.Effects.Limit, "bytes were written") {
		t.Errorf("%v, %+v", err, result)
	}
	b.spec.MaxLayer = 0
	for _, test := range []struct {
		limits Limits
		want   string
	}{
		{Limits{Entries: 3}, "more than 3 files"},
		{Limits{Bytes: 3}, "more than 3 bytes"},
		{Limits{Depth: 2}, "more than 2 folders"},
	} {
		b.spec.Limits = test.limits
		result := b.try("mkdir -p a/b/c/d && echo text >a/x && cp a/x a/y && echo y >a/b/c/d/z")
		if !strings.Contains(result.Effects.Limit, test.want) || result.Effects.Whole() {
			t.Errorf("%+v: %q, want %q", test.limits, result.Effects.Limit, test.want)
		}
	}
}

// TestRunOnAFullDisk: a command that had no space did something else than it would have.
func TestRunOnAFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := unix.Mount("tmpfs", b.state, "tmpfs", 0, "size=6m"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.state, unix.MNT_DETACH) })
	result, err := b.run("head -c 10000000 /dev/zero >f || echo failed")
	if err != nil || !strings.HasPrefix(result.Layer.Dir, b.state) || !strings.Contains(result.Effects.Limit, "no space left") {
		t.Errorf("%v, %+v", err, result)
	}
	if err := result.Layer.remove(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.state, "much"), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if result := b.try("echo x >f"); !strings.HasPrefix(result.Layer.Dir, memoryFolder) || !result.Effects.Whole() {
		t.Errorf("%+v", result)
	}
}

// TestRunOverSeveralRoots: a worktree's git folder lies elsewhere.
func TestRunOverSeveralRoots(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("git init -q -b main ../g && cd ../g && " +
		"git commit -q --allow-empty -m x && git worktree add -q ../w && cd ../w && mkdir sub && git init -q -b main sub")
	main, linked := filepath.Join(b.base, "g"), filepath.Join(b.base, "w")
	b.spec.Dir = linked
	b.spec.Place = &sandbox.Place{
		Workspace: []string{linked, filepath.Join(linked, "sub"), filepath.Join(main, ".git")},
		Home:      b.spec.Place.Home, State: b.spec.Place.State,
	}
	before := []map[string]string{snapshot(t, main), snapshot(t, linked)}
	result := b.try("echo x >f && git add f && git commit -qm one && git log --oneline | wc -l && cd sub && git commit -q --allow-empty -m x")
	if len(result.Layer.Roots) != 2 || string(result.Output) != "2\n" {
		t.Errorf("%+v", result)
	}
	var paths []string
	for i := range result.Effects.List {
		paths = append(paths, result.Effects.List[i].Path)
	}
	for _, want := range []string{main + "/.git/refs/heads/w", linked + "/f", linked + "/sub/.git/refs/heads/main"} {
		if !strings.Contains(strings.Join(paths, "\n")+"\n", want+"\n") {
			t.Errorf("no effect on %s in %q", want, paths)
		}
	}
	after := []map[string]string{snapshot(t, main), snapshot(t, linked)}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRunRefusals: a command that cannot be tried does not start, and leaves no layer.
func TestRunRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	link := filepath.Join(b.base, "link")
	if err := os.Symlink(b.root, link); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"no command":     {func(s *Spec) { s.Args = nil }, "no command"},
		"an unknown one": {func(s *Spec) { s.Args = []string{"no-such-program"} }, "not found"},
		"no folder":      {func(s *Spec) { s.Place.Workspace = nil }, "no folder"},
		"a missing one":  {func(s *Spec) { s.Place.Workspace = []string{"/no/such"} }, "no such file"},
		"the whole root": {func(s *Spec) { s.Place.Workspace = []string{"/"} }, "cannot be covered"},
		"a missing Dir":  {func(s *Spec) { s.Dir = "/no/such" }, "working directory"},
	} {
		spec := b.spec
		spec.Args = []string{"sh", "-c", "echo started"}
		spec.Place = &sandbox.Place{Workspace: b.spec.Place.Workspace, Home: b.spec.Place.Home}
		var out bytes.Buffer
		spec.Stdout = &out
		test.change(&spec)
		if result, err := Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
			t.Errorf("%s: %+v, %v, %q", name, result, err, &out)
		}
	}
	b.noLayers()
	b.spec.Place.Workspace = []string{link} // by a link it is the folder that this leads to
	if result := b.try("echo x >f"); b.listing(&result.Effects) != "created f\n" {
		t.Errorf("%+v", result)
	}
}

// TestReadRefusesAnotherFolder: effects are of the folder that was covered.
func TestReadRefusesAnotherFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result := b.try("echo x >f")
	b.bare("mv ../p ../was && mkdir ../p")
	if e, err := Read(t.Context(), result.Layer, Limits{}); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("%+v, %v", e, err)
	}
	b.bare("rmdir ../p && ln -s was ../p")
	if e, err := Read(t.Context(), result.Layer, Limits{}); err == nil {
		t.Errorf("%+v, %v, want it not to follow a link", e, err)
	}
}

// TestRunOnMounts: a project may be a mount, and none may lie in it.
func TestRunOnMounts(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	b := newBench(t)
	if err := unix.Mount("tmpfs", b.root, "tmpfs", 0, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.root, unix.MNT_DETACH) })
	b.bare("echo x >f && mkdir sub")
	b.spec.Dir = "/"
	if result := b.try("cd " + b.root + " && rm f && echo y >g"); b.listing(&result.Effects) != "deleted f\ncreated g\n" {
		t.Errorf("%+v", result)
	}
	sub := filepath.Join(b.root, "sub")
	if err := unix.Mount("tmpfs", sub, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(sub, unix.MNT_DETACH) })
	if result, err := b.run("echo x >f"); !errors.Is(err, ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "mounted") {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRunMovesFolders: programs that rename a folder by themselves do so, as they do in earnest.
func TestRunMovesFolders(t *testing.T) {
	t.Parallel()
	for program, line := range map[string]string{
		"git":    "git mv a z",
		"python": "python3 -c 'import os; os.rename(\"a\", \"z\")'",
		"node":   "node -e 'fs.renameSync(\"a\", \"z\")'",
		"perl":   "perl -e 'rename \"a\", \"z\" or die $!'",
		"mv":     "mv -T a z",
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
				t.Skip(err)
			}
			b := newBench(t)
			b.bare("git init -q && mkdir -p a/b && echo x >a/b/f && echo y >a/g && git add .")
			result := b.try(line + " && cat z/b/f && ! test -e a")
			got := b.listing(&result.Effects)
			got = regexp.MustCompile(`(?m)^.* \.git/.*\n`).ReplaceAllString(got, "")
			want := "deleted a\ndeleted a/b\ncreated z\ncreated z/b\nmoved z/b/f from a/b/f\nmoved z/g from a/g\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRunInTmp: a project may lie where the sandbox puts a folder of its own.
func TestRunInTmp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := filepath.Join(t.TempDir(), "a b:c,d\\e")
	if err := os.MkdirAll(filepath.Join(root, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.root, b.spec.Dir, b.spec.Place.Workspace = root, root, []string{root}
	b.bare("echo x >d/f")
	result := b.try("pwd && rm d/f && echo y >g && echo z >/tmp/z && ls /tmp")
	if got := b.listing(&result.Effects); got != "deleted d/f\ncreated g\n" || !strings.HasPrefix(string(result.Output), root+"\n") {
		t.Errorf("%s%s", got, result.Output)
	}
}

// TestRunForeignGroup: the layer of an ordinary user cannot take files of a second group. The
// command would have written one, so what it did instead is not what it would have done.
func TestRunForeignGroup(t *testing.T) {
	t.Parallel()
	if groups, _ := os.Getgroups(); os.Geteuid() == 0 || !slices.Contains(groups, secondGroup) {
		t.Skip("this user has no second group")
	}
	b := newBench(t)
	b.bare("mkdir d && echo x >d/f && echo x >g && chmod 664 d/f && chgrp " + fmt.Sprint(secondGroup) + " d/f")
	result, err := b.run("echo y >d/f")
	if err != nil || result.Exit == 0 || b.listing(&result.Effects) != "! owner d/f\n" {
		t.Errorf("%v, %+v", err, result)
	}
}

// TestSweepLayers deletes layers that nobody knows of any more, and no other.
func TestSweepLayers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dead, held, young := b.try("mkdir d && touch d/f && chmod 0 d"), b.try("true"), b.try("true")
	running, release, err := (&store{dir: b.state}).makeLayer(held.Layer.Roots)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	other := filepath.Join(b.state, "other")
	old := time.Now().Add(-2 * sweepAge)
	for _, err := range []error{
		os.Mkdir(other, 0o700), os.Chtimes(dead.Layer.Dir, old, old), os.Chtimes(held.Layer.Dir, old, old),
		os.Chtimes(running.Dir, old, old), os.Chtimes(other, old, old),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	isHeld := func(id string) bool { return id == filepath.Base(held.Layer.Dir) }
	if err := sweepFolder(b.state, isHeld, time.Now()); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{held.Layer.Dir, young.Layer.Dir, running.Dir, other} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s was deleted", dir)
		}
	}
	if _, err := os.Stat(dead.Layer.Dir); err == nil {
		t.Errorf("%s is still there", dead.Layer.Dir)
	}
	if err := sweepFolder(filepath.Join(b.state, "none"), isHeld, time.Now()); err != nil {
		t.Error(err)
	}
}
