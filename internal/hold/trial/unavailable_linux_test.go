package trial

import (
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// TestWorksIsFoundOutOnce checks that a trial of a command that does nothing determines
// the result, before any user's command and for a day.
func TestWorksIsFoundOutOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	now := time.Now()
	works := func(place *sandbox.Place, root string, at time.Time) bool {
		t.Helper()
		return Works(t.Context(), place, b.spec.Place.State, root, at)
	}
	root := b.spec.Place.Workspace[0]
	nowhere := &sandbox.Place{Workspace: []string{"/proc/self"}, Home: b.spec.Place.Home, State: b.spec.Place.State}
	if !works(b.spec.Place, root, now) || !works(nowhere, root, now) {
		t.Error("a trial is possible, and that is not remembered")
	}
	if works(nowhere, "/proc/self", now) || works(b.spec.Place, "/proc/self", now) {
		t.Error("no trial is possible, and that is not remembered")
	}
	if !works(b.spec.Place, "/proc/self", now.Add(probeAge+time.Hour)) {
		t.Error("it is not looked again after a day")
	}
	if err := NoteUnavailable(b.spec.Place.State, root); err != nil || works(b.spec.Place, root, now) {
		t.Errorf("what a command has found does not count: %v", err)
	}
}
