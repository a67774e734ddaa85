//go:build linux || darwin

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A crowd is a set of updates that wait for a running one.
type crowd struct {
	store    *store.Store
	disk     *disk
	first    chan error
	release  chan struct{}
	outcomes []chan error
}

var errOwn = errors.New("a failure of its own")

// gather starts an update that keeps running, and n more behind it. The last one fails by
// itself.
func gather(t *testing.T, n int) *crowd {
	t.Helper()
	c := &crowd{disk: newDisk(t.TempDir()), first: make(chan error, 1), release: make(chan struct{})}
	var err error
	if c.store, err = openOn(t, c.disk, pragmas); err != nil {
		t.Fatal(err)
	}
	add := func(id string) func(*store.Tx) error {
		return func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: umpire.SessionID(id)}) }
	}
	if err := c.store.Update(t.Context(), add("warm")); err != nil {
		t.Fatal(err)
	}
	go func() {
		c.first <- c.store.Update(t.Context(), func(tx *store.Tx) error {
			<-c.release
			return add("first")(tx)
		})
	}()
	synctest.Wait()
	for i := range n {
		outcome := make(chan error, 1)
		c.outcomes = append(c.outcomes, outcome)
		go func() {
			outcome <- c.store.Update(t.Context(), func(tx *store.Tx) error {
				if err := add(fmt.Sprint("s", i))(tx); err != nil {
					return err
				}
				if i == n-1 {
					return errOwn
				}
				return nil
			})
		}()
	}
	synctest.Wait()
	return c
}

// there counts the stored sessions.
func (c *crowd) there(t *testing.T) (n int) {
	t.Helper()
	err := c.store.View(t.Context(), func(tx *store.Tx) error {
		all, err := tx.Sessions.List(store.SessionQuery{})
		n = len(all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGroupsShareASync checks that updates waiting together are made durable together,
// and that none returns earlier.
func TestGroupsShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiting = 10
		c := gather(t, waiting)
		defer c.store.Close()
		before := c.disk.syncs()
		close(c.release)
		if err := <-c.first; err != nil {
			t.Error(err)
		}
		for i, outcome := range c.outcomes {
			if err := <-outcome; errors.Is(err, errOwn) != (i == waiting-1) || err != nil && i < waiting-1 {
				t.Errorf("update %d: %v", i, err)
			}
		}
		if n := c.disk.syncs() - before; n != 1 {
			t.Errorf("%d syncs for %d updates, want 1", n, waiting+1)
		}
		if n := c.there(t); n != 1+waiting {
			t.Errorf("%d sessions, want %d", n, 1+waiting)
		}
	})
}

// TestAnswersSyncOnce checks that a single writer syncs the log once per transaction, and
// the database only now and then.
func TestAnswersSyncOnce(t *testing.T) {
	t.Parallel()
	d := started(t)
	s, err := openOn(t, d, pragmas)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tally := storetest.Tally{Session: "s"}
	before := d.syncs()
	for range 300 {
		tally.Work(t.Context(), s)
	}
	each := float64(d.syncs()-before) / float64(tally.Acknowledged())
	if each < 1 || each > 1.03 {
		t.Errorf("%.3f syncs for each transaction", each)
	}
	t.Logf("%.3f syncs for each of %d transactions", each, tally.Acknowledged())
}

// TestCommitsFailTogether checks that a failed commit stores nothing of its group and
// fails all members, even one with its own error: it may have seen another member's
// changes.
func TestCommitsFailTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, 3)
		defer c.store.Close()
		c.disk.stick()
		close(c.release)
		for i, outcome := range append(c.outcomes, c.first) {
			if err := <-outcome; !errors.Is(err, umpire.ErrNotRecorded) || errors.Is(err, store.ErrUncertain) || errors.Is(err, errOwn) {
				t.Errorf("update %d: %v", i, err)
			}
		}
		if n := c.there(t); n != 1 {
			t.Errorf("%d sessions, want the one from before", n)
		}
		if err := c.store.Update(t.Context(), func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: "next"}) }); err != nil {
			t.Errorf("the store does not go on: %v", err)
		}
	})
}

// TestWaitingCallersMayLeave checks that a caller that gives up while another update runs
// returns at once, and that its function does not run.
func TestWaitingCallersMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, 2)
		defer c.store.Close()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			left <- c.store.Update(ctx, func(*store.Tx) error {
				t.Error("it ran")
				return nil
			})
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("Update: %v", err)
		}
		close(c.release)
		if err := <-c.first; err != nil {
			t.Error(err)
		}
	})
}
