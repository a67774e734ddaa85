package sqlite

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func TestSmoke(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x", "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b := umpire.Batch{ID: "b", Session: "s", State: umpire.BatchWaiting, Calls: []umpire.BatchCall{
		{ID: "c1", Tool: "Bash", Input: json.RawMessage(`{}`), ArgsHash: "h1", State: umpire.CallAsked, Effect: umpire.EffectUnknown},
		{ID: "c2", Tool: "Bash", Input: json.RawMessage(`{}`), ArgsHash: "h2", State: umpire.CallApproved, Effect: umpire.EffectPure, Verdict: umpire.Allow},
	}}
	must(s.Update(t.Context(), func(tx *store.Tx) error {
		must(tx.InsertSession(umpire.Session{ID: "s", Project: "p", IsRoot: true, ActiveAt: now, CreatedAt: now}))
		must(tx.InsertBatch(b, 1, []store.CallRow{
			{Session: "s", Batch: "b", ID: "c1", Ordinal: 0, Input: store.Sealed{Shown: "{}"}, ArgsHash: "h1", Turn: 1},
			{Session: "s", Batch: "b", ID: "c2", Ordinal: 1, Input: store.Sealed{Shown: "{}"}, ArgsHash: "h2", Turn: 1},
		}, now))
		must(tx.InsertAsk(store.AskRow{Request: "r", Session: "s", Batch: "b", Call: "c1", Round: 1, ArgsHash: "h1", Shown: json.RawMessage("{}"), AskedAt: now}))
		after := b
		after.Calls = append([]umpire.BatchCall(nil), b.Calls...)
		after.Calls[0].Request, after.Calls[0].Round = "r", 1
		must(tx.SaveBatch(b, after))
		b = after
		_, err := tx.Append(umpire.Event{Kind: "X", Session: "s", At: now, Data: json.RawMessage(`{"b":1,"a":"<"}`), Verdict: new(umpire.Ask)})
		return err
	}))
	must(s.Update(t.Context(), func(tx *store.Tx) error {
		ss, err := tx.LockSession("s")
		must(err)
		must(tx.InsertAnswer(store.AnswerRow{Standing: umpire.Standing{Request: "r", Choice: umpire.Refuse, Code: umpire.CodeDenied, At: now}, ArgsHash: "h1"}))
		must(tx.CloseAsk("r", store.AskAnswered))
		must(tx.InsertResult(store.ResultRow{Session: "s", Call: "c1", Status: umpire.ResultDenied, Output: store.Sealed{Shown: ""}}))
		must(tx.InsertResult(store.ResultRow{Session: "s", Call: "c2", Status: umpire.ResultError, Output: store.Sealed{Shown: "x\x00\xff"}}))
		after := b
		after.Calls = append([]umpire.BatchCall(nil), b.Calls...)
		after.State, after.Resumes = umpire.BatchFinished, 1
		after.Calls[0].State = umpire.CallDone
		after.Calls[1].State = umpire.CallDone
		must(tx.SaveBatch(b, after))
		must(tx.ClaimResume("s", "b", 1, now))
		must(tx.DeliverResume("s", "b", now))
		ss.State = umpire.SessionIdle
		ss.Project = "p"
		must(tx.SaveSession(ss))
		_, err = tx.DeniedInTurn("s", 1, "h1")
		must(err)
		_, err = tx.Append(umpire.Event{Kind: "X", Session: "s", At: now})
		return err
	}))
	must(s.View(t.Context(), func(tx *store.Tx) error {
		h, err := tx.Horizon()
		must(err)
		got, err := tx.Batch("s", "b")
		must(err)
		ev, err := tx.Events(umpire.Filter{Session: "s"})
		must(err)
		id, err := tx.LastRoot("p")
		t.Logf("%d %+v\n%+v %s", h, got, ev, id)
		return err
	}))
	if br, err := s.Verify(t.Context()); err != nil || len(br) > 0 {
		t.Fatal(br, err)
	}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		err := tx.InsertAnswer(store.AnswerRow{Standing: umpire.Standing{Request: "r", Choice: umpire.Approve, At: now}, ArgsHash: "h1"})
		if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
		return err
	})
	t.Log(err)
	must(s.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteSession("s") }))
	must(s.View(t.Context(), func(tx *store.Tx) error {
		_, err := tx.LastRoot("p")
		if !errors.Is(err, umpire.ErrNotFound) {
			t.Error(err)
		}
		return nil
	}))
}
