package trial

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

const testCacheMax = 1 << 20

// A leaseBench is a folder of layers and a project.
type leaseBench struct {
	*testing.T
	layers, root string
	left         int
}

func isPresent(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func newLeaseBench(t *testing.T) *leaseBench {
	t.Helper()
	t.Parallel()
	b := &leaseBench{T: t, layers: t.TempDir(), root: filepath.Join(t.TempDir(), "p")}
	b.check(os.Mkdir(b.root, 0o755))
	return b
}

func (b *leaseBench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *leaseBench) open(roots ...string) *cacheLease {
	b.Helper()
	if len(roots) == 0 {
		roots = []string{b.root}
	}
	l, err := leaseCache(b.layers, cacheProject{Roots: roots, Max: testCacheMax})
	b.check(err)
	return l
}

// leave writes a file of some size like a command, closes the lease, and returns the folder.
func (b *leaseBench) leave(l *cacheLease, name string, size int) string {
	b.Helper()
	b.check(os.WriteFile(filepath.Join(l.Dir(), name), make([]byte, size), 0o600))
	l.free = 1 << 40 // ignore other programs' writes to the real file system
	l.space = func(string) (uint64, error) { return l.free - uint64(size), nil }
	b.check(l.Close())
	b.left++ // file system clocks are too coarse to show the order
	done := filepath.Join(l.path, idleFile)
	if when := time.Now().Add(time.Duration(b.left)*time.Second - time.Minute); isPresent(done) {
		b.check(os.Chtimes(done, when, when))
	}
	return l.Dir()
}

// holds reports whether the next command finds a file.
func (b *leaseBench) holds(name string, roots ...string) bool {
	b.Helper()
	l := b.open(roots...)
	defer l.Close()
	return isPresent(filepath.Join(l.Dir(), name))
}

func (b *leaseBench) sweep(now time.Time) {
	b.Helper()
	b.check(sweepCaches(b.layers, time.Hour*24, now))
}

func (b *leaseBench) count(pattern string) int {
	found, err := filepath.Glob(filepath.Join(b.layers, cachesFolder, pattern))
	b.check(err)
	return len(found)
}

func TestNextCommandFindsIt(t *testing.T) {
	b := newLeaseBench(t)
	dir := b.leave(b.open(), "f", 1)
	if !b.holds("f") {
		t.Error("the second command does not find the file of the first")
	}
	for dir := dir; dir != b.layers; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v: others can read it", dir, info, err)
		}
	}
}

func TestOtherProjectsFindNothing(t *testing.T) {
	b := newLeaseBench(t)
	b.leave(b.open(), "f", 1)
	other := filepath.Join(filepath.Dir(b.root), "other")
	b.check(os.Mkdir(other, 0o755))
	if b.holds("f", other) || b.holds("f", b.root, other) {
		t.Error("another project finds the file")
	}
	b.check(os.Rename(b.root, b.root+".old"))
	b.check(os.Mkdir(b.root, 0o755))
	if b.holds("f") {
		t.Error("a new project of the same name finds the file")
	}
}

func TestCommandsWithTheNetwork(t *testing.T) {
	b := newLeaseBench(t)
	b.leave(b.open(), "f", 1)
	l, err := leaseCache(b.layers, cacheProject{Roots: []string{b.root}, Network: true, Max: testCacheMax})
	b.check(err)
	if isPresent(filepath.Join(l.Dir(), "f")) {
		t.Error("a command with the network finds the file of one without it")
	}
	b.leave(l, "g", 1)
	if b.holds("g") {
		t.Error("a command without the network finds the file of one with it")
	}
	b.sweep(time.Now())
	if n := b.count("*"); n != 2 {
		t.Errorf("%d projects after a sweep", n)
	}
}

func TestCommandsAtATime(t *testing.T) {
	b := newLeaseBench(t)
	var all []*cacheLease
	dirs := map[string]bool{}
	for range maxCaches {
		l := b.open()
		all, dirs[l.Dir()] = append(all, l), true
	}
	if len(dirs) != maxCaches {
		t.Errorf("%d commands share %d folders", maxCaches, len(dirs))
	}
	if _, err := leaseCache(b.layers, cacheProject{Roots: []string{b.root}, Max: testCacheMax}); !errors.Is(err, errCachesBusy) {
		t.Errorf("one more: %v", err)
	}
	for _, l := range all {
		b.leave(l, "f", 1)
	}
	last := b.open()
	if last.Dir() != all[maxCaches-1].Dir() {
		t.Errorf("not the latest folder: %s", last.Dir())
	}
	b.sweep(time.Now().Add(48 * time.Hour))
	runtime.KeepAlive(last) // or its lock is let go
	if n := b.count("*/used-*"); n != 1 {
		t.Errorf("%d folders, want the one in use", n)
	}
}

