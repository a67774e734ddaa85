package storetest

import (
	"encoding/json"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

func executions(b *bench) {
	b.session("s")
	b.play("s", "b", func(p *play) error { return p.submit("", pure("c1"), approved("c2")) })
	want := store.ExecutionRow{
		Session: "s", Call: "c1", Attempt: 1, Effect: umpire.EffectPure, Epoch: 2, Runner: "host", Group: 77,
		Before: json.RawMessage(`{"a": 1}`), At: b.later(),
	}
	start := func(e store.ExecutionRow) func(*play) error {
		return func(p *play) error {
			return p.event(umpire.EventCallStarted, e.Call, "", batch.Started{Attempt: e.Attempt}, func() error {
				return p.tx.Executions.Insert(e)
			})
		}
	}
	b.view(func(tx *store.Tx) error {
		if _, err := tx.Executions.GetLast("s", "c1"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Execution of a call that was not started: %v", err)
		}
		return nil
	})
	for range 2 {
		b.play("s", "b", start(want))
		b.view(func(tx *store.Tx) error {
			got, err := tx.Executions.GetLast("s", "c1")
			if diff := cmp.Diff(want, got); diff != "" {
				b.Errorf("Execution (-want +got):\n%s", diff)
			}
			return err
		})
		want.Attempt, want.Before = 2, nil
	}
	result := store.ResultRow{
		Session: "s", Call: "c1", Status: umpire.ResultOK, Code: umpire.CodeSafe,
		Output: store.Sealed{Shown: "out ***", Exact: []byte("sealed")}, At: b.later(),
	}
	b.play("s", "b", func(p *play) error {
		if err := p.event(umpire.EventCallFinished, "c1", "", batch.Finished{Status: umpire.ResultOK}); err != nil {
			return err
		}
		return p.tx.Results.Insert(result)
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Results.Get("s", "c1")
		if diff := cmp.Diff(result, got); diff != "" {
			b.Errorf("Result (-want +got):\n%s", diff)
		}
		if _, err := tx.Results.Get("s", "c2"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Result of a call that has none: %v", err)
		}
		return err
	})
	result.Status = umpire.ResultError
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Results.Insert(result) })
	result.Call, result.Status = "c2", umpire.ResultOK
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Results.Insert(result) }) // it never ran
	once := store.ExecutionRow{Session: "s", Call: "c2", Attempt: 1, Effect: umpire.EffectUnknown}
	b.play("s", "b", start(once))
	once.Attempt = 2
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Executions.Insert(once) })
}

func resumes(b *bench) {
	b.session("s")
	b.play("s", "b", func(p *play) error { return p.submit("", plan{"c1", umpire.CallDenied, umpire.EffectUnknown}) })
	claim := func(epoch int64) func(*store.Tx) error {
		return func(tx *store.Tx) error { return tx.Resumes.Claim("s", "b", epoch, b.now) }
	}
	deliver := func(tx *store.Tx) error { return tx.Resumes.Deliver("s", "b", b.now) }
	b.refuse(store.ErrConflict, claim(1)) // a call has no result
	b.play("s", "b", func(p *play) error {
		return all(func() error { return p.finish("c1", umpire.ResultDenied) }, p.end)
	})
	b.refuse(umpire.ErrNotFound, deliver)
	b.update(claim(2))
	want := store.ResumeRow{Session: "s", Batch: "b", Epoch: 2, ClaimedAt: b.now}
	b.resume(want)
	b.later()
	b.refuse(store.ErrConflict, claim(2))
	b.refuse(store.ErrConflict, claim(1))
	b.resume(want)
	b.update(claim(3))
	want.Epoch = 3
	b.resume(want)
	b.update(deliver)
	want.DeliveredAt = b.now
	b.resume(want)
	b.refuse(store.ErrConflict, deliver)
	b.refuse(store.ErrConflict, claim(4))
	b.resume(want)
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Resumes.Claim("s", "none", 1, b.now) })
}

func (b *bench) resume(want store.ResumeRow) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		got, err := tx.Resumes.Get("s", "b")
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("Resume (-want +got):\n%s", diff)
		}
		return err
	})
}

