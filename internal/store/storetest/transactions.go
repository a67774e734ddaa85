package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// errUndo makes a function's transaction roll back.
var errUndo = errors.New("undo this")

// patience is how long a test waits for an expected event.
const patience = 5 * time.Minute

// until waits until look returns true, calling it again after each change.
func (b *bench) until(s *store.Store, what string, look func(*store.Tx) (bool, error)) {
	b.Helper()
	deadline := time.After(patience)
	for {
		changed, found := s.Changed(), false
		err := s.View(b.Context(), func(tx *store.Tx) (err error) {
			found, err = look(tx)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		if found {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.Fatalf("waited too long: %s", what)
		}
	}
}

// exists reports whether a session exists.
func (b *bench) exists(id umpire.SessionID) bool {
	b.Helper()
	found := false
	b.view(func(tx *store.Tx) error {
		_, err := tx.Sessions.Get(id)
		found = err == nil
		if is(err, umpire.ErrNotFound) {
			err = nil
		}
		return err
	})
	return found
}

func open(id umpire.SessionID) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return tx.Sessions.Insert(umpire.Session{ID: id, Project: "p", IsRoot: true})
	}
}

func undone(b *bench) {
	err := b.store.Update(b.Context(), func(tx *store.Tx) error {
		if err := open("s")(tx); err != nil {
			return err
		}
		if _, err := tx.Sessions.Get("s"); err != nil {
			b.Errorf("a transaction does not see what it wrote: %v", err)
		}
		if _, err := tx.Events.Append(umpire.Event{Kind: "x", Session: "s", At: b.now}); err != nil {
			return err
		}
		return errUndo
	})
	if err != errUndo { //nolint:errorlint // the error of the function comes back as it is
		b.Errorf("Update: %v, want the error of the function", err)
	}
	if b.exists("s") || len(b.events(umpire.Filter{})) > 0 {
		b.Error("something was kept")
	}
	//nolint:errorlint // as above
	if err := b.store.View(b.Context(), func(*store.Tx) error { return errUndo }); err != errUndo {
		b.Errorf("View: %v, want the error of the function", err)
	}
	b.update(func(*store.Tx) error { return nil })
	b.view(func(*store.Tx) error { return nil })
}

func staysLost(b *bench) {
	b.session("s")
	b.refuse(store.ErrConflict, func(tx *store.Tx) error {
		if _, err := tx.Sessions.Get("none"); !is(err, umpire.ErrNotFound) {
			b.Errorf("Session: %v", err)
		}
		if err := open("before")(tx); err != nil { // not found is not a failure
			b.Errorf("after not found: %v", err)
		}
		if err := open("s")(tx); err != nil && !is(err, store.ErrConflict) { // or the next read reports it
			b.Errorf("a session that is there: %v", err)
		}
		if _, err := tx.Sessions.Get("s"); !is(err, store.ErrConflict) {
			b.Errorf("after a conflict: %v, want the conflict", err)
		}
		if err := open("after")(tx); !is(err, store.ErrConflict) {
			b.Errorf("after a conflict: %v, want the conflict", err)
		}
		return nil // the store must return the conflict anyway
	})
	if b.exists("before") || b.exists("after") {
		b.Error("something was kept")
	}
	var kept *store.Tx
	b.update(func(tx *store.Tx) error {
		kept = tx
		return nil
	})
	if _, err := kept.Sessions.Get("s"); err == nil {
		b.Error("a transaction outlived its function")
	}
	err := b.store.View(b.Context(), func(tx *store.Tx) error { return open("view")(tx) })
	if err == nil || b.exists("view") {
		b.Errorf("a view wrote: %v", err)
	}
}

