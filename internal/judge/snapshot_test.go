package judge

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/policy"
)

// A world is a snapshot key with two files for its snapshot, one of them missing.
type world struct {
	place         SnapshotKey
	there, absent string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("snapshots are not made on this system")
	}
	w := &world{place: SnapshotKey{Dir: t.TempDir(), Home: t.TempDir(), UserHome: t.TempDir()}}
	old, err := filepath.EvalSymlinks("/bin/sh") // an old file, so it counts as settled
	if err != nil {
		t.Skip("no old file here:", err)
	}
	w.there, w.absent = old, filepath.Join(w.place.Home, "permissions.json")
	return w
}

func (w *world) take() (*Snapshot, error) {
	root, err := filepath.EvalSymlinks(w.place.Dir)
	return &Snapshot{
		SnapshotKey: w.place, Root: root, Settings: policy.Settings{Mode: umpire.ModeDefault, Hook: policy.HookSettings{Deadline: time.Minute}},
		Rules: []SnapshotRule{NewSnapshotRule(umpire.Rule{ID: "no", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make"}, Source: umpire.SourceUser, File: "/f", Line: 7})},
		Files: []SnapshotFile{{Path: w.there}, {Path: w.absent}},
	}, err
}

func (w *world) keep(t *testing.T) {
	t.Helper()
	if err := SaveSnapshot(w.place, w.take); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotIsReadAsItWasTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, ok := LoadSnapshot(w.place); ok {
		t.Error("there is one from the beginning")
	}
	w.keep(t)
	want, err := w.take()
	got, ok := LoadSnapshot(w.place)
	if err != nil || !ok {
		t.Fatalf("loaded: %t, %v", ok, err)
	}
	want.Files = got.Files
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	j, err := got.Judge()
	if err != nil {
		t.Fatal(err)
	}
	call := umpire.Call{Tool: "Bash", Dir: w.place.Dir, Input: json.RawMessage(`{"command":"make all"}`)}
	d := Decide(func() (*Judge, error) { return j, nil }, policy.Query{Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}, time.Now)
	if ref := (umpire.RuleRef{ID: "no", Source: umpire.SourceUser, File: "/f", Line: 7}); d.Verdict != umpire.Deny || d.Rule == nil || *d.Rule != ref {
		t.Errorf("decided %s by %+v", d.Verdict, d.Rule)
	}
}

// TestEveryFieldIsKept fails if a new field is not stored.
func TestEveryFieldIsKept(t *testing.T) {
	t.Parallel()
	want := &Snapshot{
		SnapshotKey: SnapshotKey{Dir: "/d", Home: "/h\n\"", UserHome: "/u"}, Root: "/r", Degraded: "a.json: broken",
		Settings: policy.Settings{
			Mode: umpire.ModeAsk, WarnOnly: true, AllowMedium: true, DenyExternal: true, Precedence: policy.DenyAllowAsk,
			Autonomy: policy.AutonomyHigh.Autonomy(), Destinations: []string{"a.example", "*.b.example"},
			Fetchers: []string{"npm"},
			RulesOff: []umpire.RuleID{"etc-passwd", "x"}, AddDirs: []string{"/a", "/b c"},
			Sandbox: policy.Sandbox{Mode: umpire.SandboxReadOnly, Network: true, Absent: true, Held: true, Missing: "m"},
			Hook: policy.HookSettings{Deadline: time.Minute, WhenAsked: policy.AskedNative, NeverRewrite: true,
				NoTurnLine: true, Observe: true},
		},
		Rules: []SnapshotRule{NewSnapshotRule(umpire.Rule{ID: "no", Tool: "Bash", Source: umpire.SourceUser, File: "/f", Line: 7})},
		Files: []SnapshotFile{{Path: "/x", Stamp: "1 2"}, {Path: "/y"}},
	}
	for _, f := range want.fields() {
		if f.at.IsZero() {
			t.Errorf("%s has no value here", f.name)
		}
	}
	data, err := want.marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSnapshotEndsWithAnyChange: a change of its files, its key or itself invalidates a snapshot.
func TestSnapshotEndsWithAnyChange(t *testing.T) {
	t.Parallel()
	file := func(w *world) string { return w.place.path() }
	for name, change := range map[string]func(w *world) error{
		"a file appears":         func(w *world) error { return os.WriteFile(w.absent, nil, 0o600) },
		"a folder appears":       func(w *world) error { return os.Mkdir(w.absent, 0o700) },
		"a link appears":         func(w *world) error { return os.Symlink("/dev/null", w.absent) },
		"another home":           func(w *world) error { w.place.UserHome = "/"; return nil },
		"others may write it":    func(w *world) error { return os.Chmod(file(w), 0o620) },
		"it is cut short":        func(w *world) error { return os.Truncate(file(w), 40) },
		"it is empty":            func(w *world) error { return os.Truncate(file(w), 0) },
		"it is of another place": func(w *world) error { return w.swap() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.keep(t)
			if err := change(w); err != nil {
				t.Fatal(err)
			}
			if _, ok := LoadSnapshot(w.place); ok {
				t.Error("it still holds")
			}
		})
	}
}

// swap moves the snapshot to the path of another folder's snapshot.
func (w *world) swap() error {
	before := w.place.path()
	w.place.Dir = filepath.Join(w.place.Dir, "sub")
	return errors.Join(os.Mkdir(w.place.Dir, 0o700), os.Rename(before, w.place.path()))
}

// TestStampTellsEveryChange, including one that resets the modification time.
func TestStampTellsEveryChange(t *testing.T) {
	t.Parallel()
	newWorld(t)
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	before, changed, err := files.Stamp(name)
	if err != nil || time.Since(changed) > time.Minute {
		t.Fatalf("%q, %v, %v", before, changed, err)
	}
	for until := before; until == before; { // the file system's clock advances in steps
		if err := os.WriteFile(name, []byte("b"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if until, _, err = files.Stamp(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoSnapshotOfWhatChanges: a file changed just now is not saved, nor is one that reads
// differently the second time.
func TestNoSnapshotOfWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(t)
	if err := os.Remove(w.place.path()); err != nil {
		t.Fatal(err)
	}
	calls := 0
	if err := SaveSnapshot(w.place, func() (*Snapshot, error) {
		s, err := w.take()
		calls++
		s.Mode += umpire.Mode(calls % 2)
		return s, err
	}); err == nil || calls != 2 {
		t.Errorf("after %d readings: %v", calls, err)
	}
	if err := os.WriteFile(w.absent, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := SaveSnapshot(w.place, w.take); err == nil {
		t.Error("one is made of a file of this moment")
	}
	if _, ok := LoadSnapshot(w.place); ok {
		t.Error("one is there")
	}
}

// TestSnapshotKnowsItsRoot: a folder that now belongs to another project is not judged by the
// rules of the previous one.
func TestSnapshotKnowsItsRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(t)
	s, ok := LoadSnapshot(w.place)
	if !ok {
		t.Fatal("none is there")
	}
	s.Root = filepath.Dir(s.Root)
	if _, err := s.Judge(); err == nil {
		t.Error("another root is taken for its own")
	}
}

// TestSnapshotHoldsAllThatDecides: a new field that affects decisions must be declared here,
// with whether snapshots store it.
func TestSnapshotHoldsAllThatDecides(t *testing.T) {
	t.Parallel()
	fields := func(of reflect.Type) (names []string) {
		for f := range of.Fields() {
			if f.IsExported() {
				names = append(names, f.Name)
			}
		}
		return names
	}
	want := []string{
		"Bounds", "Policy", "Degraded", "Home", "Programs", "Sandbox", "Code", "Written", "Git", "Shown", "Made",
	} // only the gate knows the agents' writes; the hook passes on calls that need Git, Shown or Made
	if diff := cmp.Diff(want, fields(reflect.TypeFor[Judge]())); diff != "" {
		t.Errorf("a judge has other fields:\n%s", diff)
	}
	want = []string{
		"Settings", "Root", "Home", "StateDir", "ControlFiles", "FoldCase",
	} // control files are hooks, which have no snapshot
	if diff := cmp.Diff(want, fields(reflect.TypeFor[policy.Options]())); diff != "" {
		t.Errorf("a policy has other options:\n%s", diff)
	}
}
