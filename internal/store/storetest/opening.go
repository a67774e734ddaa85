package storetest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func reopened(b *bench) {
	b.reach()
	want := b.events(umpire.Filter{})
	if err := b.store.Close(); err != nil {
		b.Fatal(err)
	}
	b.store = b.open()
	for _, s := range callStates {
		b.view(func(tx *store.Tx) error {
			got, err := tx.Batches.Get(umpire.SessionID(s), "b")
			if err == nil && got.Calls[0].State != s {
				b.Errorf("call c1 of %s is %s", s, got.Calls[0].State)
			}
			return err
		})
	}
	if got := b.events(umpire.Filter{}); len(got) != len(want) {
		b.Errorf("%d events, want %d", len(got), len(want))
	}
	b.play("approved", "b", func(p *play) error { return p.start("c1") })
	b.whole()
}

func openedAtOnce(b *bench) {
	db := b.fresh(b.T)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := db.Open(b.Context())
			if err != nil {
				b.Error(err)
				return
			}
			if err := s.Update(b.Context(), func(tx *store.Tx) error {
				_, err := tx.Events.Append(umpire.Event{Kind: "x", At: time.Now()})
				return err
			}); err != nil {
				b.Error(err)
			}
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.db = db
	b.store = b.open()
	b.whole()
}

func newerRefused(b *bench) {
	b.commit(`INSERT INTO schema_migrations (version, name) VALUES (99, 'later')`)
	s, err := b.db.Open(b.Context())
	if err == nil {
		_ = s.Close()
		b.Fatal("a database of a later version was opened")
	}
	if !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "newer program") {
		b.Errorf("the error does not say what to do: %v", err)
	}
}

func closed(b *bench) {
	changed := b.store.Changed()
	if err := b.store.Close(); err != nil {
		b.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(patience):
		b.Error("Close leaves those who wait for changes waiting")
	}
	ran := func(*store.Tx) error {
		b.Error("a function ran in a closed store")
		return nil
	}
	for name, do := range map[string]func(context.Context, func(*store.Tx) error) error{"Update": b.store.Update,
		"View": b.store.View} {
		if err := do(b.Context(), ran); err == nil || !strings.Contains(err.Error(), "closed") {
			b.Errorf("%s of a closed store: %v", name, err)
		}
	}
	if err := b.store.Close(); err != nil {
		b.Errorf("closing again: %v", err)
	}
}