// groupMember runs many concurrent updates, every third of which fails after its writes.
func groupMember(b *bench) {
	const updates = 30
	var wg sync.WaitGroup
	for i := range updates {
		wg.Go(func() {
			err := b.store.Update(b.Context(), func(tx *store.Tx) error {
				if err := open(umpire.SessionID(fmt.Sprint("s", i)))(tx); err != nil {
					return err
				}
				if _, err := tx.Events.Append(umpire.Event{Kind: "x", At: b.now}); err != nil {
					return err
				}
				if i%3 == 0 {
					return errUndo
				}
				return nil
			})
			if want := i%3 == 0; is(err, errUndo) != want || err != nil && !want {
				b.Errorf("update %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for i := range updates {
		if got, want := b.exists(umpire.SessionID(fmt.Sprint("s", i))), i%3 != 0; got != want {
			b.Errorf("session %d is there: %t, want %t", i, got, want)
		}
	}
	if n := len(b.events(umpire.Filter{})); n != updates/3*2 {
		b.Errorf("%d events, want %d", n, updates/3*2)
	}
	b.whole()
}

func doNotReturn(b *bench) {
	func() {
		defer func() {
			if recover() != "panic of the function" {
				b.Error("the panic was lost")
			}
		}()
		_ = b.store.Update(b.Context(), func(tx *store.Tx) error {
			_ = open("s")(tx)
			panic("panic of the function")
		})
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.store.Update(b.Context(), func(tx *store.Tx) error {
			_ = open("s")(tx)
			runtime.Goexit()
			return nil
		})
	}()
	<-ended
	func() {
		defer func() { _ = recover() }()
		_ = b.store.View(b.Context(), func(tx *store.Tx) error {
			_, _ = tx.Sessions.Get("s")
			panic("again")
		})
	}()
	if b.exists("s") {
		b.Error("something was kept")
	}
	b.update(open("t"))
	if !b.exists("t") {
		b.Error("the store does not go on")
	}
}

func giveUp(b *bench) {
	b.session("s")
	gone, cancel := context.WithCancel(b.Context())
	cancel()
	ran := false
	err := b.store.Update(gone, func(*store.Tx) error {
		ran = true
		return nil
	})
	if !is(err, context.Canceled) || ran {
		b.Errorf("Update after its caller gave up: %v, ran: %t", err, ran)
	}
	ctx, cancel := context.WithCancel(b.Context())
	err = b.store.Update(ctx, func(tx *store.Tx) error {
		if err := open("t")(tx); err != nil {
			return err
		}
		cancel()
		return open("u")(tx)
	})
	if !is(err, context.Canceled) || b.exists("t") || b.exists("u") {
		b.Errorf("Update whose caller gives up on the way: %v, something kept: %t", err, b.exists("t"))
	}
	// A caller that waits for another one's lock can give up.
	ctx, cancel = context.WithCancel(b.Context())
	defer cancel()
	locked, release, waited := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		waited <- b.store.Update(b.Context(), func(tx *store.Tx) error {
			_, err := tx.Sessions.Lock("s")
			close(locked)
			<-release
			return err
		})
	}()
	<-locked
	go func() {
		waited <- b.store.Update(ctx, func(tx *store.Tx) error {
			_, err := tx.Sessions.Lock("s")
			return err
		})
	}()
	cancel()
	if err := <-waited; !is(err, context.Canceled) {
		b.Errorf("Update that waits for a lock: %v", err)
	}
	close(release)
	if err := <-waited; err != nil {
		b.Error(err)
	}
}

func writersAtOnce(b *bench) {
	b.session("s")
	const writers, rounds = 6, 8
	handles := []*store.Store{b.store, b.open()}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				err := handles[w%2].Update(b.Context(), func(tx *store.Tx) error {
					s, err := tx.Sessions.Lock("s")
					if err != nil {
						return err
					}
					s.Turn++
					err = tx.Messages.Append("s", store.MessageRow{Role: "user"})
					_, err2 := tx.Events.Append(umpire.Event{Kind: "x", Session: "s", At: b.now})
					_, err3 := tx.Events.Append(umpire.Event{Kind: "x", At: b.now})
					return all(func() error { return err }, func() error { return err2 }, func() error { return err3 },
						func() error { return tx.Sessions.Save(s) })
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.view(func(tx *store.Tx) error {
		s, err := tx.Sessions.Get("s")
		if s.Turn != writers*rounds {
			b.Errorf("turn %d, want %d", s.Turn, writers*rounds)
		}
		return err
	})
	if n := len(b.events(umpire.Filter{})); n != 2*writers*rounds {
		b.Errorf("%d events, want %d", n, 2*writers*rounds)
	}
	b.whole()
}

func answersAtOnce(b *bench) {
	b.session("s")
	handles := []*store.Store{b.store, b.open()}
	for round := range 5 {
		id := umpire.CallID(fmt.Sprint("c", round))
		b.play("s", umpire.BatchID(fmt.Sprint("b", round)),
			func(p *play) error { return p.submit(fmt.Sprint(round), asked(id)) })
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				err := handles[i%2].Update(b.Context(), func(tx *store.Tx) error {
					return tx.Answers.Insert(store.AnswerRow{
						Standing: umpire.Standing{Request: umpire.RequestID("s/" + string(id) + "/1"),
							Choice: umpire.Approve, Actor: fmt.Sprint(i), At: b.now}, ArgsHash: hash(id),
					})
				})
				switch {
				case err == nil:
					won.Add(1)
				case is(err, store.ErrConflict):
					lost.Add(1)
				default:
					b.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 7 {
			b.Errorf("%d won and %d lost, want 1 and 7", won.Load(), lost.Load())
		}
	}
}

func snapshots(b *bench) {
	s := b.session("s")
	b.view(func(tx *store.Tx) error {
		before, err := tx.Sessions.Get("s")
		if err != nil {
			return err
		}
		s.Turn = 7
		b.update(func(tx *store.Tx) error { return tx.Sessions.Save(s) })
		after, err := tx.Sessions.Get("s")
		if before.Turn != after.Turn {
			b.Errorf("turn %d became %d within a view", before.Turn, after.Turn)
		}
		return err
	})
	b.sameSession(s)
}

func changesWake(b *bench) {
	other := b.open()
	for _, s := range []*store.Store{b.store, other} {
		here, there := b.store.Changed(), other.Changed()
		if err := s.Update(b.Context(), open(umpire.SessionID(b.name("s")))); err != nil {
			b.Fatal(err)
		}
		_, err := 0, s.Update(b.Context(), func(tx *store.Tx) error {
			_, err := tx.Events.Append(umpire.Event{Kind: "x", At: b.now})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		for name, changed := range map[string]<-chan struct{}{"the first": here, "the second": there} {
			select {
			case <-changed:
			case <-time.After(patience):
				b.Errorf("nobody woke %s handle", name)
			}
		}
	}
}
