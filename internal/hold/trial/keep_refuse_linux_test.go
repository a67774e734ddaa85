package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func jsonOf(v any) ([]byte, error) { return json.Marshal(v) }

func readLayer(tb testing.TB, dir string) *Layer {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, savedLayer))
	must(tb, err)
	layer := &Layer{}
	must(tb, json.Unmarshal(data, layer))
	return layer
}

// wantRefused checks that nothing was kept and nothing is left over.
func (l *lab) wantRefused(tb testing.TB, layer *Layer, before map[string]string) {
	tb.Helper()
	wantTree(tb, "refused", describeTree(tb, l.project), before)
	if records, _ := os.ReadDir(filepath.Join(l.state, keptFolder)); len(records) > 0 {
		tb.Errorf("a record is left: %v", records)
	}
	if _, err := os.Lstat(layer.Roots[0].Upper); err != nil {
		tb.Errorf("the layer is gone: %v", err)
	}
}

// Paths changed below the layer are named, and nothing is kept.
func TestConflicts(t *testing.T) {
	t.Parallel()
	change := func(tb testing.TB, dir string) {
		put(tb, filepath.Join(dir, "a.txt"), "trial\n")
		put(tb, filepath.Join(dir, "new/file"), "new")
		must(tb, os.RemoveAll(filepath.Join(dir, "src")))
	}
	for name, c := range map[string]struct {
		meanwhile func(testing.TB, *lab)
		want      string
	}{
		"content":     {func(tb testing.TB, l *lab) { l.write(tb, "a.txt", "editor\n") }, "a.txt"},
		"same length": {func(tb testing.TB, l *lab) { l.write(tb, "a.txt", "one\ntwo\nthreE\n") }, "a.txt"},
		"written and set back": {func(tb testing.TB, l *lab) {
			info, err := os.Stat(l.path("a.txt"))
			must(tb, err)
			l.write(tb, "a.txt", "one\ntwo\nthree\n")
			must(tb, os.Chtimes(l.path("a.txt"), info.ModTime(), info.ModTime()))
		}, "a.txt"},
		"mode":    {func(tb testing.TB, l *lab) { must(tb, os.Chmod(l.path("a.txt"), 0o600)) }, "a.txt"},
		"deleted": {func(tb testing.TB, l *lab) { must(tb, os.Remove(l.path("a.txt"))) }, "a.txt"},
		"replaced": {func(tb testing.TB, l *lab) {
			l.write(tb, "tmp", "one\ntwo\nthree\n")
			must(tb, os.Rename(l.path("tmp"), l.path("a.txt")))
		}, "a.txt"},
		"created":              {func(tb testing.TB, l *lab) { l.write(tb, "new", "theirs") }, "new"},
		"in a deleted folder":  {func(tb testing.TB, l *lab) { l.write(tb, "src/extra", "theirs") }, "src"},
		"of a deleted folder":  {func(tb testing.TB, l *lab) { l.write(tb, "src/main.go", "theirs") }, "src/main.go"},
		"a folder is a link":   {func(tb testing.TB, l *lab) { swapForLink(tb, l, "src") }, "src"},
		"moved and moved back": {func(tb testing.TB, l *lab) { swapForLink(tb, l, "src"); swapBack(tb, l, "src") }, "src"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			fill(t, l)
			layer, effects, _ := l.try(t, func(dir string) { change(t, dir) })
			c.meanwhile(t, l)
			before := describeTree(t, l.project)
			_, err := l.keep(t, layer, &effects)
			conflict, ok := errors.AsType[*ConflictError](err)
			if !ok || !strings.Contains(conflict.Error(), l.path(c.want)) {
				t.Errorf("%v, want a conflict about %s", err, c.want)
			}
			l.wantRefused(t, layer, before)
		})
	}
}

