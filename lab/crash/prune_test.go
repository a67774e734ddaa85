//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// The data that TestKillsWhilePruning removes.
const (
	oldSessions = 60
	oldEvents   = 150 // of each
)

// TestKillsWhilePruning kills gates with SIGKILL while they remove old sessions. Each session is
// afterwards either complete, or completely removed and the timeline says so.
func TestKillsWhilePruning(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]func(testing.TB) func(testing.TB) string{"sqlite": noServer, "postgres": oneServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := *flagSeed
			if seed == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 2))
			// On a busy machine a gate may remove everything before the kill, so there are further rounds.
			kills := 0
			for kills < 3 {
				kills += killWhilePruning(t, fresh(t)(t), rng)
			}
			t.Logf("%d kills", kills)
		})
	}
}

// killWhilePruning ends gates until all old sessions of a new store are gone, and returns how many.
func killWhilePruning(t *testing.T, url string, rng *rand.Rand) (kills int) {
	t.Helper()
	h := newHome(t, newFolder(t), url)
	file := filepath.Join(h.dir, "config.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text)+"retention: 90d\n")
	s, err := h.openStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := growOld(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for left := oldSessions; left > 0; kills++ {
		was, err := lastPruning(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		g, err := startGate(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := awaitPruning(t.Context(), s, was); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(rng.Int64N(int64(minPause))))
		g.signal(syscall.SIGKILL)
		<-g.gone
		if left, err = h.oldLeft(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return kills
}

// openStore opens the store at an address, or else the one in the home.
func (h *home) openStore(ctx context.Context, url string) (*store.Store, error) {
	if url != "" {
		return postgres.Open(ctx, url)
	}
	return sqlite.Open(ctx, filepath.Join(h.dir, "state", "umpire.db"))
}

// lastPruning is the number of the last event about a session that was removed.
func lastPruning(ctx context.Context, s *store.Store) (seq int64, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		last, err := tx.Prunings.Last()
		seq = last.Seq
		return err
	})
	return seq, err
}

// awaitPruning waits until there is a new pruning.
func awaitPruning(ctx context.Context, s *store.Store, was int64) error {
	for {
		changed := s.Changed()
		if last, err := lastPruning(ctx, s); err != nil || last != was {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// growOld fills a store with sessions from long ago.
func growOld(ctx context.Context, s *store.Store) error {
	old := time.Now().AddDate(0, 0, -100)
	for i := range oldSessions {
		id := umpire.SessionID(fmt.Sprintf("old%d", i))
		err := s.Update(ctx, func(tx *store.Tx) error {
			err := tx.Sessions.Insert(umpire.Session{ID: id, Project: "p", IsRoot: true, CreatedAt: old, ActiveAt: old})
			for range oldEvents {
				if err == nil {
					_, err = tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: id, Project: "p", At: old})
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldLeft returns the number of old sessions that are left. It fails if a session is only partly there.
func (h *home) oldLeft(ctx context.Context, s *store.Store) (left int, err error) {
	key, err := store.ReadKey(filepath.Join(h.dir, "keys"))
	if err != nil {
		return 0, err
	}
	pruned := store.AcceptedPrunings{Keys: []string{key.ID()}}
	breaks, err := s.Verify(ctx, pruned.Accept)
	if err == nil && len(breaks) > 0 {
		err = fmt.Errorf("the timeline is broken: %v", breaks)
	}
	if err != nil {
		return 0, err
	}
	// The database may still finish a gate's transaction, so everything is counted in one snapshot.
	err = s.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Events.List(umpire.Filter{})
		if err != nil {
			return err
		}
		events, told := map[umpire.SessionID]int{}, 0
		for i := range all {
			events[all[i].Session]++
			if all[i].Kind == umpire.EventPruned {
				told++
			}
		}
		left = 0
		for i := range oldSessions {
			id := umpire.SessionID(fmt.Sprintf("old%d", i))
			_, err := tx.Sessions.Get(id)
			switch {
			case err == nil && events[id] == oldEvents:
				left++
			case !errors.Is(err, umpire.ErrNotFound) || events[id] > 0:
				return fmt.Errorf("session %s has %d events: %w", id, events[id], err)
			}
		}
		if left+told != oldSessions {
			return fmt.Errorf("%d sessions are left and %d were pruned, of %d", left, told, oldSessions)
		}
		return nil
	})
	return left, err
}
