package storetest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// growing runs a benchmark over databases of several sizes. It makes the largest only if
// UMPIRE_BENCH_LARGE is set, because filling them takes minutes.
func growing(b *testing.B, fresh func(testing.TB) Database, sizes, large []int,
	fill func(tx *store.Tx, i int) error, read func(*store.Tx) error,
) {
	b.Helper()
	if os.Getenv("UMPIRE_BENCH_LARGE") != "" {
		sizes = append(sizes, large...)
	}
	for _, size := range sizes {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s, err := fresh(b).Open(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			const together = 500
			for begin := 0; begin < size; begin += together {
				err := s.Update(b.Context(), func(tx *store.Tx) error {
					for i := begin; i < min(begin+together, size); i++ {
						if err := fill(tx, i); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.View(b.Context(), read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchPending measures reading the two questions of one session next to those of others.
func BenchPending(b *testing.B, fresh func(testing.TB) Database) {
	growing(b, fresh, []int{100, 1000, 10_000}, []int{100_000},
		func(tx *store.Tx, i int) error {
			t := &Tally{Session: "other", made: i}
			if i < 2 {
				t.Session = "own"
			}
			return t.ask(tx, fmt.Sprint("q", i))
		},
		func(tx *store.Tx) error {
			found, err := tx.Asks.List(store.AskQuery{Session: "own"})
			if err == nil && len(found) != 2 {
				return fmt.Errorf("%d questions", len(found))
			}
			return err
		})
}

// BenchTimeline measures reading a page of one project's timeline next to the events of a hundred projects.
func BenchTimeline(b *testing.B, fresh func(testing.TB) Database) {
	growing(b, fresh, []int{1000, 10_000, 100_000}, []int{1_000_000, 10_000_000},
		func(tx *store.Tx, i int) error {
			project := umpire.ProjectID(fmt.Sprint("p", i%100))
			_, err := tx.Events.Append(umpire.Event{
				Kind: umpire.EventNotice, At: when, Project: project, Session: umpire.SessionID(project), Tool: "Bash",
			})
			return err
		},
		func(tx *store.Tx) error {
			found, err := tx.Events.List(umpire.Filter{Project: "p7", Limit: 10})
			if err == nil && len(found) != 10 {
				return fmt.Errorf("%d events", len(found))
			}
			return err
		})
}

// BenchSessions measures reading the first page of sessions.
func BenchSessions(b *testing.B, fresh func(testing.TB) Database) {
	const page = 50
	growing(b, fresh, []int{100, 1000, 10_000}, nil,
		func(tx *store.Tx, i int) error {
			id := umpire.SessionID(fmt.Sprint("s", i))
			return tx.Sessions.Insert(umpire.Session{ID: id, Project: "p", IsRoot: true, ActiveAt: when})
		},
		func(tx *store.Tx) error {
			found, err := tx.Sessions.List(store.SessionQuery{Limit: page})
			if err == nil && len(found) != page {
				return fmt.Errorf("%d sessions", len(found))
			}
			return err
		})
}
