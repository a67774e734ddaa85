package trial

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Keeping restores what the command saw, and an undo restores the project, including
// bytes, modes, times and links.
func TestKeepAndUndo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, change func(testing.TB, string) }{
		"one file": {nil, func(tb testing.TB, dir string) {
			must(tb, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("new"), 0o600))
		}},
		"a new tree": {nil, func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "x/y/z"), "deep")
			put(tb, filepath.Join(dir, "x/k"), "k")
			must(tb, os.Mkdir(filepath.Join(dir, "x/empty"), 0o750))
			must(tb, os.Symlink("../k", filepath.Join(dir, "x/y/link")))
		}},
		"a deleted tree": {nil, func(tb testing.TB, dir string) { must(tb, os.RemoveAll(filepath.Join(dir, "src"))) }},
		"a tree made anew": {nil, func(tb testing.TB, dir string) {
			must(tb, os.RemoveAll(filepath.Join(dir, "src")))
			put(tb, filepath.Join(dir, "src/main.go"), "other")
			put(tb, filepath.Join(dir, "src/new.go"), "new")
		}},
		"file to folder": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Remove(filepath.Join(dir, "a.txt")))
			put(tb, filepath.Join(dir, "a.txt/in"), "in")
		}},
		"folder to file": {nil, func(tb testing.TB, dir string) {
			must(tb, os.RemoveAll(filepath.Join(dir, "src")))
			put(tb, filepath.Join(dir, "src"), "file")
		}},
		"folder to link": {nil, func(tb testing.TB, dir string) {
			must(tb, os.RemoveAll(filepath.Join(dir, "src")))
			must(tb, os.Symlink("a.txt", filepath.Join(dir, "src")))
		}},
		"link to folder": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Remove(filepath.Join(dir, "link")))
			put(tb, filepath.Join(dir, "link/in/it"), "in")
		}},
		"link changed": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Remove(filepath.Join(dir, "link")))
			must(tb, os.Symlink("src", filepath.Join(dir, "link")))
		}},
		"moves": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Rename(filepath.Join(dir, "a.txt"), filepath.Join(dir, "moved.txt")))
			must(tb, os.Rename(filepath.Join(dir, "src/main.go"), filepath.Join(dir, "src/pkg/main.go")))
		}},
		"attributes": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Chmod(filepath.Join(dir, "a.txt"), 0o755))
			must(tb, os.Chmod(filepath.Join(dir, "src"), 0o700))
			must(tb, os.Chown(filepath.Join(dir, "src/main.go"), 7, 8))
			must(tb, os.Chtimes(filepath.Join(dir, "src/pkg"), time.Unix(5, 0), time.Unix(6, 7)))
		}},
		"a folder that is closed": {nil, func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "src/pkg/new"), "new")
			must(tb, os.Chmod(filepath.Join(dir, "src/pkg"), 0o500))
		}},
		"hard links": {func(tb testing.TB, dir string) {
			must(tb, os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")))
		}, func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "one"), "one")
			must(tb, os.Link(filepath.Join(dir, "one"), filepath.Join(dir, "two")))
			must(tb, os.Remove(filepath.Join(dir, "b.txt")))
		}},
		"sparse": {nil, func(tb testing.TB, dir string) {
			f, err := os.Create(filepath.Join(dir, "sparse"))
			must(tb, err)
			_, err = f.WriteAt([]byte("end"), 1<<30)
			must(tb, errors.Join(err, f.Close()))
		}},
		"names that are not UTF-8": {func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "old\xff"), "old")
		}, func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "100%\xfe\nx/\x01"), "new")
			must(tb, os.Symlink("old\xff%41", filepath.Join(dir, "l\xfd")))
			must(tb, os.Remove(filepath.Join(dir, "old\xff")))
		}},
		"extended attributes of what goes": {func(tb testing.TB, dir string) {
			must(tb, unix.Setxattr(filepath.Join(dir, "src"), "user.x", []byte("y"), 0))
		}, func(tb testing.TB, dir string) { must(tb, os.RemoveAll(filepath.Join(dir, "src"))) }},
		"times of the root": {nil, func(tb testing.TB, dir string) {
			must(tb, os.Chtimes(dir, time.Unix(5, 0), time.Unix(6, 7)))
		}},
	} {
		for _, apart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s apart %v", name, apart), func(t *testing.T) {
				t.Parallel()
				if apart && name == "hard links" {
					t.Skip("a copy is a file of its own")
				}
				l := newLab(t)
				if apart {
					l.state = tmpfs(t, "64m")
				}
				fill(t, l)
				if c.before != nil {
					c.before(t, l.project)
				}
				before := describeTree(t, l.project)
				layer, effects, seen := l.try(t, func(dir string) { c.change(t, dir) })
				wantTree(t, "trial", describeTree(t, l.project), before)
				kept := l.mustKeep(t, layer, &effects)
				wantTree(t, "keep", describeTree(t, l.project), seen)
				noOverlayNames(t, l.project)
				if _, err := os.Lstat(layer.Dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the layer is still there: %v", err)
				}
				undone := l.mustUndo(t)
				wantTree(t, "undo", describeTree(t, l.project), before)
				l.mustUndoID(t, undone.ID)
				wantTree(t, "redo", describeTree(t, l.project), seen)
				l.mustUndo(t)
				wantTree(t, "undo again", describeTree(t, l.project), before)
				if kept.ID == "" || undone.Undoes != kept.ID {
					t.Errorf("%s undoes %s, want %s", undone.ID, undone.Undoes, kept.ID)
				}
			})
		}
	}
}

