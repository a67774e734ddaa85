package trial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// newPlainLab makes a lab without overlays.
func newPlainLab(tb testing.TB) *lab {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	must(tb, err)
	l := &lab{project: filepath.Join(dir, "p"), state: filepath.Join(dir, "state")}
	must(tb, errors.Join(os.Mkdir(l.project, 0o755), os.Mkdir(l.state, 0o700)))
	return l
}

func (l *lab) nextCall() umpire.CallID {
	l.layers++
	return umpire.CallID(fmt.Sprint("call-", os.Getpid(), l.layers))
}

// record records a call that runs do.
func (l *lab) record(tb testing.TB, inPlace bool, paths []string, do func(*Recording)) *Kept {
	tb.Helper()
	r, err := Record(tb.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Paths: paths, Later: inPlace, Call: l.nextCall(), Command: "Write",
	})
	must(tb, err)
	do(r)
	kept, err := r.Seal(tb.Context())
	must(tb, err)
	return kept
}

// replaceFile writes a file like tools do.
func replaceFile(tb testing.TB, r *Recording, path, text string) {
	tb.Helper()
	mode := os.FileMode(0o644)
	if info, err := os.Lstat(path); err == nil {
		mode = info.Mode()
	}
	must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	must(tb, r.Expect(path, []byte(text)))
	must(tb, os.WriteFile(path+".tmp", []byte(text), mode))
	must(tb, errors.Join(os.Chmod(path+".tmp", mode), os.Rename(path+".tmp", path)))
}

