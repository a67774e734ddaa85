package gate

import (
	"errors"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestNothingIsRecordedWithoutAStore: when the database is away, a change fails with an error that
// says it was not recorded, and can be retried.
func TestNothingIsRecordedWithoutAStore(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	b := d.submit(s, "m1", command("c1", "npm install x"), command("c2", "ls"))
	answer := answerTo(d.pending("c1"), umpire.Approve)
	if err := d.be.store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"Resolve": func() error { _, err := d.Resolve(t.Context(), answer); return err },
		"Submit": func() error {
			_, err := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m2", Calls: []umpire.Call{command("c3", "ls")}})
			return err
		},
		"Start": func() error {
			_, err := d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: b.ID, Call: "c1"})
			return err
		},
		"Finish": func() error {
			_, err := d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: b.ID, Call: "c1", Status: umpire.ResultOK})
			return err
		},
		"Prompt": func() error {
			_, err := d.conversations.Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: "t"})
			return err
		},
		"End": func() error { return d.sessions.End(t.Context(), s.ID, "") },
	} {
		if err := try(); !errors.Is(err, umpire.ErrNotRecorded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
