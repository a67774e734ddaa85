package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A lab is a project with umpire's state next to it, and layers made with a real overlay
// but without a sandbox.
type lab struct {
	project, state string
	layers         int
}

func newLab(tb testing.TB) *lab {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return newLabIn(tb, filepath.Join(dir, "p"), filepath.Join(dir, "state"))
}

func newLabIn(tb testing.TB, project, state string) *lab {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("only root mounts an overlay")
	}
	for _, dir := range []string{project, state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return &lab{project: project, state: state}
}

// try changes the project in a layer. It also returns the tree as the change saw it.
func (l *lab) try(tb testing.TB, change func(dir string)) (*Layer, Effects, map[string]string) {
	tb.Helper()
	layer := l.layer(tb)
	merged := tb.TempDir()
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", l.project, layer.Roots[0].Upper,
		filepath.Join(layer.Dir, "0", "work"))
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		tb.Skipf("no overlay here: %v", err)
	}
	defer unmount(tb, merged)
	change(merged)
	// After a remount, hard links show the same inode numbers.
	unmount(tb, merged)
	must(tb, unix.Mount("overlay", merged, "overlay", 0, options))
	seen := describeTree(tb, merged)
	effects, err := read(tb.Context(), *layer, limits{})
	if err != nil {
		tb.Fatal(err)
	}
	return layer, effects, seen
}

// layer makes an empty layer over the project.
func (l *lab) layer(tb testing.TB) *Layer {
	tb.Helper()
	var st unix.Stat_t
	must(tb, unix.Stat(l.project, &st))
	dir := filepath.Join(l.state, "trials", fmt.Sprintf("t%d", l.layers))
	l.layers++
	for _, name := range []string{"upper", "work"} {
		must(tb, os.MkdirAll(filepath.Join(dir, "0", name), 0o700))
	}
	must(tb, unix.Chmod(filepath.Join(dir, "0", "upper"), st.Mode&0o7777))
	l.tick(tb)
	must(tb, os.WriteFile(filepath.Join(dir, stampFile), nil, 0o600))
	root := Root{Lower: l.project, Upper: filepath.Join(dir, "0", "upper"), Device: st.Dev, Inode: st.Ino}
	times := []unix.Timespec{st.Atim, st.Mtim}
	must(tb, unix.UtimesNanoAt(unix.AT_FDCWD, root.Upper, times, 0))
	return &Layer{Dir: dir, Roots: []Root{root}}
}

// tick waits until the file system's clock has advanced.
func (l *lab) tick(tb testing.TB) {
	tb.Helper()
	file := filepath.Join(l.state, "tick")
	first := int64(0)
	for {
		must(tb, os.WriteFile(file, nil, 0o600))
		var st unix.Stat_t
		must(tb, unix.Stat(file, &st))
		if now := st.Ctim.Nano(); first == 0 {
			first = now
		} else if now != first {
			return
		}
	}
}

func (l *lab) keep(tb testing.TB, layer *Layer, effects *Effects) (*Kept, error) {
	tb.Helper()
	return layer.Keep(tb.Context(), KeepSpec{State: l.state, Shown: effects, Command: "test"})
}

func (l *lab) mustKeep(tb testing.TB, layer *Layer, effects *Effects) *Kept {
	tb.Helper()
	kept, err := l.keep(tb, layer, effects)
	if err != nil {
		tb.Fatalf("keep: %v (differs: %v)", err, effects.Differs)
	}
	return kept
}

func (l *lab) mustUndo(tb testing.TB, only ...string) *Kept {
	tb.Helper()
	return l.mustUndoID(tb, "", only...)
}

func (l *lab) mustUndoID(tb testing.TB, id string, only ...string) *Kept {
	tb.Helper()
	kept, err := Undo(tb.Context(), UndoSpec{State: l.state, ID: id, Only: only})
	if err != nil {
		tb.Fatalf("undo: %v", err)
	}
	return kept
}

func (l *lab) path(name string) string { return filepath.Join(l.project, name) }

func (l *lab) write(tb testing.TB, name, text string) { tb.Helper(); put(tb, l.path(name), text) }

func (l *lab) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(nothing)"
	}
	must(tb, err)
	return string(data)
}

func put(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	must(tb, os.WriteFile(path, []byte(text), 0o644))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// describeTree describes a tree: every entry, and the hard links.
func describeTree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	first := map[uint64]string{}
	must(tb, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		name := strings.TrimPrefix(path, dir)
		text := fmt.Sprint(info.Mode(), " ", st.Uid, ":", st.Gid)
		switch {
		case info.Mode().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			digest, _, err := digestContent(context.Background(), f)
			must(tb, errors.Join(err, f.Close()))
			text += fmt.Sprint(" ", info.Size(), " ", digest)
			if st.Nlink > 1 && first[st.Ino] != "" {
				text += " is " + first[st.Ino]
			} else if st.Nlink > 1 {
				first[st.Ino] = name
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			must(tb, err)
			all[name] = text + " -> " + to
			return nil
		}
		all[name] = text + " " + info.ModTime().UTC().Format("15:04:05.000000000")
		return nil
	}))
	return all
}

func wantTree(tb testing.TB, when string, got, want map[string]string) {
	tb.Helper()
	names := slices.Sorted(maps.Keys(got))
	for name := range want {
		if _, there := got[name]; !there {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if got[name] != want[name] {
			tb.Errorf("%s: %q\n is   %s\n want %s", when, name, got[name], want[name])
		}
	}
}

// unmount retries while another test starts processes, which hold our open files until
// they exec.
func unmount(tb testing.TB, dir string) {
	tb.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		err := unix.Unmount(dir, 0)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EBUSY) {
			tb.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	tb.Fatalf("%s stays busy", dir)
}