// randomWrites changes files in one recorded call, like a tool or another program.
func (l *lab) randomWrites(tb testing.TB, r *rand.Rand) (kept *Kept) {
	tb.Helper()
	inPlace := r.IntN(2) == 0
	var paths []string
	for range 1 + r.IntN(3) {
		name := ""
		for range 1 + r.IntN(3) {
			name += "/" + string(rune('a'+r.IntN(4)))
		}
		path := l.project + name
		if isUsable := func() bool {
			for at := path; at != l.project; at = filepath.Dir(at) {
				info, err := os.Lstat(at)
				if err == nil && (at == path && !info.Mode().IsRegular() || at != path && !info.IsDir()) {
					return false
				}
			}
			return true
		}; !isUsable() {
			continue
		}
		clash := false
		for _, other := range paths {
			clash = clash || path == other || strings.HasPrefix(path, other+"/") || strings.HasPrefix(other, path+"/")
		}
		if info, err := os.Lstat(path); err == nil && info.Sys().(*syscall.Stat_t).Nlink > 1 {
			inPlace = false // its other names would change too
		}
		if !clash {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return &Kept{}
	}
	return l.record(tb, inPlace, paths, func(rec *Recording) {
		for _, path := range paths {
			text := strings.Repeat(fmt.Sprintln(r.IntN(9)), r.IntN(5))
			_, err := os.Lstat(path)
			there := err == nil
			switch what := r.IntN(8); {
			case what == 0: // the call is refused
			case what == 1 && there:
				must(tb, os.Remove(path))
			case what == 2 && there && inPlace:
				must(tb, os.Chmod(path, os.FileMode(0o600+r.IntN(0o100))))
			case what < 5 && inPlace:
				must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
				must(tb, os.WriteFile(path, []byte(text), 0o644))
			default:
				replaceFile(tb, rec, path, text)
			}
		}
	})
}

// After calls that changed files at random, undoing them in reverse restores the tree:
// bytes, modes, times and links.
func TestUndoOfRandomWrites(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		l := newPlainLab(t)
		for range 25 {
			randomChange(r, l.project, true)
		}
		before := describeTree(t, l.project)
		for range 1 + r.IntN(8) {
			l.randomWrites(t, r)
		}
		after := describeTree(t, l.project)
		l.undoAll(t)
		wantTree(t, "all undone", describeTree(t, l.project), before)
		// The undos can be undone, last one first.
		all, err := Records(l.state)
		must(t, err)
		for i := range all {
			if all[i].Undoes != "" && all[i].Undone == "" {
				l.mustUndoID(t, all[i].ID)
			}
		}
		wantTree(t, "undone again", describeTree(t, l.project), after)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (l *lab) undoAll(tb testing.TB) {
	tb.Helper()
	for {
		open, err := Undoable(l.state, l.project)
		must(tb, err)
		if len(open) == 0 {
			return
		}
		l.mustUndo(tb)
	}
}

// runWriting is the process to be killed: it writes, and reports what it has recorded.
func runWriting(tb testing.TB) {
	seed, err := strconv.Atoi(os.Getenv(crashEnv + "_SEED"))
	must(tb, err)
	l := &lab{project: os.Getenv(crashEnv + "_PROJECT"), state: os.Getenv(crashEnv + "_STATE")}
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	for range 100 {
		if kept := l.randomWrites(tb, r); kept.ID != "" {
			fmt.Println("kept", kept.ID)
		}
	}
	fmt.Println("done")
}

// Whenever a writing process is killed, each write has a record or is absent: undoing all
// records restores the tree. Acknowledged writes have a record.
func TestKilledWhileWriting(t *testing.T) {
	if os.Getenv(crashEnv) != "" {
		runWriting(t)
		return
	}
	t.Parallel()
	crashes := 8
	if n, err := strconv.Atoi(os.Getenv(crashesEnv)); err == nil {
		crashes = n
	}
	recovered := 0
	for seed := range crashes {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		l := newPlainLab(t)
		for range 25 {
			randomChange(r, l.project, true)
		}
		before := describeTree(t, l.project)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
		cmd.Env = append(os.Environ(), crashEnv+"=write", crashEnv+"_STATE="+l.state, crashEnv+"_PROJECT="+l.project,
			fmt.Sprint(crashEnv, "_SEED=", seed))
		var out bytes.Buffer
		cmd.Stdout = &out
		must(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(400*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was killed
		timer.Stop()
		if strings.Contains(out.String(), "FAIL") {
			t.Fatalf("seed %d: %s", seed, &out)
		}
		pending, err := filepath.Glob(filepath.Join(l.state, keptFolder, "*", pendingFile))
		must(t, err)
		recovered += len(pending)
		l.recoverAll(t, nil)
		l.settleAll(t)
		removeTemporary(t, l.project)
		all, err := Records(l.state)
		must(t, err)
		for line := range strings.Lines(out.String()) {
			id, isKept := strings.CutPrefix(strings.TrimSpace(line), "kept ")
			if isKept && !slices.ContainsFunc(all, func(k Kept) bool { return k.ID == id }) {
				t.Errorf("seed %d: %s was acknowledged, and has no record", seed, id)
			}
		}
		l.undoAll(t)
		wantTree(t, "all undone", withoutTimes(describeTree(t, l.project)), withoutTimes(before))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d records were recovered", recovered, crashes)
}

// failureOf returns why records could not be finished, or nil.
func failureOf(failed []Unfinished) (err error) {
	for _, f := range failed {
		err = errors.Join(err, f.Err)
	}
	return err
}

// settleAll settles all records, and recoverAll recovers them. A process that another
// test is starting may briefly hold a record's lock.
func (l *lab) settleAll(tb testing.TB) {
	tb.Helper()
	for {
		locked, failed, err := settleRecords(tb.Context(), l.state)
		if must(tb, errors.Join(err, failureOf(failed))); locked == 0 {
			return
		}
	}
}

func (l *lab) recoverAll(tb testing.TB, vault Vault) {
	tb.Helper()
	for {
		locked, failed, err := recoverRecords(tb.Context(), l.state, vault)
		if must(tb, errors.Join(err, failureOf(failed))); locked == 0 {
			return
		}
	}
}

// removeTemporary removes files that were about to replace others.
func removeTemporary(tb testing.TB, dir string) {
	tb.Helper()
	must(tb, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			return os.Remove(path)
		}
		return err
	}))
}

// withoutTimes removes the times of folders, because other programs may have removed
// entries later.
func withoutTimes(all map[string]string) map[string]string {
	for name, text := range all {
		if strings.HasPrefix(text, "d") {
			all[name] = text[:strings.LastIndex(text, " ")]
		}
	}
	return all
}

// A file with several names gets them back, and later changes are not lost.
func TestUndoOfWrite(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "a", numbers(9, nil))
	must(t, os.Link(l.path("a"), l.path("b")))
	before := describeTree(t, l.project)
	kept := l.record(t, false, []string{l.path("a"), l.path("new/c")}, func(r *Recording) {
		replaceFile(t, r, l.path("a"), numbers(9, map[int]string{3: "kept\n"}))
		replaceFile(t, r, l.path("new/c"), "c")
	})
	if len(kept.Changes) != 3 || kept.Call == "" || kept.Root != l.project {
		t.Errorf("it changed %+v", kept)
	}
	l.mustUndoID(t, string(kept.Call))
	wantTree(t, "undone", describeTree(t, l.project), before)
	must(t, os.Remove(l.path("b")))
	l.record(t, true, []string{l.path("a")}, func(*Recording) {
		put(t, l.path("a"), numbers(9, map[int]string{3: "kept\n"}))
	})
	l.write(t, "a", numbers(9, map[int]string{3: "kept\n", 7: "later\n"}))
	l.mustUndo(t)
	if got := l.read(t, "a"); got != numbers(9, map[int]string{7: "later\n"}) {
		t.Errorf("it is\n%s", got)
	}
	made := l.record(t, false, []string{l.path("made")}, func(r *Recording) { replaceFile(t, r, l.path("made"), "made\n") })
	l.write(t, "made", "made\nand edited\n")
	_, err := Undo(t.Context(), UndoSpec{State: l.state, ID: made.ID})
	if _, conflict := errors.AsType[*ConflictError](err); !conflict || l.read(t, "made") != "made\nand edited\n" {
		t.Errorf("%v, want a conflict about a new file that somebody has edited", err)
	}
}

// A file system gives the number of a removed pipe to the next new file, which is not the pipe at another place.
func TestNumberOfARemovedFile(t *testing.T) {
	t.Parallel()
	pipe := Entry{Type: fs.ModeNamedPipe | 0o600, Inode: 7}
	r := &Recording{transaction: &transaction{journal: &journal{Steps: []step{
		{Path: "/p/pipe", Before: pipe, Lost: relay.LostSpecial},
		{Path: "/p/link", Before: Entry{Type: fs.ModeSymlink | 0o777, Inode: 8}, After: Entry{Type: 0o600, Inode: 7}},
		{Path: "/p/moved", After: pipe},
	}}}}
	r.spareLost()
	if r.Steps[1].Lost != "" || r.Steps[2].Lost != relay.LostSpecial {
		t.Errorf("got %q and %q, want only the moved pipe to be lost", r.Steps[1].Lost, r.Steps[2].Lost)
	}
}

// A record restores what it can and names the rest: files with several names written in place,
// files that are too large together, pipes. Those stay where the call has moved them.
func TestRecordOfWhatIsLost(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	for _, name := range []string{"a", "one", "large", "larger", "folder/in"} {
		l.write(t, name, name)
	}
	for _, name := range []string{"large", "larger"} {
		must(t, os.Truncate(l.path(name), relay.MaxRecordedLater/2+1))
	}
	must(t, errors.Join(os.Link(l.path("one"), l.path("other")), os.Symlink("a", l.path("link")), syscall.Mkfifo(l.path("pipe"), 0o600)))
	paths := []string{"a", "folder", "folder/in", "large", "larger", "link", "moved", "new", "one", "other", "pipe"}
	for i := range paths {
		paths[i] = l.path(paths[i])
	}
	kept := l.record(t, true, paths, func(*Recording) {
		put(t, l.path("a"), "changed")
		put(t, l.path("one"), "changed")
		must(t, errors.Join(os.Rename(l.path("larger"), l.path("new")), os.Rename(l.path("folder"), l.path("moved")),
			os.Remove(l.path("link")), os.Remove(l.path("pipe")), os.WriteFile(l.path("link"), []byte("x"), 0o600)))
	})
	want := []Loss{
		{l.path("larger"), relay.LostSize}, {l.path("new"), relay.LostSize}, {l.path("one"), relay.LostNames},
		{l.path("other"), relay.LostNames}, {l.path("pipe"), relay.LostSpecial},
	}
	if !slices.Equal(kept.Lost, want) {
		t.Errorf("it lost %v", kept.Lost)
	}
	_, err := Undo(t.Context(), UndoSpec{State: l.state, ID: kept.ID, Only: []string{l.path("one")}})
	if !errors.Is(err, ErrLost) {
		t.Errorf("what is lost is undone: %v", err)
	}
	undone, err := Undo(t.Context(), UndoSpec{State: l.state, ID: kept.ID})
	must(t, err)
	if !slices.Equal(undone.Lost, want) {
		t.Errorf("the undo lost %v", undone.Lost)
	}
	target, err := os.Readlink(l.path("link"))
	must(t, err)
	if a, in := l.read(t, "a"), l.read(t, "folder/in"); a != "a" || in != "folder/in" || target != "a" {
		t.Errorf("a is %q, the link leads to %q, and the folder holds %q", a, target, in)
	}
	if info, err := os.Stat(l.path("new")); err != nil || info.Size() != relay.MaxRecordedLater/2+1 {
		t.Errorf("what was moved and is not remembered is %v, %v", info, err)
	}
}

// A call that changes nothing leaves no record.
func TestRecordOfNothing(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "a", "a")
	if kept := l.record(t, false, []string{l.path("a"), l.path("x/y")}, func(*Recording) {}); kept.ID != "" {
		t.Errorf("it kept %+v", kept)
	}
	if left, err := os.ReadDir(filepath.Join(l.state, keptFolder)); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// Files written in place are copied, and this process seals the record.
func TestRecordInPlace(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "a", "one\n")
	r, err := Record(t.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Paths: []string{l.path("a"), l.path("b")}, InPlace: true,
		Session: "s", Call: "1",
	})
	must(t, err)
	must(t, os.WriteFile(l.path("a"), []byte("two\n"), 0o600))
	kept, err := r.Seal(t.Context())
	must(t, err)
	if len(kept.Changes) != 1 || kept.ID == relay.CallRecord("s", "1", 0) {
		t.Errorf("it kept %+v", kept)
	}
	_, err = Undo(t.Context(), UndoSpec{State: l.state, ID: "1"})
	must(t, err)
	if text, err := os.ReadFile(l.path("a")); err != nil || string(text) != "one\n" {
		t.Errorf("it is %q, %v", text, err)
	}
}

