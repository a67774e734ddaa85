package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// reported is a report of something that a person kept outside any session.
func reported(d *testGate, id string) umpire.TrialSettlement {
	return umpire.TrialSettlement{
		State: umpire.TrialKept, Paths: []string{d.file("a.txt")},
		Record: &umpire.TrialRecord{
			ID: id, Dir: d.project, Command: "npm test", Changes: 1, At: time.Now(), By: umpire.Actor{Name: "ann"},
		},
	}
}

// The timeline of a project has one event for everything that a person keeps, discards or undoes
// outside any session, however often it is reported.
func TestReportRecord(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	undone, dropped := reported(d, "u2"), reported(d, "trial-3")
	undone.Record.Undoes = "trial-1"
	dropped.State, dropped.Reason = umpire.TrialDiscarded, "nobody wanted it"
	gone := reported(d, "trial-4")
	gone.Record.Dir = "/nowhere/at/all"
	all := []umpire.TrialSettlement{reported(d, "trial-1"), undone, dropped, gone, reported(d, "trial-1"), dropped}
	for _, s := range all {
		if _, err := d.trials.Settle(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range must(d.Events(t.Context(), umpire.Filter{}))(t) {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Actor, " ", e.Project != "", " ", e.Session, e.Reason))
	}
	want := []string{
		`EffectsKept ann true npm test; paths changed: 1`, `Undone ann true npm test; paths changed: 1`,
		`EffectsDiscarded ann true nobody wanted it`, `EffectsKept ann true npm test; paths changed: 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the timeline has\n%s", strings.Join(got, "\n"))
	}
}

// Several processes that report the same at once leave one event.
func TestReportRecordAtOnce(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := d.trials.Settle(t.Context(), reported(d, "trial-1")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if events := must(d.Events(t.Context(), umpire.Filter{}))(t); len(events) != 1 {
		t.Errorf("the timeline has %d events", len(events))
	}
}

// An incomplete record, or one that belongs to a session, is rejected.
func TestReportRecordInvalid(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for name, spoil := range map[string]func(*umpire.TrialSettlement){
		"no id":     func(s *umpire.TrialSettlement) { s.Record.ID = "" },
		"no time":   func(s *umpire.TrialSettlement) { s.Record.At = time.Time{} },
		"a session": func(s *umpire.TrialSettlement) { s.Session = "s1" },
		"conflict":  func(s *umpire.TrialSettlement) { s.State = umpire.TrialConflict },
		"paths":     func(s *umpire.TrialSettlement) { s.Paths = slices.Repeat([]string{"x"}, maxListedPaths+1) },
	} {
		s := reported(d, "trial-1")
		spoil(&s)
		if _, err := d.trials.Settle(t.Context(), s); !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
