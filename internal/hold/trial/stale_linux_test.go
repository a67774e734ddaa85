package trial

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// TestStaleRecordStopsNothing damages one project and the record of its call in various ways. Another project
// must still be recovered, kept and undone, and the damaged record is reported until it is forgotten.
func TestStaleRecordStopsNothing(t *testing.T) {
	t.Parallel()
	remove := func(t *testing.T, l *lab, _ string) { must(t, os.RemoveAll(l.project)) }
	for name, damage := range map[string]func(t *testing.T, l *lab, record string){
		"the project is gone": remove,
		"the project is another folder": func(t *testing.T, l *lab, record string) {
			must(t, os.Rename(l.project, l.project+".old"))
			must(t, os.Mkdir(l.project, 0o755))
		},
		"the project is a file": func(t *testing.T, l *lab, record string) {
			remove(t, l, record)
			must(t, os.WriteFile(l.project, nil, 0o600))
		},
		"the project is a link": func(t *testing.T, l *lab, record string) {
			must(t, os.Rename(l.project, l.project+".old"))
			must(t, os.Symlink(l.project+".old", l.project))
		},
		"the project is a link that leads nowhere": func(t *testing.T, l *lab, record string) {
			remove(t, l, record)
			must(t, os.Symlink("none", l.project))
		},
		"the project is on another device": func(t *testing.T, l *lab, record string) {
			remove(t, l, record)
			must(t, os.Symlink("/proc/self", l.project))
		},
		"the folder above it is a file": func(t *testing.T, l *lab, record string) {
			must(t, os.RemoveAll(filepath.Dir(l.project)))
			must(t, os.WriteFile(filepath.Dir(l.project), nil, 0o600))
		},
		"the record is damaged": func(t *testing.T, l *lab, record string) {
			must(t, os.WriteFile(filepath.Join(record, pendingFile), []byte(`{"version":1,"id":`), 0o600))
		},
		"the record is of a later version": func(t *testing.T, l *lab, record string) {
			must(t, os.WriteFile(filepath.Join(record, pendingFile), []byte(`{"version":99}`), 0o600))
		},
		"the record is whole and damaged": func(t *testing.T, l *lab, record string) {
			must(t, SealCall(t.Context(), l.state, "s", "stale"))
			must(t, os.WriteFile(filepath.Join(record, journalFile), []byte("{"), 0o600))
		},
		"the record cannot be read": func(t *testing.T, l *lab, record string) {
			must(t, os.Remove(filepath.Join(record, pendingFile)))
			must(t, os.Mkdir(filepath.Join(record, pendingFile), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			stale := &lab{project: filepath.Join(dir, "above", "a"), state: filepath.Join(dir, "state")}
			other := &lab{project: filepath.Join(dir, "b"), state: stale.state}
			for _, folder := range []string{stale.project, other.project, stale.state} {
				must(t, os.MkdirAll(folder, 0o755))
			}
			leave := func(l *lab, call string) string {
				r, err := Record(t.Context(), RecordSpec{State: l.state, Roots: []string{l.project}, Paths: []string{l.path("x")},
					Later: true, Session: "s", Call: umpire.CallID(call)})
				must(t, err)
				r.Leave()
				must(t, os.WriteFile(l.path("x"), []byte("x"), 0o644))
				return r.record
			}
			record := leave(stale, "stale")
			damage(t, stale, record)
			leave(other, "other")

			must(t, Recover(t.Context(), other.state, nil))
			must(t, SealCall(t.Context(), other.state, "s", "other"))
			must(t, Settle(t.Context(), other.state))
			must(t, collect(other.state, UndoLimits{Bytes: 1 << 20, Age: time.Hour}, time.Now()))
			if _, err := Unreported(other.state); err != nil {
				t.Error(err)
			}
			other.mustUndo(t)
			if _, err := os.Stat(other.path("x")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the call in the other project was not taken back: %v", err)
			}

			id := filepath.Base(record)
			isStale := func() bool {
				all, err := FindUnfinished(t.Context(), other.state, nil)
				must(t, err)
				if len(all) > 1 {
					t.Errorf("unfinished are %+v", all)
				}
				return slices.ContainsFunc(all, func(u Unfinished) bool { return u.ID == id && u.Err != nil })
			}
			for range 2 {
				if !isStale() {
					t.Error("the record is not named")
				}
			}
			must(t, Forget(other.state, id))
			if isStale() {
				t.Error("the record was forgotten, and is named")
			}
		})
	}
}

// TestStaleRecordsGoByAge checks that a call's record that can never be sealed is removed
// when its time is over, and that one that may still be finished is not.
func TestStaleRecordsGoByAge(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	r, err := Record(t.Context(), RecordSpec{State: l.state, Roots: []string{l.project}, Paths: []string{l.path("x")}, Later: true, Call: "c"})
	must(t, err)
	r.Leave()
	limits := UndoLimits{Bytes: 1 << 20, Age: time.Hour}
	must(t, collect(l.state, limits, time.Now()))
	if _, err := os.Stat(r.record); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		must(t, collect(l.state, limits, time.Now().Add(2*time.Hour)))
		if _, err := os.Stat(r.record); errors.Is(err, os.ErrNotExist) {
			return
		}
		<-time.After(time.Millisecond) // a program that another test starts has the lock until its exec
	}
	t.Error("the record is still there")
}
