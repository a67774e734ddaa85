package postgres

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// patience is how long a test waits for an expected event.
const patience = 5 * time.Minute

func open(t testing.TB, dsn string) *store.Store {
	t.Helper()
	s, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func addEvent(session umpire.SessionID) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: session, At: time.Now()})
		return err
	}
}

// behind reads the horizon, and the events up to it.
func behind(ctx context.Context, s *store.Store) (horizon int64, seqs []int64, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		seqs = nil
		if horizon, err = tx.Events.Horizon(); err != nil {
			return err
		}
		events, err := tx.Events.List(umpire.Filter{})
		for _, e := range events {
			if e.Seq <= horizon {
				seqs = append(seqs, e.Seq)
			}
		}
		return err
	})
	return horizon, seqs, err
}

// reach waits until the horizon is at a seq, reading it again after each change.
func reach(t *testing.T, s *store.Store, want int64) (seqs []int64) {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := s.Changed()
		horizon, seqs, err := behind(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if horizon >= want {
			return seqs
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the horizon is %d and does not reach %d", horizon, want)
		}
	}
}

// TestHorizonWaitsForWriters covers an event that commits late with a smaller number than
// an existing one. The horizon must stay below it until then, for every process, and also
// for a view that started before.
func TestHorizonWaitsForWriters(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	here, there := open(t, dsn), open(t, dsn)
	drawn, release, done := make(chan int64), make(chan struct{}), make(chan error)
	go func() {
		done <- here.Update(t.Context(), func(tx *store.Tx) error {
			e, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: "slow", At: time.Now()})
			drawn <- e.Seq
			<-release
			return err
		})
	}()
	slow := <-drawn
	notYet := func(stores ...*store.Store) {
		t.Helper()
		for _, s := range stores {
			for range 5 {
				if horizon, _, err := behind(t.Context(), s); err != nil || horizon >= slow {
					t.Errorf("the horizon is %d, and event %d may still appear (%v)", horizon, slow, err)
				}
			}
		}
	}
	notYet(here, there) // no transaction has ended since it drew its number
	var fast int64
	for range 3 {
		err := there.Update(t.Context(), func(tx *store.Tx) error {
			e, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: "fast", At: time.Now()})
			fast = e.Seq
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if fast < slow {
		t.Fatalf("the late event has number %d, the others reach %d: the test shows nothing", slow, fast)
	}
	notYet(here, there, open(t, dsn))
	// A view whose snapshot is older than the commit does not get past it either, even
	// after other views have.
	old := there.View(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Events.List(umpire.Filter{}); err != nil {
			return err
		}
		close(release)
		if err := <-done; err != nil {
			return err
		}
		if seqs := reach(t, here, fast); len(seqs) != 4 {
			t.Errorf("events up to the horizon: %v, want 4", seqs)
		}
		if horizon, err := tx.Events.Horizon(); err != nil || horizon >= slow {
			t.Errorf("a view from before sees the horizon at %d, and not event %d (%v)", horizon, slow, err)
		}
		return nil
	})
	if old != nil {
		t.Fatal(old)
	}
	if seqs := reach(t, there, fast); len(seqs) != 4 {
		t.Errorf("events up to the horizon: %v, want 4", seqs)
	}
}