// The record of a dead process distinguishes the call's writes from later ones.
func TestRecordOfDeadProcess(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "a", numbers(9, nil))
	l.write(t, "b", "b")
	r, err := Record(t.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Paths: []string{l.path("a"), l.path("b")},
	})
	must(t, err)
	replaceFile(t, r, l.path("a"), numbers(9, map[int]string{3: "kept\n"}))
	r.close()
	l.write(t, "a", numbers(9, map[int]string{3: "kept\n", 7: "later\n"}))
	l.recoverAll(t, nil)
	l.mustUndo(t)
	if got := l.read(t, "a"); got != numbers(9, map[int]string{7: "later\n"}) {
		t.Errorf("it is\n%s", got)
	}
}

// A call of another program is sealed when the program reports its end, when a person
// wants to undo it, or when its time is over. If it wrote nothing, its record is removed.
func TestRecordForLater(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	before := numbers(9, nil)
	l.write(t, "a", before)
	l.write(t, "b", before)
	remember := func(call umpire.CallID, path string) {
		r, err := Record(t.Context(), RecordSpec{
			State: l.state, Roots: []string{l.project}, Paths: []string{l.path(path)}, Later: true, Session: "s", Call: call,
		})
		must(t, err)
		if string(r.Text(l.path(path))) != before {
			t.Errorf("%s was %q", path, r.Text(l.path(path)))
		}
		r.Leave()
	}
	want := func(when string, n int) {
		t.Helper()
		if all, err := Records(l.state); err != nil || len(all) != n {
			t.Errorf("%s there are %+v, %v", when, all, err)
		}
	}
	remember("1", "a")
	remember("2", "b")
	remember("1", "a") // asked about twice, without a write in between
	l.write(t, "a", numbers(9, map[int]string{3: "kept\n"}))
	l.recoverAll(t, nil)
	want("before it has ended", 0)
	must(t, SealCall(t.Context(), l.state, "s", "1"))
	must(t, SealCall(t.Context(), l.state, "s", "1"))
	must(t, SealCall(t.Context(), l.state, "s", "3"))
	want("after it has ended", 1)
	l.settleAll(t)
	want("without a change", 1)
	put(t, l.path("b"), "other\n")
	l.settleAll(t)
	want("when a person asks", 2)
	l.undoAll(t)
	if l.read(t, "a") != before || l.read(t, "b") != before {
		t.Errorf("they are %q, %q", l.read(t, "a"), l.read(t, "b"))
	}
	remember("4", "a")
	must(t, SealCall(t.Context(), l.state, "s", "4"))
	if left, err := filepath.Glob(filepath.Join(l.state, keptFolder, "*", pendingFile)); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// A crash may leave the pending file in a complete record. Such a record is not sealed
// again, so it does not claim later writes of others.
func TestRecordIsSealedOnce(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "a", "one\n")
	var pending []byte
	first := l.record(t, false, []string{l.path("a")}, func(r *Recording) {
		var err error
		pending, err = os.ReadFile(filepath.Join(r.record, pendingFile))
		must(t, err)
		must(t, os.Remove(l.path("a"))) // it does not announce its write
		l.write(t, "a", "two\x00\n")    // nor is it text
	})
	must(t, os.WriteFile(filepath.Join(l.state, keptFolder, first.ID, pendingFile), pending, 0o600))
	l.record(t, false, []string{l.path("a")}, func(r *Recording) { replaceFile(t, r, l.path("a"), "three\n") })
	l.settleAll(t)
	l.mustUndo(t)
	if got := l.read(t, "a"); got != "two\x00\n" {
		t.Errorf("it is %q", got)
	}
	l.mustUndo(t)
	if got := l.read(t, "a"); got != "one\n" {
		t.Errorf("it is %q", got)
	}
}