// A file that another program made in a folder causes no conflict, even if the trial has
// changed something in the folder: only its time differs.
func TestOthersMakeFilesBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tb testing.TB, dir string)
		other  string
	}{
		"the root when the trial changes a file below": {func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "src/main.go"), "trial")
		}, "other"},
		"the root in which the trial makes a file": {func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "new"), "trial")
		}, "other"},
		"a folder in which the trial makes a file": {func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "src/new.go"), "trial")
		}, "src/other.go"},
		"a folder in which the trial changes a file": {func(tb testing.TB, dir string) {
			put(tb, filepath.Join(dir, "src/main.go"), "trial")
		}, "src/other.go"},
		"a folder of which the trial changes the mode": {func(tb testing.TB, dir string) {
			must(tb, os.Chmod(filepath.Join(dir, "src"), 0o700))
		}, "src/folder/other.go"},
		"a folder of which the trial sets the time": {func(tb testing.TB, dir string) {
			must(tb, os.Chtimes(filepath.Join(dir, "src"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, "src/other.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			fill(t, l)
			layer, effects, seen := l.try(t, func(dir string) { c.change(t, dir) })
			l.tick(t)
			l.write(t, c.other, "theirs")
			l.mustKeep(t, layer, &effects)
			if l.read(t, c.other) != "theirs" {
				t.Errorf("%s is lost", c.other)
			}
			now := describeTree(t, l.project)
			for i := range effects.List {
				path := strings.TrimPrefix(effects.List[i].Path, l.project)
				if now[path] != seen[path] {
					t.Errorf("%s is %s, want %s", path, now[path], seen[path])
				}
			}
		})
	}
}

// A folder in which only another program made a file during the trial keeps the time of that change.
func TestOthersMakeFilesMeanwhile(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	fill(t, l)
	layer, effects, _ := l.try(t, func(dir string) {
		put(t, filepath.Join(dir, "src/main.go"), "trial")
		l.tick(t)
		l.write(t, "other", "theirs")
		l.write(t, "src/other.go", "theirs")
	})
	if len(effects.Folders) > 0 {
		t.Errorf("the trial made nothing in %v", effects.Folders)
	}
	before := describeTree(t, l.project)
	l.mustKeep(t, layer, &effects)
	after := describeTree(t, l.project)
	for _, folder := range []string{"", "/src"} {
		if after[folder] != before[folder] {
			t.Errorf("%q is %s, and was %s", folder, after[folder], before[folder])
		}
	}
}

func swapForLink(tb testing.TB, l *lab, name string) {
	tb.Helper()
	outside := filepath.Join(filepath.Dir(l.project), "outside")
	must(tb, os.Rename(l.path(name), outside))
	must(tb, os.Symlink(outside, l.path(name)))
}

func swapBack(tb testing.TB, l *lab, name string) {
	tb.Helper()
	must(tb, os.Remove(l.path(name)))
	must(tb, os.Rename(filepath.Join(filepath.Dir(l.project), "outside"), l.path(name)))
}

// Obstacles are found before anything is changed.
func TestObstacles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flag, on string
		want     error
	}{
		"append-only file":   {"+a", "a.txt", errAppendOnly},
		"immutable file":     {"+i", "a.txt", errImmutable},
		"immutable folder":   {"+i", ".", errImmutable},
		"append-only folder": {"+a", ".", errAppendOnly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			fill(t, l)
			layer, effects, _ := l.try(t, func(dir string) {
				put(t, filepath.Join(dir, "0"), "first")
				must(t, os.Remove(filepath.Join(dir, "a.txt")))
			})
			if err := chattr(c.flag, l.path(c.on)); err != nil {
				t.Skipf("this file system or user sets no such flag: %v", err)
			}
			t.Cleanup(func() { _ = chattr(strings.Replace(c.flag, "+", "-", 1), l.path(c.on)) })
			before := describeTree(t, l.project)
			// Setting a flag counts as a change of the file.
			l.tick(t)
			must(t, os.WriteFile(filepath.Join(layer.Dir, stampFile), []byte("later"), 0o600))
			_, err := l.keep(t, layer, &effects)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			l.wantRefused(t, layer, before)
		})
	}
}

func chattr(flag, path string) error {
	out, err := exec.Command("chattr", flag, path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("chattr %s: %w: %s", flag, err, out)
	}
	return nil
}