func TestLimitDropsTheOldest(t *testing.T) {
	b := newLeaseBench(t)
	one, two, three := b.open(), b.open(), b.open()
	b.leave(one, "one", testCacheMax/2)
	two.bytes = 2 * testCacheMax // an estimate is not enough
	b.leave(two, "two", testCacheMax/4)
	b.leave(three, "three", testCacheMax/2)
	b.sweep(time.Now())
	for l, want := range map[*cacheLease]bool{one: false, two: true, three: true} {
		if got := isPresent(l.Dir()); got != want {
			t.Errorf("%s is there: %v", l.Dir(), got)
		}
	}
	b.leave(b.open(), "four", 2*testCacheMax)
	if b.holds("four") || b.holds("three") || b.count("*/gone-*") > 0 {
		t.Error("a folder over the limit is used again")
	}
}

// TestSweepMeasures covers a command that grows a folder without an immediate effect on the file system's free space.
func TestSweepMeasures(t *testing.T) {
	b := newLeaseBench(t)
	l := b.open()
	b.check(os.WriteFile(filepath.Join(l.Dir(), "f"), make([]byte, 2*testCacheMax), 0o600))
	b.check(l.writeState(cacheState{}))
	l.unlock()
	b.sweep(time.Now())
	if b.holds("f") {
		t.Error("a folder over the limit stays")
	}
}

func TestInterruptedCommand(t *testing.T) {
	b := newLeaseBench(t)
	b.leave(b.open(), "f", 1)
	b.open().unlock() // like the kernel when the process dies
	if b.holds("f") {
		t.Error("the next command finds what a crash has left")
	}
	b.sweep(time.Now())
	if n := b.count("*/used-*"); n != 2 {
		t.Errorf("%d folders after a sweep, want both: its processes may not have ended", n)
	}
	b.sweep(time.Now().Add(2 * cacheCrashAge))
	if n := b.count("*/used-*"); n != 1 {
		t.Errorf("%d folders after a later sweep", n)
	}
}

func TestDropCache(t *testing.T) {
	b := newLeaseBench(t)
	l := b.open()
	b.leave(l, "f", 1)
	b.check(dropCache(b.layers, ""))
	if !b.holds("f") {
		t.Fatal("no name names a folder")
	}
	b.check(dropCache(b.layers, l.Name()))
	if b.holds("f") {
		t.Error("a dropped folder is used")
	}
	b.check(dropCache(b.layers, l.Name())) // again
	used := b.open()
	b.check(dropCache(b.layers, used.Name()))
	b.leave(used, "g", 1)
	if b.holds("g") {
		t.Error("a folder that was dropped in use is used again")
	}
	b.sweep(time.Now().Add(2 * cacheCrashAge))
	if isPresent(used.Dir()) {
		t.Error("a sweep leaves a dropped folder")
	}
}

func TestCacheAfterReboot(t *testing.T) {
	b := newLeaseBench(t)
	dir := filepath.Dir(b.leave(b.open(), "f", 1))
	b.check(os.WriteFile(filepath.Join(dir, idleFile), []byte(`{"boot":"other","bytes":1}`), 0o600))
	if b.holds("f") {
		t.Error("a file from before a reboot is used")
	}
}

func TestSweepCaches(t *testing.T) {
	b := newLeaseBench(t)
	b.sweep(time.Now()) // nothing exists yet
	gone := filepath.Join(filepath.Dir(b.root), "gone")
	b.check(os.Mkdir(gone, 0o755))
	b.leave(b.open(), "f", 1)
	b.leave(b.open(gone), "f", 1)
	b.check(os.Remove(gone))
	b.sweep(time.Now())
	if n := b.count("*"); n != 1 || !b.holds("f") {
		t.Errorf("%d projects, want the one that is there", n)
	}
	b.sweep(time.Now().Add(23 * time.Hour))
	if !b.holds("f") {
		t.Error("a sweep counts as a use, or removes what is young")
	}
	b.sweep(time.Now().Add(25 * time.Hour))
	if n := b.count("*"); n != 0 {
		t.Errorf("%d projects are left", n)
	}
}

// TestRemovalMeetsUse checks that a command that waits for a folder never uses a removed one.
func TestRemovalMeetsUse(t *testing.T) {
	b := newLeaseBench(t)
	path := filepath.Dir(b.leave(b.open(), "f", 1))
	f, err := lockCache(path)
	b.check(err)
	file, err := os.Open(filepath.Join(path, cacheLockFile))
	b.check(err)
	defer file.Close()
	b.check(f.remove())
	f.unlock()
	if _, err := lockCache(path); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	if b.holds("f") {
		t.Error("the file is still there")
	}
}

func TestNoCacheLease(t *testing.T) {
	t.Parallel()
	var l *cacheLease
	if l.Dir() != "" || l.Close() != nil {
		t.Error("a missing lease has a folder")
	}
}