// TestWatchersMissNothing has writers in several processes commit in any order, and a
// reader that never goes back.
func TestWatchersMissNothing(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	const writers, rounds = 8, 25
	stores := []*store.Store{open(t, dsn), open(t, dsn), open(t, dsn)}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				session := umpire.SessionID(strconv.Itoa(w))
				if err := stores[w%2].Update(t.Context(), addEvent(session)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	read := watchAll(t, stores[2], writers*rounds)
	wg.Wait()
	if len(read) != writers*rounds {
		t.Errorf("%d events were read, %d written", len(read), writers*rounds)
	}
}

// watchAll reads events up to the horizon, each once, until there are enough.
func watchAll(t *testing.T, s *store.Store, enough int) map[int64]bool {
	t.Helper()
	read := map[int64]bool{}
	var after int64
	deadline := time.After(patience)
	for {
		changed := s.Changed()
		err := s.View(t.Context(), func(tx *store.Tx) error {
			horizon, err := tx.Events.Horizon()
			if err != nil {
				return err
			}
			events, err := tx.Events.List(umpire.Filter{After: after})
			for _, e := range events {
				if e.Seq <= horizon {
					read[e.Seq] = true
					after = e.Seq
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
			return read
		}
		if len(read) >= enough {
			return read
		}
		select {
		case <-changed:
		case <-deadline:
			t.Errorf("%d of %d events were read", len(read), enough)
			return read
		}
	}
}

// TestDeadlocksAreRunAgain has two updates lock two sessions in opposite orders.
func TestDeadlocksAreRunAgain(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Postgres(t))
	for _, id := range []umpire.SessionID{"a", "b"} {
		if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Sessions.Insert(umpire.Session{ID: id}) }); err != nil {
			t.Fatal(err)
		}
	}
	var met sync.WaitGroup
	met.Add(2)
	outcomes, runs := make(chan error), make(chan int, 100)
	for _, order := range [][2]umpire.SessionID{{"a", "b"}, {"b", "a"}} {
		go func() {
			first := true
			outcomes <- s.Update(t.Context(), func(tx *store.Tx) error {
				runs <- 1
				if _, err := tx.Sessions.Lock(order[0]); err != nil {
					return err
				}
				if first {
					first = false
					met.Done()
					met.Wait() // each has one now and wants the other
				}
				other, err := tx.Sessions.Lock(order[1])
				if err != nil {
					return err
				}
				other.Turn++
				return tx.Sessions.Save(other)
			})
		}()
	}
	for range 2 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	if len(runs) < 3 {
		t.Errorf("%d runs: there was no deadlock", len(runs))
	}
}

// TestLostCommits checks that the error reports an unknown outcome if the connection is
// lost at the commit, whether or not the commit happened.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	proxy := server.Proxy(t)
	direct, through := open(t, dsn), open(t, proxy.Through(t, dsn))
	insert := func(id umpire.SessionID, last func()) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			if err := addEvent(id)(tx); err != nil {
				return err
			}
			err := tx.Sessions.Insert(umpire.Session{ID: id})
			last()
			return err
		}
	}
	there := func(id umpire.SessionID) (found bool) {
		err := direct.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Sessions.Get(id)
			found = err == nil
			if errors.Is(err, umpire.ErrNotFound) {
				err = nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := through.Update(t.Context(), insert("before", proxy.Cut)); !errors.Is(err, store.ErrUncertain) || there("before") {
		t.Errorf("connection lost before the commit: %v, stored: %t", err, there("before"))
	}
	outcome := make(chan error)
	go func() { outcome <- through.Update(t.Context(), insert("after", proxy.Mute)) }()
	deadline := time.After(patience)
	for changed := direct.Changed(); !there("after"); changed = direct.Changed() {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("the commit did not arrive")
		}
	}
	proxy.Cut()
	if err := <-outcome; !errors.Is(err, store.ErrUncertain) || errors.Is(err, umpire.ErrNotRecorded) {
		t.Errorf("connection lost after the commit: %v", err)
	}
	if err := through.Update(t.Context(), insert("again", func() {})); err != nil || !there("again") {
		t.Errorf("the store does not find a new connection: %v", err)
	}
}

// roundsVariable sets the number of rounds of TestKills.
const roundsVariable = "UMPIRE_KILL_ROUNDS"

// TestKills kills the server, or cuts its connections, while workers in two processes ask
// and answer. Acknowledged transactions must exist afterwards exactly once.
func TestKills(t *testing.T) {
	t.Parallel()
	rounds := sample.Times(5, 20)
	if text := os.Getenv(roundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", roundsVariable, err)
		}
	}
	server := storetest.NewServer(t)
	dsn := server.Database(t)
	proxy := server.Proxy(t)
	stores := []*store.Store{open(t, proxy.Through(t, dsn)), open(t, proxy.Through(t, dsn))}
	const workers = 4
	tallies := make([]storetest.Tally, workers)
	for w := range tallies {
		tallies[w].Session = umpire.SessionID("s" + strconv.Itoa(w))
	}
	ways := []func(){
		func() { server.Stop(t, true); server.Start(t) },
		proxy.Cut,
		func() {
			if err := server.Cut(); err != nil {
				t.Error(err)
			}
		},
	}
	for round := range rounds {
		ill(t, stores, tallies, func() {
			ways[0]()
			ways[1+round%2]()
		})
	}
	examine(t, open(t, dsn), tallies)
}

// ill lets every worker finish something, does harm, and waits until each worker has
// noticed its end.
func ill(t *testing.T, stores []*store.Store, tallies []storetest.Tally, harm func()) {
	t.Helper()
	stop := make(chan struct{})
	progress := make(chan struct{}, len(tallies))
	var wg sync.WaitGroup
	for w := range tallies {
		wg.Go(func() {
			for first := true; ; first = false {
				tallies[w].Work(t.Context(), stores[w%len(stores)])
				if first {
					progress <- struct{}{}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range tallies {
		<-progress
	}
	harm()
	close(stop)
	wg.Wait()
}

// examine compares the stored data with the outcomes reported to the workers.
func examine(t *testing.T, s *store.Store, tallies []storetest.Tally) {
	t.Helper()
	acknowledged, uncertain := 0, 0
	for w := range tallies {
		problems, err := tallies[w].Compare(t.Context(), s)
		if err != nil || len(problems) > 0 {
			t.Errorf("worker %d: %q, %v", w, problems, err)
		}
		acknowledged += tallies[w].Acknowledged()
		uncertain += tallies[w].Uncertain()
	}
	if acknowledged == 0 {
		t.Error("nothing was acknowledged")
	}
	t.Logf("%d transactions acknowledged, %d uncertain", acknowledged, uncertain)
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		t.Errorf("Verify: %v, %v", breaks, err)
	}
}