// A read-only project and a full disk are detected before anything is changed.
func TestReadOnlyAndFull(t *testing.T) {
	t.Parallel()
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		fill(t, l)
		layer, effects, _ := l.try(t, func(dir string) { put(t, filepath.Join(dir, "new"), "new") })
		must(t, unix.Mount(l.project, l.project, "", unix.MS_BIND, ""))
		t.Cleanup(func() { unmount(t, l.project) })
		must(t, unix.Mount("", l.project, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
		before := describeTree(t, l.project)
		if _, err := l.keep(t, layer, &effects); !errors.Is(err, errReadOnly) {
			t.Error(err)
		}
		l.wantRefused(t, layer, before)
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		l := newLabIn(t, tmpfs(t, "1m"), filepath.Join(dir, "state"))
		fill(t, l)
		layer, effects, _ := l.try(t, func(dir string) {
			put(t, filepath.Join(dir, "a.txt"), "changed")
			put(t, filepath.Join(dir, "large"), strings.Repeat("x", 2<<20))
		})
		before := describeTree(t, l.project)
		if _, err := l.keep(t, layer, &effects); !errors.Is(err, errSpace) {
			t.Error(err)
		}
		l.wantRefused(t, layer, before)
	})
	t.Run("full where umpire remembers", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		fill(t, l)
		l.write(t, "large", strings.Repeat("x", 2<<20))
		layer, effects, _ := l.try(t, func(dir string) { must(t, os.Remove(filepath.Join(dir, "large"))) })
		before := describeTree(t, l.project)
		l.state = tmpfs(t, "1m")
		if _, err := l.keep(t, layer, &effects); !errors.Is(err, errSpace) {
			t.Error(err)
		}
		l.wantRefused(t, layer, before)
	})
	t.Run("full in the middle", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		fill(t, l)
		for i := range 20 { // more than the other file system can hold
			l.write(t, fmt.Sprint("f", i), strings.Repeat("x", 16<<10))
		}
		layer, effects, _ := l.try(t, func(dir string) {
			for i := range 20 {
				must(t, os.Remove(filepath.Join(dir, fmt.Sprint("f", i))))
			}
		})
		before := describeTree(t, l.project)
		l.state = tmpfs(t, "4m,nr_inodes=14")
		if _, err := l.keep(t, layer, &effects); !errors.Is(err, unix.ENOSPC) {
			t.Error(err)
		}
		l.wantRefused(t, layer, before)
	})
}

