package storetest

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// sentTogether checks that a transaction has the same result with and without pipelining.
func sentTogether(b *bench) {
	b.session("s")
	message := func(tx *store.Tx, s umpire.SessionID) error {
		return tx.Messages.Append(s, store.MessageRow{Role: "user", At: b.now})
	}
	messages := func(tx *store.Tx) int {
		all, err := tx.Messages.List("s")
		if err != nil {
			b.Errorf("Messages: %v", err)
		}
		return len(all)
	}
	ahead := func(tx *store.Tx) { tx.Ahead(func() { messages(tx); _, _ = tx.Sessions.Get("none") }) }
	b.update(func(tx *store.Tx) error {
		ahead(tx)
		if n := messages(tx); n != 0 {
			b.Errorf("%d messages at first", n)
		}
		ahead(tx)
		return message(tx, "s")
	})
	b.update(func(tx *store.Tx) error {
		if _, err := tx.Sessions.Lock("s"); err != nil {
			return err
		}
		ahead(tx)
		if _, err := tx.Sessions.Get("s"); err != nil { // the reads ahead have been performed
			return err
		}
		err := message(tx, "s")
		if n := messages(tx); n != 2 {
			b.Errorf("%d messages after the second", n)
		}
		return err
	})
	b.update(func(tx *store.Tx) error {
		tx.Ahead(func() { _, _ = tx.Prompts.Take("s"); _, _ = tx.Sessions.Get("s") })
		if _, err := tx.Sessions.Get("s"); err != nil {
			return err
		}
		_, err := tx.Prompts.Queue("s", store.PromptRow{At: b.now})
		if got, err := tx.Prompts.Take("s"); err != nil || len(got) != 1 {
			b.Errorf("%d prompts wait: %v", len(got), err)
		}
		return err
	})
	for name, last := range map[string]func(tx *store.Tx) error{
		"the commit": func(*store.Tx) error { return nil },
		"a read":     func(tx *store.Tx) error { _, _ = tx.Sessions.Get("s"); return nil },
		"a write":    func(tx *store.Tx) error { return message(tx, "s") },
	} {
		err := b.store.Update(b.Context(), func(tx *store.Tx) error {
			for _, s := range []umpire.SessionID{"s", "none", "s"} {
				if err := message(tx, s); err != nil {
					return err
				}
			}
			return last(tx)
		})
		if !is(err, umpire.ErrNotFound) || !strings.Contains(err.Error(), `"none"`) {
			b.Errorf("a write that failed before %s: %v", name, err)
		}
	}
	const many = 1500
	b.update(func(tx *store.Tx) error {
		for range many {
			if err := message(tx, "s"); err != nil {
				return err
			}
		}
		return nil
	})
	b.view(func(tx *store.Tx) error {
		ahead(tx)
		if n := messages(tx); n != many+2 {
			b.Errorf("%d messages, want %d", n, many+2)
		}
		return nil
	})
}
