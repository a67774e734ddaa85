package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// A fakeUndo has undoable calls.
type fakeUndo struct {
	all   []Undo
	taken []string
	err   error
}

func (f *fakeUndo) Undoable(context.Context) ([]Undo, error) { return f.all, f.err }

func (f *fakeUndo) Undo(_ context.Context, id string) (again string, said []string, err error) {
	f.taken = append(f.taken, id)
	return "u-" + id, []string{"Took back " + id}, f.err
}

// TestUndo: the only call of the session is undone at once, or one of several after a choice.
// Calls of other sessions are not offered.
func TestUndo(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 100, 24)
	d.press("/undo", "enter")
	d.sees("nothing to undo in this session")
	undo := &fakeUndo{all: []Undo{
		{ID: "c3", Call: "w3", Session: "s1", At: begun.Add(-time.Minute), Command: "Edit a.txt", Paths: []string{"a.txt"}},
		{ID: "c2", Call: "w2", Session: "other", Command: "Write b.txt", Paths: []string{"b.txt"}},
	}}
	d.m.conf.Undo = undo
	d.press("/undo", "enter")
	d.sees("Took back c3", "To redo it: /undo u-c3")
	undo.all = append(undo.all, Undo{ID: "c1", Call: "w1", Session: "s1", At: begun, Command: "Write new/x", Paths: []string{"new", "new/x"}})
	d.press("/undo", "enter")
	d.sees("Changes of this session you can undo", "Edit a.txt", "Write new/x", "new new/x", "Enter: undo")
	d.press("down", "enter")
	d.sees("Took back c1")
	d.press("/undo u-c1", "enter")
	d.sees("Took back u-c1")
	if len(undo.taken) != 3 || undo.taken[1] != "c1" {
		t.Errorf("it took back %q", undo.taken)
	}
	undo.err = errors.New("somebody else has changed a.txt")
	d.press("/undo c3", "enter")
	d.sees("somebody else has changed a.txt")
}

// TestTimelineNamesUndo: the timeline marks the undoable changes.
func TestTimelineNamesUndo(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 100, 24)
	d.m.conf.Undo = &fakeUndo{all: []Undo{{ID: "c3", Call: "w3", Session: "s1"}}}
	for i, call := range []umpire.CallID{"w2", "w3"} {
		d.tell(watchMsg{umpire.Event{Seq: int64(i + 1), Session: "s1", Kind: umpire.EventCallFinished, Tool: "Write", Call: call}})
	}
	d.press("/timeline", "enter")
	d.sees("you can undo: /undo c3")
}