// A layer that was changed after it was shown is not kept.
func TestChangedLayer(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(testing.TB, string){
		"another content": func(tb testing.TB, upper string) { put(tb, filepath.Join(upper, "a.txt"), "worse") },
		"one file more":   func(tb testing.TB, upper string) { put(tb, filepath.Join(upper, "b.txt"), "worse") },
		"a link":          func(tb testing.TB, upper string) { must(tb, os.Symlink("/etc", filepath.Join(upper, "etc"))) },
		"a mode":          func(tb testing.TB, upper string) { must(tb, os.Chmod(filepath.Join(upper, "a.txt"), 0o777)) },
		"a shown folder's time": func(tb testing.TB, upper string) {
			must(tb, os.Chtimes(filepath.Join(upper, "src"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		},
		"a file is a link": func(tb testing.TB, upper string) {
			must(tb, os.Remove(filepath.Join(upper, "a.txt")))
			must(tb, os.Symlink("/etc/passwd", filepath.Join(upper, "a.txt")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			fill(t, l)
			layer, effects, _ := l.try(t, func(dir string) {
				put(t, filepath.Join(dir, "a.txt"), "shown")
				put(t, filepath.Join(dir, "src/new.go"), "shown")
			})
			tamper(t, layer.Roots[0].Upper)
			before := describeTree(t, l.project)
			if _, err := l.keep(t, layer, &effects); !errors.Is(err, ErrLayerChanged) {
				t.Error(err)
			}
			l.wantRefused(t, layer, before)
		})
	}
}

// An editor saves a file again and again during a keep. Each time, either nothing is
// kept, or the editor's later write remains. It is never lost.
func TestEditorSavesMeanwhile(t *testing.T) {
	t.Parallel()
	kept, refused := 0, 0
	for range 30 {
		l := newLab(t)
		fill(t, l)
		layer, effects, _ := l.try(t, func(dir string) {
			for i := range 30 {
				put(t, filepath.Join(dir, fmt.Sprint("f", i)), "new")
			}
			put(t, filepath.Join(dir, "src/main.go"), "trial")
		})
		stop, saved := make(chan struct{}), make(chan string)
		go func() {
			time.Sleep(time.Duration(kept+refused) * time.Millisecond)
			for i := 0; ; i++ {
				text := fmt.Sprint("editor ", i)
				put(t, l.path(".swp"), text)
				must(t, os.Rename(l.path(".swp"), l.path("src/main.go")))
				select {
				case <-stop:
					saved <- text
					return
				case <-time.After(time.Millisecond):
				}
			}
		}()
		_, err := l.keep(t, layer, &effects)
		close(stop)
		last := <-saved
		if got := l.read(t, "src/main.go"); got != last {
			t.Errorf("%q stands there, and the editor wrote %q last (%v)", got, last, err)
		}
		if _, conflict := errors.AsType[*ConflictError](err); err != nil && !conflict {
			t.Error(err)
		}
		if err == nil {
			kept++
		} else if refused++; l.read(t, "f7") != "(nothing)" {
			t.Errorf("half of it was kept: %v", err)
		}
	}
	t.Logf("%d kept, %d refused", kept, refused)
}

// Only one of two trials that change the same file is kept.
func TestTwoTrialsOfOneFile(t *testing.T) {
	t.Parallel()
	for range 20 {
		l := newLab(t)
		fill(t, l)
		var layers [2]*Layer
		var effects [2]Effects
		for i := range layers {
			layers[i], effects[i], _ = l.try(t, func(dir string) {
				put(t, filepath.Join(dir, "a.txt"), fmt.Sprint("trial ", i))
				put(t, filepath.Join(dir, fmt.Sprint("only", i)), "x")
			})
		}
		var wait sync.WaitGroup
		var errs [2]error
		for i := range layers {
			wait.Go(func() { _, errs[i] = l.keep(t, layers[i], &effects[i]) })
		}
		wait.Wait()
		if (errs[0] == nil) == (errs[1] == nil) && errs[0] == nil {
			t.Fatalf("both were kept: %v, %v", errs[0], errs[1])
		}
		for i, err := range errs {
			_, conflict := errors.AsType[*ConflictError](err)
			if err != nil && !conflict {
				t.Error(err)
			}
			if there := l.read(t, fmt.Sprint("only", i)) == "x"; there != (err == nil) {
				t.Errorf("trial %d: %v, and its own file is there: %v", i, err, there)
			}
			if err == nil && l.read(t, "a.txt") != fmt.Sprint("trial ", i) {
				t.Errorf("trial %d was kept, and a.txt is %q", i, l.read(t, "a.txt"))
			}
		}
	}
}

// If a folder is replaced by a link before something is put into it, nothing lands elsewhere.
func TestFolderIsSwappedWhileKeeping(t *testing.T) {
	t.Parallel()
	for range 20 {
		l := newLab(t)
		fill(t, l)
		layer, effects, _ := l.try(t, func(dir string) {
			for i := range 20 {
				put(t, filepath.Join(dir, "src", fmt.Sprint("f", i)), "new")
			}
		})
		outside := filepath.Join(filepath.Dir(l.project), "outside")
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(2 * time.Millisecond)
			if os.Rename(l.path("src"), l.path("aside")) == nil {
				must(t, os.MkdirAll(outside, 0o755))
				must(t, os.Symlink(outside, l.path("src")))
			}
		}()
		_, err := l.keep(t, layer, &effects)
		<-done
		if found, _ := os.ReadDir(outside); len(found) > 0 {
			t.Fatalf("%v: it wrote outside: %v", err, found)
		}
	}
}