func conversations(b *bench) {
	b.session("s")
	b.session("other")
	want := []store.MessageRow{
		{N: 1, Role: "user", Content: store.Sealed{Shown: `{"text":"***"}`, Exact: []byte{1}}, At: b.later()},
		{N: 2, Role: "assistant", Batch: "b", Content: store.Sealed{Shown: `{}`}, At: b.later()},
	}
	for _, m := range want {
		b.update(func(tx *store.Tx) error { return tx.Messages.Append("s", m) })
	}
	b.view(func(tx *store.Tx) error {
		got, err := tx.Messages.List("s")
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("Messages (-want +got):\n%s", diff)
		}
		none, err2 := tx.Messages.List("other")
		if len(none) > 0 {
			b.Errorf("Messages of another session: %v", none)
		}
		return orElse(err, func() error { return err2 })
	})
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error {
		return tx.Messages.Append("none", store.MessageRow{})
	})
}

func prompts(b *bench) {
	b.session("s")
	want := []store.PromptRow{
		{N: 1, Text: store.Sealed{Shown: "first ***", Exact: []byte{1}}, At: b.later()},
		{N: 2, Text: store.Sealed{Shown: "second"}, At: b.later()},
	}
	for range 2 {
		for _, p := range want {
			b.update(func(tx *store.Tx) error {
				n, err := tx.Prompts.Queue("s", p)
				if n != p.N {
					b.Errorf("Prompts.Queue = %d, want %d", n, p.N)
				}
				return err
			})
		}
		for _, want := range [][]store.PromptRow{want, nil} {
			b.update(func(tx *store.Tx) error {
				got, err := tx.Prompts.Take("s")
				if diff := cmp.Diff(want, got); diff != "" {
					b.Errorf("Prompts.Take (-want +got):\n%s", diff)
				}
				return err
			})
		}
	}
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error {
		_, err := tx.Prompts.Queue("none", store.PromptRow{})
		return err
	})
}

// anyBytes checks that inputs, outputs, messages and prompts are stored unchanged, and
// all else as valid text.
func anyBytes(b *bench) {
	const bytes = "a\x00b\xff\xfec\u2028\U0001f600"
	const text = "a\ufffdb\ufffdc\u2028\U0001f600"
	b.update(func(tx *store.Tx) error {
		return tx.Sessions.Insert(umpire.Session{ID: "s", Agent: bytes, Dir: bytes})
	})
	b.play("s", "b", func(p *play) error { return p.submit("", plan{"c1", umpire.CallDenied, umpire.EffectUnknown}) })
	b.update(func(tx *store.Tx) error {
		result := store.ResultRow{Session: "s", Call: "c1", Status: umpire.ResultError,
			Output: store.Sealed{Shown: bytes, Exact: []byte(bytes)}}
		err := tx.Messages.Append("s", store.MessageRow{Role: bytes, Content: store.Sealed{Shown: bytes}})
		_, err2 := tx.Prompts.Queue("s", store.PromptRow{Text: store.Sealed{Shown: bytes}})
		return all(func() error { return tx.Results.Insert(result) }, func() error { return err },
			func() error { return err2 })
	})
	b.update(func(tx *store.Tx) error {
		s, err1 := tx.Sessions.Get("s")
		r, err2 := tx.Results.Get("s", "c1")
		m, err3 := tx.Messages.List("s")
		p, err4 := tx.Prompts.Take("s")
		if err := all(func() error { return err1 }, func() error { return err2 }, func() error { return err3 },
			func() error { return err4 }); err != nil {
			return err
		}
		for name, c := range map[string][2]string{
			"agent": {s.Agent, text}, "dir": {s.Dir, text}, "role": {m[0].Role, text},
			"output": {r.Output.Shown, bytes}, "exact": {string(r.Output.Exact), bytes},
			"message": {m[0].Content.Shown, bytes}, "prompt": {p[0].Text.Shown, bytes},
		} {
			if c[0] != c[1] {
				b.Errorf("%s = %q, want %q", name, c[0], c[1])
			}
		}
		return nil
	})
}
