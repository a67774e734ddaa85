package trial

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Only a discard is reported, even if a crash has left its layer behind.
func TestUnreportedDiscard(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	hold := func(name string, h Held) *Held {
		layer, effects, _ := l.try(t, func(dir string) { put(t, filepath.Join(dir, name), "new") })
		h.ID, h.Root, h.Command, h.Layer, h.Effects = filepath.Base(layer.Dir), l.project, name, *layer, effects
		must(t, Hold(l.state, &h))
		return &h
	}
	began := time.Now()
	discarded, crashed := hold("one", Held{Time: began}), hold("two", Held{Time: began.Add(-heldAge)})
	known := hold("three", Held{Time: began, Trial: "t3"})
	must(t, discarded.Discard(l.state))
	must(t, known.Discard(l.state))
	must(t, os.Chtimes(heldFile(l.state, crashed.ID), began, began))
	must(t, os.Rename(heldFile(l.state, crashed.ID), discardedFile(l.state, crashed.ID)))

	due, err := Unreported(l.state)
	must(t, err)
	reasons := map[string]string{}
	for i := range due {
		r := due[i].Record
		reasons[r.Command] = due[i].Reason
		if due[i].State != umpire.TrialDiscarded || r.Dir != l.project || r.Changes != 1 || r.At.Before(began.Add(-time.Second)) {
			t.Errorf("it reports %+v of %+v", due[i], r)
		}
		must(t, MarkReported(l.state, r))
	}
	if reason, told := reasons["two"]; len(reasons) != 2 || reasons["one"] != "" || !told || reason == "" {
		t.Errorf("it reports %q", reasons)
	}
	if files.Exists(crashed.Layer.Dir, stampFile) {
		t.Error("the layer of a discarded trial is there")
	}
	left, err := Unreported(l.state)
	must(t, err)
	if held, err := HeldTrials(l.state); len(left) != 0 || len(held) != 0 || err != nil {
		t.Errorf("%d are left to report, and %d wait: %v", len(left), len(held), err)
	}
}