// tmpfs mounts another file system.
func tmpfs(tb testing.TB, size string) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	must(tb, err)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		tb.Skipf("no tmpfs: %v", err)
	}
	tb.Cleanup(func() { unmount(tb, dir) })
	return dir
}

func fill(tb testing.TB, l *lab) {
	tb.Helper()
	l.write(tb, "a.txt", "one\ntwo\nthree\n")
	l.write(tb, "src/main.go", "package main\n")
	l.write(tb, "src/pkg/p.go", "package pkg\n")
	must(tb, os.Symlink("a.txt", l.path("link")))
}

// noOverlayNames checks that the overlay's attributes are not kept.
func noOverlayNames(tb testing.TB, dir string) {
	tb.Helper()
	for name := range describeTree(tb, dir) {
		list := make([]byte, 1<<12)
		n, err := unix.Llistxattr(filepath.Join(dir, name), list)
		must(tb, err)
		if strings.Contains(string(list[:n]), "overlay") {
			tb.Errorf("%s has %q", name, list[:n])
		}
	}
}

// For random operations, the kept tree equals the seen one, or the trial reported a
// difference and nothing is kept.
func TestKeepRandom(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	faithful := 0
	for seed := range rounds {
		l := newLab(t)
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		for range 30 {
			randomChange(r, l.project, false)
		}
		before := describeTree(t, l.project)
		layer, effects, seen := l.try(t, func(dir string) {
			for range 1 + r.IntN(20) {
				randomChange(r, dir, true)
			}
		})
		if !effects.Whole() {
			if _, err := l.keep(t, layer, &effects); !errors.Is(err, ErrNotWhole) {
				t.Errorf("seed %d: kept what differs: %v", seed, err)
			}
			wantTree(t, fmt.Sprint("seed ", seed), describeTree(t, l.project), before)
			must(t, layer.Discard())
			continue
		}
		faithful++
		kept := l.mustKeep(t, layer, &effects)
		wantTree(t, fmt.Sprint("keep of seed ", seed), describeTree(t, l.project), seen)
		if kept.ID != "" {
			l.mustUndo(t)
		}
		wantTree(t, fmt.Sprint("undo of seed ", seed), describeTree(t, l.project), before)
		if t.Failed() {
			break
		}
	}
	if faithful*2 < rounds {
		t.Errorf("only %d of %d were faithful", faithful, rounds)
	}
}

// randomChange makes a random change in a tree, if possible.
func randomChange(r *rand.Rand, dir string, links bool) {
	name := func() string {
		parts := []string{}
		for range 1 + r.IntN(3) {
			parts = append(parts, string(rune('a'+r.IntN(4))))
		}
		return filepath.Join(dir, filepath.Join(parts...))
	}
	path := name()
	switch r.IntN(11) {
	case 0, 1, 2:
		_ = os.WriteFile(path, []byte(strings.Repeat("x\n", r.IntN(100))), 0o644)
	case 3:
		_ = os.MkdirAll(path, 0o755)
	case 4:
		_ = os.Remove(path)
	case 5:
		if r.IntN(3) == 0 {
			_ = os.RemoveAll(path)
		}
	case 6:
		_ = os.Rename(path, name())
	case 7:
		_ = os.Chmod(path, os.FileMode(0o700+r.IntN(0o100)))
	case 8:
		_ = os.Symlink(string(rune('a'+r.IntN(4))), path)
	case 9:
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = f.WriteString("more\n")
			_ = f.Close()
		}
	case 10:
		if links {
			_ = os.Link(path, name())
		}
	}
}
