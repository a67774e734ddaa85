package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// TestRunInMemory checks that a tmpfs is used if the state folder does not support layers.
func TestRunInMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var memory unix.Statfs_t
	if unix.Statfs(memoryFolder, &memory) != nil || memory.Type != unix.TMPFS_MAGIC {
		t.Skip("no tmpfs on this machine")
	}
	b.spec.State = "/proc/sys" // read-only
	b.bare("mkdir d && echo x >d/f && echo y >d/g")
	result := b.try("rm -r d && mkdir d && echo z >d/f")
	if got := b.listing(&result.Effects); got != "changed d/f\ndeleted d/g\n" || !strings.HasPrefix(result.Layer.Dir, memoryFolder) {
		t.Errorf("%s in %s", got, result.Layer.Dir)
	}
	if !slices.Equal(result.Effects.Stale, b.spec.Place.Workspace) { // without a registry, a keep needs a review
		t.Errorf("stale are %q", result.Effects.Stale)
	}
}

// TestRunOnAFullDisk covers a command that ran out of space, so its effects are not those of a real run.
func TestRunOnAFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := unix.Mount("tmpfs", b.state, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("no tmpfs can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.state, unix.MNT_DETACH) })
	result, err := b.run("head -c 10000000 /dev/zero >f || echo failed")
	if err != nil || !strings.HasPrefix(result.Layer.Dir, b.state) || !strings.Contains(result.Effects.Limit, "no space left") {
		t.Errorf("%v, %+v", err, result)
	}
	if err := result.Layer.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.state, "much"), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if result := b.try("echo x >f"); !strings.HasPrefix(result.Layer.Dir, memoryFolder) || !result.Effects.Whole() {
		t.Errorf("%+v", result)
	}
}

// TestRunOverSeveralRoots covers a worktree whose git folder is elsewhere.
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

// TestRunOnMounts checks that a project may be a mount but must not contain one.
func TestRunOnMounts(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	b := newBench(t)
	if err := unix.Mount("tmpfs", b.root, "tmpfs", 0, ""); err != nil {
		t.Skipf("no tmpfs can be mounted: %v", err)
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

// TestRunInTmp checks that a project may be where the sandbox mounts its own folder.
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

// TestRunForeignGroup covers an ordinary user's layer, which cannot copy up files of a second
// group. The command wanted to write one, so its effects are not those of a real run.
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

// TestSweepLayers checks that only abandoned layers are deleted.
func TestSweepLayers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dead, held, young := b.try("mkdir d && touch d/f && chmod 0 d"), b.try("true"), b.try("true")
	running, release, err := (&store{dir: b.state}).makeLayer(held.Layer.Roots)
	if err != nil {
		t.Fatal(err)
	}
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
	release()
	if err := sweepFolder(b.state, isHeld, time.Now()); err != nil || !files.Exists(running.Dir, stampFile) {
		t.Errorf("%v: a command that took long is swept before anybody could say that it is held", err)
	}
	if err := sweepFolder(filepath.Join(b.state, "none"), isHeld, time.Now()); err != nil {
		t.Error(err)
	}
}
