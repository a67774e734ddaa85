package storetest

import (
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// foldAgrees takes batches through random events, several per transaction, and skips
// those that the fold refuses. The stored batch must match the fold.
func foldAgrees(b *bench) {
	rapid.Check(b.T, func(t *rapid.T) {
		id := umpire.SessionID(b.name("s"))
		b.session(id)
		size := rapid.SampledFrom([]int{1, 2, 3, 4, umpire.WholeBatch + 2}).Draw(t, "size")
		calls := rapid.SliceOfN(rapid.Custom(drawPlan), size, size).Draw(t, "calls")
		for i := range calls {
			calls[i].id = umpire.CallID(fmt.Sprint("c", i))
		}
		b.play(id, "b", func(p *play) error { return p.submit("", calls...) })
		for range rapid.IntRange(1, 12).Draw(t, "transactions") {
			events := rapid.SliceOfN(rapid.IntRange(0, len(moves)-1), 1, 4).Draw(t, "events")
			which := umpire.CallID(fmt.Sprint("c", rapid.IntRange(0, len(calls)-1).Draw(t, "call")))
			var folded umpire.Batch
			err := b.tryPlay(id, "b", func(p *play) error {
				for _, move := range events {
					if err := moves[move](p, which); err != nil && !errors.Is(err, batch.ErrIllegal) {
						return err
					}
				}
				folded = p.now
				return nil
			})
			if err != nil {
				t.Fatalf("the fold allows it, the store does not: %v", err)
			}
			b.sameAs(t, folded, which)
		}
	})
}

func drawPlan(t *rapid.T) plan {
	return plan{
		state: rapid.SampledFrom([]umpire.CallState{umpire.CallAsked, umpire.CallApproved, umpire.CallDenied}).Draw(t,
			"state"),
		effect: rapid.SampledFrom([]umpire.Effect{umpire.EffectUnknown, umpire.EffectPure}).Draw(t, "effect"),
	}
}

// moves are the possible events of a batch. The fold decides first, so a refused move
// stores nothing.
var moves = []func(*play, umpire.CallID) error{
	(*play).ask,
	func(p *play, c umpire.CallID) error { return p.answer(c, umpire.Approve) },
	func(p *play, c umpire.CallID) error { return p.answer(c, umpire.Refuse) },
	(*play).reject,
	func(p *play, _ umpire.CallID) error { return p.resume() },
	func(p *play, _ umpire.CallID) error { return p.resume() }, // twice as likely
	(*play).start,
	(*play).start,
	func(p *play, c umpire.CallID) error { return p.finish(c, umpire.ResultOK) },
	func(p *play, c umpire.CallID) error { return p.finish(c, umpire.ResultError) },
	(*play).lose,
	func(p *play, _ umpire.CallID) error { return p.cancel() },
	func(p *play, _ umpire.CallID) error { return p.end() },
	func(p *play, _ umpire.CallID) error { return p.deliver() },
	(*play).try,
	(*play).report,
	(*play).keep,
	(*play).discard,
	(*play).conflict,
}

// sameAs compares a batch with the stored one, except for the inputs, which events lack.
// It also compares the calls that matter to an event about one call.
func (b *bench) sameAs(t *rapid.T, want umpire.Batch, call umpire.CallID) {
	err := b.store.View(b.Context(), func(tx *store.Tx) error {
		got, err := tx.Batches.Get(want.Session, want.ID)
		for i := range got.Calls {
			got.Calls[i].Input = want.Calls[i].Input
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("fold (-) and store (+) differ:\n%s", diff)
		}
		part, around := batch.Around(&want, call, ""), umpire.Batch{}
		if err == nil {
			around, err = tx.Batches.GetAround(want.Session, want.ID, call)
		}
		for i := range around.Calls {
			around.Calls[i].Input = nil
		}
		for i := range part.Calls {
			part.Calls[i].Input = nil
		}
		if diff := cmp.Diff(part, around); diff != "" {
			t.Fatalf("around %s: fold (-) and store (+) differ:\n%s", call, diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