// A call that never reported its end gets no record of changes that other calls or undos
// made meanwhile.
func TestRecordForLaterOfOthersChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *lab){
		"written": func(l *lab) {
			l.record(t, false, []string{l.path("a")}, func(r *Recording) { replaceFile(t, r, l.path("a"), "three\n") })
		},
		"written in place": func(l *lab) {
			l.record(t, true, []string{l.path("a")}, func(*Recording) { put(t, l.path("a"), "three\n") })
		},
		"deleted": func(l *lab) {
			l.record(t, false, []string{l.path("a")}, func(*Recording) { must(t, os.Remove(l.path("a"))) })
		},
		"changed in its mode": func(l *lab) {
			l.record(t, true, []string{l.path("a")}, func(*Recording) { must(t, os.Chmod(l.path("a"), 0o600)) })
		},
		"taken back": func(l *lab) { l.mustUndo(t) },
	} {
		l := newPlainLab(t)
		l.write(t, "a", "one\n")
		before := describeTree(t, l.project)
		l.record(t, true, []string{l.path("a")}, func(*Recording) { put(t, l.path("a"), "two\n") })
		r, err := Record(t.Context(), RecordSpec{
			State: l.state, Roots: []string{l.project}, Paths: []string{l.path("a"), l.path("b")}, Later: true, Session: "s", Call: "late",
		})
		must(t, errors.Join(err, r.Expect(l.path("a"), []byte("four\n"))))
		r.Leave()
		change(l)
		for l.settleAll(t); ; l.settleAll(t) {
			open, err := Undoable(l.state, l.project)
			must(t, err)
			if len(open) == 0 {
				break
			}
			if open[0].Call == "late" {
				t.Fatalf("%s: a call that wrote nothing has the record %+v", name, open[0])
			}
			l.mustUndo(t)
		}
		wantTree(t, name, describeTree(t, l.project), before)
		l.write(t, "b", "b\n")
		must(t, SealCall(t.Context(), l.state, "s", "late"))
		open, err := Undoable(l.state, l.project)
		must(t, err)
		if len(open) != 1 || len(open[0].Changes) != 1 || open[0].Changes[0].Path != l.path("b") {
			t.Errorf("%s: it wrote b and nothing else, and its record is %+v", name, open)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, inPlace := range []bool{false, true} {
		b.Run(fmt.Sprint("in place ", inPlace), func(b *testing.B) {
			l := newPlainLab(b)
			l.write(b, "a", numbers(200, nil))
			var began, sealed time.Duration
			for i := range b.N {
				start := time.Now()
				r, err := Record(b.Context(), RecordSpec{
					State: l.state, Roots: []string{l.project}, Paths: []string{l.path("a")}, Later: inPlace,
					Call: umpire.CallID(fmt.Sprint(i)),
				})
				must(b, err)
				began += time.Since(start)
				replaceFile(b, r, l.path("a"), fmt.Sprint(i))
				start = time.Now()
				_, err = r.Seal(b.Context())
				must(b, err)
				sealed += time.Since(start)
			}
			b.ReportMetric(float64(began.Microseconds())/float64(b.N), "µs/record")
			b.ReportMetric(float64(sealed.Microseconds())/float64(b.N), "µs/seal")
		})
	}
}

// TestKeepAfterUnreportedWrite: a write whose end no host reported can be undone, even after a kept trial
// has deleted the file.
func TestKeepAfterUnreportedWrite(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write(t, "mine", "old")
	r, err := Record(t.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Paths: []string{l.path("mine")}, Later: true, Session: "s", Call: "lost",
	})
	must(t, err)
	r.Leave()
	l.write(t, "mine", "written")
	layer, effects, _ := l.try(t, func(dir string) { must(t, os.Remove(filepath.Join(dir, "mine"))) })
	kept := l.mustKeep(t, layer, &effects)
	l.settleAll(t)
	all, err := Records(l.state)
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("there are %+v", all)
	}
	l.mustUndoID(t, kept.ID)
	if text := l.read(t, "mine"); text != "written" {
		t.Errorf("after the first undo it holds %q", text)
	}
	for _, k := range all {
		if k.ID != kept.ID {
			l.mustUndoID(t, k.ID)
		}
	}
	if text := l.read(t, "mine"); text != "old" {
		t.Errorf("after the second undo it holds %q", text)
	}
}

// TestCallsNamedAsRecords checks that a record's id means that record, even if a call has
// the same name. Agents choose the names of calls.
func TestCallsNamedAsRecords(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	write := func(name, text string) func(*Recording) {
		return func(r *Recording) { replaceFile(t, r, l.path(name), text) }
	}
	must(t, errors.Join(os.WriteFile(l.path("a"), []byte("a"), 0o644), os.WriteFile(l.path("b"), []byte("b"), 0o644)))
	shown := l.record(t, true, []string{l.path("a")}, write("a", "written"))
	r, err := Record(t.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Paths: []string{l.path("b")}, Later: true, Command: "Write",
		Call: umpire.CallID(shown.ID),
	})
	must(t, err)
	write("b", "written")(r)
	_, err = r.Seal(t.Context())
	must(t, err)
	undone, err := Undo(t.Context(), UndoSpec{State: l.state, ID: shown.ID})
	must(t, err)
	if a, b := l.read(t, "a"), l.read(t, "b"); a != "a" || b != "written" {
		t.Errorf("%v was taken back: a holds %q, b holds %q", undone, a, b)
	}
}
