package storetest

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

func batchesComeBack(b *bench) {
	b.session("s")
	made := umpire.Batch{ID: "b", Session: "s", Lane: "lane", State: umpire.BatchWaiting, Calls: []umpire.BatchCall{
		{
			ID: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"***"}`), ArgsHash: "h1", Background: true,
			Effect: umpire.EffectUnknown,
			State:  umpire.CallAsked, Verdict: umpire.Ask, Reason: "why", Code: umpire.CodeMode,
		},
		{ID: "c2", Tool: "Read", Input: json.RawMessage(`{}`), ArgsHash: "h2", State: umpire.CallApproved,
			Verdict: umpire.Allow, Effect: umpire.EffectPure},
	}}
	rows := []store.CallRow{
		{
			Session: "s", Batch: "b", Ordinal: 0, ID: "c1", Tool: "Bash", ArgsHash: "h1", Dir: "/d", Agent: "a",
			Effect: umpire.EffectUnknown,
			Input:  store.Sealed{Shown: `{"command":"***"}`, Exact: []byte{0, 1, 2}},
			Extra:  json.RawMessage(`{"k":[1]}`), Turn: 7, Background: true,
		},
		{Session: "s", Batch: "b", Ordinal: 1, ID: "c2", Tool: "Read", ArgsHash: "h2", Input: store.Sealed{Shown: `{}`},
			Effect: umpire.EffectPure, Turn: 7},
	}
	b.update(func(tx *store.Tx) error { return tx.Batches.Insert(made, 7, rows, b.later()) })
	b.sameBatch(made)
	for _, want := range rows {
		b.view(func(tx *store.Tx) error {
			got, err := tx.Calls.Get("s", want.ID)
			if diff := cmp.Diff(want, got); diff != "" {
				b.Errorf("CallRow (-want +got):\n%s", diff)
			}
			return err
		})
	}
	b.play("s", "b", func(p *play) error {
		p.now.Calls[0].ArgsHash, p.now.Calls[1].ArgsHash = "h1", "h2"
		return p.reject("c2")
	})
	b.update(func(tx *store.Tx) error {
		return tx.Results.Insert(store.ResultRow{Session: "s", Call: "c2", Status: umpire.ResultDenied,
			Code: umpire.CodeDenied, Output: store.Sealed{Shown: "no", Exact: []byte("x")}, At: b.now})
	})
	made.Calls[1].State, made.Calls[1].Verdict = umpire.CallDenied, umpire.Deny
	made.Calls[1].Result = &umpire.Result{Call: "c2", Session: "s", Batch: "b", Status: umpire.ResultDenied,
		Code: umpire.CodeDenied, Output: "no", At: b.now}
	b.sameBatch(made)
	b.view(func(tx *store.Tx) error {
		if _, err := tx.Batches.Get("s", "none"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Batch of no batch: %v", err)
		}
		if _, err := tx.Batches.GetAround("s", "none", "c1"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Batch of no batch, around a call: %v", err)
		}
		if around, err := tx.Batches.GetAround("s", "b", "none"); err != nil || len(around.Calls) != 2 {
			b.Errorf("Batch around no call: %+v, %v", around, err)
		}
		if _, err := tx.Calls.Get("s", "none"); !is(err, umpire.ErrNotFound) {
			b.Errorf("CallRow of no call: %v", err)
		}
		return nil
	})
	b.refuse(umpire.ErrInvalid, func(tx *store.Tx) error { return tx.Batches.Insert(made, 1, rows[:1], b.now) })
}

// sameBatch checks that every way of reading an open batch returns it.
func (b *bench) sameBatch(want umpire.Batch) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		one, err1 := tx.Batches.Get(want.Session, want.ID)
		lane, err2 := tx.Batches.GetOpen(want.Session, want.Lane)
		around, err6 := tx.Batches.GetAround(want.Session, want.ID, want.Calls[0].ID)
		state, err7 := tx.Batches.GetState(want.Session, want.ID)
		if state != want.State {
			b.Errorf("GetState = %q, want %q", state, want.State)
		}
		every, err3 := tx.Batches.List(want.Session)
		open, err4 := tx.Batches.ListOpen(want.Session)
		for name, got := range map[string][]umpire.Batch{"Get": {one}, "GetOpen": {lane}, "List": every,
			"ListOpen": open, "GetAround": {around}} {
			if diff := cmp.Diff([]umpire.Batch{want}, got); diff != "" {
				b.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		waiting, goesOn, err5 := tx.Batches.OpenWork(want.Session)
		if on := want.State == umpire.BatchRunning || want.State == umpire.BatchFinished &&
			!want.Cancelled; waiting != want.Waiting() || goesOn != on {
			b.Errorf("Batches.OpenWork = %d, %t, want %d, %t", waiting, goesOn, want.Waiting(), on)
		}
		return all(func() error { return err1 }, func() error { return err2 }, func() error { return err3 },
			func() error { return err4 }, func() error { return err5 }, func() error { return err6 },
			func() error { return err7 })
	})
}

// done takes a batch with one call to the delivery of its results.
func done(id umpire.CallID) func(*play) error {
	return func(p *play) error {
		return all(
			func() error { return p.submit("", plan{id, umpire.CallDenied, umpire.EffectUnknown}) },
			func() error { return p.finish(id, umpire.ResultDenied) }, p.end, p.deliver,
		)
	}
}

func oneOpenBatch(b *bench) {
	b.session("s")
	b.play("s", "b1", done("c1"))
	b.play("s", "b2", func(p *play) error { return p.submit("", asked("c2")) })
	conflicts := map[string]func(*play) error{
		"another in the lane":   func(p *play) error { return p.submit("", asked("c9")) },
		"a call that was there": func(p *play) error { return p.submit("other", asked("c2")) },
	}
	for name, submit := range conflicts {
		if err := b.tryPlay("s", "b9", submit); !is(err, store.ErrConflict) {
			b.Errorf("%s: %v", name, err)
		}
	}
	again := func(p *play) error {
		p.now.State = "" // as if it had not been read
		return p.submit("third", asked("c9"))
	}
	if err := b.tryPlay("s", "b2", again); !is(err, store.ErrConflict) {
		b.Errorf("a batch that was there: %v", err)
	}
	b.play("s", "b3", func(p *play) error { return p.submit("other", asked("c3")) })
	b.session("t") // ids are unique only within their session
	b.play("t", "b2", func(p *play) error { return p.submit("", asked("c2")) })
	b.view(func(tx *store.Tx) error {
		every, err1 := tx.Batches.List("s")
		open, err2 := tx.Batches.ListOpen("s")
		if got := ids(every) + ids(open); got != "[b1 b2 b3][b2 b3]" {
			b.Errorf("Batches.List, Batches.ListOpen = %s", got)
		}
		lane, err3 := tx.Batches.GetOpen("s", "other")
		if lane.ID != "b3" {
			b.Errorf("Batches.GetOpen = %q", lane.ID)
		}
		if _, err := tx.Batches.GetOpen("s", "none"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Batches.GetOpen of an empty lane: %v", err)
		}
		return all(func() error { return err1 }, func() error { return err2 }, func() error { return err3 })
	})
}

func ids(batches []umpire.Batch) string {
	var found []umpire.BatchID
	for i := range batches {
		found = append(found, batches[i].ID)
	}
	return fmt.Sprint(found)
}

func saveCompares(b *bench) {
	b.session("s")
	b.play("s", "b", ways[umpire.CallApproved])
	var stale umpire.Batch
	b.view(func(tx *store.Tx) (err error) {
		stale, err = tx.Batches.Get("s", "b")
		return err
	})
	b.play("s", "b", func(p *play) error { return all(func() error { return p.reject("c2") }, p.cancel) })
	event := func(kind umpire.EventKind, call umpire.CallID) batch.Event {
		return batch.Event{Event: umpire.Event{Kind: kind, Session: "s", Batch: "b", Call: call, Reason: "why",
			At: b.now}}
	}
	for name, e := range map[string]batch.Event{
		"the call has changed":                   event(umpire.EventPermissionRejected, "c2"),
		"the batch has changed":                  event(umpire.EventBatchCancelled, ""),
		"the call is the same, the batch is not": event(umpire.EventPermissionRejected, "c1"),
	} {
		read := stale
		b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Batches.Apply(&read, e) })
		b.Log(name)
	}
	b.refuse(batch.ErrIllegal, func(tx *store.Tx) error {
		return tx.Batches.Apply(&stale, event(umpire.EventBatchFinished,
			""))
	})
}
