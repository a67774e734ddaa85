package trial

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// numbers returns a text of n lines.
func numbers(n int, change map[int]string) string {
	var b strings.Builder
	for i := range n {
		if text, ok := change[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintln(&b, "line", i)
	}
	return b.String()
}

// Later changes are preserved when a keep is undone.
func TestUndoMergesLaterChanges(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write(t, "text", numbers(30, nil))
	must(t, os.Chmod(l.path("text"), 0o600))
	layer, effects, _ := l.try(t, func(dir string) {
		must(t, os.WriteFile(filepath.Join(dir, "text"), []byte(numbers(30, map[int]string{3: "kept\n", 20: ""})), 0))
	})
	l.mustKeep(t, layer, &effects)
	later := numbers(30, map[int]string{3: "kept\n", 20: "", 12: "later\n", 29: "line 29\nmore\n"})
	l.write(t, "text", later)
	undone := l.mustUndo(t)
	if got, want := l.read(t, "text"), numbers(30, map[int]string{12: "later\n", 29: "line 29\nmore\n"}); got != want {
		t.Errorf("it is\n%s", got)
	}
	if info, err := os.Stat(l.path("text")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	l.mustUndoID(t, undone.ID)
	if got := l.read(t, "text"); got != later {
		t.Errorf("after undoing the undo it is\n%s", got)
	}
}

// If later changes cannot be merged, nothing is undone, and the paths are named.
func TestUndoConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later func(testing.TB, *lab)
		want  []string
	}{
		"the same line": {func(tb testing.TB, l *lab) {
			l.write(tb, "text", numbers(9, map[int]string{3: "other\n"}))
		}, []string{"text"}},
		"a new file was changed":        {func(tb testing.TB, l *lab) { l.write(tb, "new", "other") }, []string{"new"}},
		"a deleted file is there again": {func(tb testing.TB, l *lab) { l.write(tb, "gone", "other") }, []string{"gone"}},
		"a file is gone":                {func(tb testing.TB, l *lab) { must(tb, os.Remove(l.path("text"))) }, []string{"text"}},
		"bytes": {func(tb testing.TB, l *lab) {
			l.write(tb, "bin", "\x00later")
			l.write(tb, "new", "other")
		}, []string{"bin", "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.write(t, "text", numbers(9, nil))
			l.write(t, "bin", "\x00before")
			l.write(t, "gone", "gone")
			layer, effects, _ := l.try(t, func(dir string) {
				put(t, filepath.Join(dir, "text"), numbers(9, map[int]string{3: "kept\n"}))
				put(t, filepath.Join(dir, "bin"), "\x00kept")
				put(t, filepath.Join(dir, "new"), "new")
				must(t, os.Remove(filepath.Join(dir, "gone")))
			})
			l.mustKeep(t, layer, &effects)
			c.later(t, l)
			before := describeTree(t, l.project)
			_, err := Undo(t.Context(), UndoSpec{State: l.state})
			conflict, ok := errors.AsType[*ConflictError](err)
			want := []string{}
			for _, name := range c.want {
				want = append(want, l.path(name))
			}
			if !ok || !slices.Equal(conflict.Paths, want) {
				t.Errorf("%v, want a conflict about %q", err, want)
			}
			wantTree(t, "conflict", describeTree(t, l.project), before)
			// The others can be undone, and the rest is tried again later.
			for _, name := range []string{"text", "bin", "new", "gone"} {
				if !slices.Contains(c.want, name) {
					l.mustUndo(t, l.path(name))
				}
			}
			if records, err := Records(l.state); err != nil || records[len(records)-1].Undone != "" {
				t.Errorf("%+v, %v", records, err)
			}
		})
	}
}

// A single path can be undone, with the folders that lead there.
func TestUndoOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	fill(t, l)
	before := describeTree(t, l.project)
	layer, effects, _ := l.try(t, func(dir string) {
		must(t, os.RemoveAll(filepath.Join(dir, "src")))
		put(t, filepath.Join(dir, "a.txt"), "kept\n")
	})
	l.mustKeep(t, layer, &effects)
	l.mustUndo(t, l.path("src/pkg"))
	if l.read(t, "src/pkg/p.go") != "package pkg\n" || l.read(t, "src/main.go") != "(nothing)" || l.read(t, "a.txt") != "kept\n" {
		t.Error(describeTree(t, l.project))
	}
	if _, err := Undo(t.Context(), UndoSpec{State: l.state, Only: []string{l.path("other")}}); !errors.Is(err, ErrNothingKept) {
		t.Error(err)
	}
	l.mustUndo(t) // the rest
	after := describeTree(t, l.project)
	for name := range before {
		if name != "" && name != "/src" && after[name] != before[name] {
			t.Errorf("%s is %q, was %q", name, after[name], before[name])
		}
	}
	if _, err := Undo(t.Context(), UndoSpec{State: l.state}); !errors.Is(err, ErrNothingKept) {
		t.Errorf("undone twice: %v", err)
	}
}

// A created folder stays if another program has put something into it.
func TestUndoLeavesOthersFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	layer, effects, _ := l.try(t, func(dir string) { put(t, filepath.Join(dir, "made/in/it"), "new") })
	l.mustKeep(t, layer, &effects)
	l.write(t, "made/theirs", "x")
	undone := l.mustUndo(t)
	if l.read(t, "made/theirs") != "x" || l.read(t, "made/in/it") != "(nothing)" {
		t.Error(describeTree(t, l.project))
	}
	if len(undone.Left) != 1 || undone.Left[0] != l.path("made") {
		t.Errorf("%q were left", undone.Left)
	}
}

// Git rewrites its index when it looks at the files. That is not a change.
func TestUndoAfterGitStatus(t *testing.T) {
	t.Parallel()
	git := func(dir string, args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	l := newLab(t)
	git(l.project, "init", "-q")
	fill(t, l)
	git(l.project, "add", ".")
	git(l.project, "commit", "-qm", "first")
	layer, effects, _ := l.try(t, func(dir string) {
		put(t, filepath.Join(dir, "new"), "new")
		git(dir, "add", "new")
		git(dir, "commit", "-qm", "second")
	})
	l.mustKeep(t, layer, &effects)
	index := l.read(t, ".git/index")
	must(t, os.Chtimes(l.path("a.txt"), time.Unix(5, 0), time.Unix(6, 0)))
	git(l.project, "status")
	if l.read(t, ".git/index") == index {
		t.Fatal("git has not written its index")
	}
	l.mustUndo(t)
	git(l.project, "diff", "--exit-code", "HEAD")
	if l.read(t, "new") != "(nothing)" {
		t.Error("the file is still there")
	}
	git(l.project, "fsck", "--strict")
}

// Records are removed by age and by space, and the latest stays.
func TestCollect(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 3 {
		layer, effects, _ := l.try(t, func(dir string) { put(t, filepath.Join(dir, "f"), fmt.Sprint(i)) })
		l.mustKeep(t, layer, &effects)
	}
	limits := UndoLimits{Bytes: 1 << 30, Age: time.Hour}
	must(t, collect(l.state, limits, time.Now()))
	if records, err := Records(l.state); err != nil || len(records) != 3 {
		t.Errorf("%d records, %v", len(records), err)
	}
	must(t, collect(l.state, limits, time.Now().Add(2*time.Hour)))
	if records, err := Records(l.state); err != nil || len(records) != 1 || records[0].Changes[0].Path != l.path("f") {
		t.Errorf("%+v, %v", records, err)
	}
	l.mustUndo(t)
	if got := l.read(t, "f"); got != "1" {
		t.Errorf("f is %q", got)
	}
}

// TestUndoCannotBeEmptied deletes a file and then makes keeps of various sizes. The deletion can
// still be undone, a keep without room is refused, and a person may still keep it.
func TestUndoCannotBeEmptied(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write(t, "thesis.txt", "years of work")
	l.write(t, "big", strings.Repeat("x", 300_000))
	limits := UndoLimits{Bytes: 1 << 20, Age: 7 * 24 * time.Hour}
	keep := func(change func(dir string), reviewed bool) (*Kept, error) {
		l.tick(t)
		layer, effects, _ := l.try(t, change)
		return layer.Keep(t.Context(), KeepSpec{State: l.state, Shown: &effects, Limits: limits, Reviewed: reviewed})
	}
	gone, err := keep(func(dir string) { must(t, os.Remove(filepath.Join(dir, "thesis.txt"))) }, false)
	must(t, err)
	refused := 0
	for i := range 6 {
		rewrite := func(dir string) { put(t, filepath.Join(dir, "big"), strings.Repeat(fmt.Sprint(i), 300_000)) }
		if _, err := keep(rewrite, false); errors.Is(err, ErrWouldForget) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
		must(t, collect(l.state, limits, time.Now()))
	}
	if refused != 5 {
		t.Errorf("%d of 6 keeps were refused", refused)
	}
	_, err = keep(func(dir string) { put(t, filepath.Join(dir, "big"), "small") }, true)
	must(t, err)
	must(t, collect(l.state, limits, time.Now()))
	l.mustUndoID(t, gone.ID)
	if got := l.read(t, "thesis.txt"); got != "years of work" {
		t.Errorf("thesis.txt is %q", got)
	}
}

// A waiting trial is read back as written, regardless of its paths, and is removed after
// it has been abandoned for too long.
func TestHeldTrials(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	layer, effects, seen := l.try(t, func(dir string) {
		put(t, filepath.Join(dir, "50%\xff"), "new")
		must(t, os.Symlink("to\xfe", filepath.Join(dir, "link")))
	})
	now := time.Now().UTC()
	held := &Held{
		ID: filepath.Base(layer.Dir), Time: now, Command: "x\xff", Root: l.project, Exit: 3, Layer: *layer, Effects: effects,
	}
	must(t, Hold(l.state, held))
	must(t, TidyUp(t.Context(), l.state, UndoLimits{}, nil, now))
	all, err := HeldTrials(l.state)
	if err != nil || len(all) != 1 || all[0].Command != held.Command || all[0].Exit != 3 ||
		digestOf(all[0].Effects.List, all[0].Effects.Folders) != effects.Digest {
		t.Fatalf("%+v, %v", all, err)
	}
	before, after, err := all[0].Layer.Contents(&all[0].Effects.List[0], 1<<20)
	if err != nil || before != nil || string(after) != "new" {
		t.Errorf("%q, %q, %v", before, after, err)
	}
	l.mustKeep(t, &all[0].Layer, &all[0].Effects)
	wantTree(t, "keep", describeTree(t, l.project), seen)
	if all, err := HeldTrials(l.state); err != nil || len(all) != 0 {
		t.Errorf("kept, and still held: %v, %v", all, err)
	}
	layer, effects, _ = l.try(t, func(dir string) { put(t, filepath.Join(dir, "f"), "x") })
	held.ID, held.Layer, held.Effects = filepath.Base(layer.Dir), *layer, effects
	must(t, Hold(l.state, held))
	must(t, TidyUp(t.Context(), l.state, UndoLimits{}, nil, now.Add(time.Minute)))
	if _, err := os.Stat(layer.Dir); err != nil {
		t.Errorf("it goes before its time: %v", err)
	}
	must(t, TidyUp(t.Context(), l.state, UndoLimits{}, nil, now.Add(heldAge)))
	if _, err := os.Lstat(layer.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it waits for too long, and is still there: %v", err)
	}
}

// A created link is recognized if it leads out of the project.
func TestLinksThatLeadOut(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	must(t, os.Symlink("/etc", l.path("old")))
	for to, out := range map[string]bool{
		"a": false, "x/../a": false, l.project: false, "/etc/passwd": true, "..": true, "../..": true, "old/x": true,
		"x/../../other": true,
	} {
		layer, effects, _ := l.try(t, func(dir string) { must(t, os.Symlink(to, filepath.Join(dir, "new"))) })
		if got := layer.LeadsOut(&effects.List[0]); got != out {
			t.Errorf("%s leads out: %v, want %v", to, got, out)
		}
		must(t, layer.Discard())
	}
}

func TestMergeTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept, now, before, want string
		clean                   bool
	}{
		"nothing later":          {"a\nb\n", "a\nb\n", "a\n", "a\n", true},
		"elsewhere":              {"1\nB\n3\n4\n5\n", "1\nB\n3\n4\nfive\n", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", true},
		"the same line":          {"1\nB\n3\n", "1\nX\n3\n", "1\n2\n3\n", "", false},
		"the same change":        {"1\nB\n3\n", "1\n2\n3\n", "1\n2\n3\n", "1\n2\n3\n", true},
		"two texts at one place": {"1\n3\n", "1\nX\n3\n", "1\n2\n3\n", "", false},
		"no last newline":        {"1\nB", "0\n1\nB", "1\n2", "0\n1\n2", true},
		"all later text":         {"kept\n", "", "before\n", "", false},
	} {
		got, clean := mergeTexts([]byte(c.kept), []byte(c.now), []byte(c.before))
		if clean != c.clean || clean && string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, clean)
		}
	}
}
