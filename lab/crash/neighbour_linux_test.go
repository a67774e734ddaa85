package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// A neighbour loads the gate as hard as it can until ctx is done, beside an agent whose calls are timed.
type neighbour struct {
	name string
	// prepare runs once, before the timing starts.
	prepare func(*team) (run func(context.Context) error)
}

var neighbours = []neighbour{
	{"3-MB-commands", sendLargeCommands},
	{"500-watchers", watchWithMany},
	{"whole-timeline", readHistory},
	{"all-sessions", listHistory},
}

// BenchmarkTeamNeighbour times the allowed calls of one agent, in turns alone and beside
// a neighbour: the ratio of the slowest in a hundred, and the median. The store holds a
// history of many sessions.
func BenchmarkTeamNeighbour(b *testing.B) {
	for _, n := range neighbours {
		b.Run(n.name, func(b *testing.B) {
			t := newTeam(b, 1, false)
			t.addHistory()
			w, run := t.worker(0), n.prepare(t)
			var quiet, beside []time.Duration
			for b.Loop() {
				quiet = append(quiet, t.timeCalls(w)...)
				ctx, stop := context.WithCancel(b.Context())
				var done sync.WaitGroup
				done.Go(func() {
					if err := run(ctx); err != nil && ctx.Err() == nil {
						b.Error(err)
					}
				})
				beside = append(beside, t.timeCalls(w)...)
				stop()
				done.Wait()
			}
			b.ReportMetric(float64(percentile(beside, 99))/float64(percentile(quiet, 99)), "p99/quiet")
			b.ReportMetric(float64(percentile(beside, 50))/float64(percentile(quiet, 50)), "median/quiet")
			b.ReportMetric(percentile(quiet, 99).Seconds()*1000, "quiet-p99-ms")
		})
	}
}

func percentile(took []time.Duration, percent int) time.Duration {
	slices.Sort(took)
	return took[min(len(took)-1, len(took)*percent/100)]
}

// timeCalls makes a hundred calls.
func (t *team) timeCalls(w *worker) []time.Duration {
	t.b.Helper()
	const calls = 100
	took := make([]time.Duration, calls)
	for i := range took {
		began := time.Now()
		if _, err := w.call(t.b.Context(), false); err != nil {
			t.b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	return took
}

// addHistory writes ended sessions with a hundred events each directly into the store.
func (t *team) addHistory() {
	t.b.Helper()
	sessions := 1000
	if os.Getenv("UMPIRE_BENCH_LARGE") != "" {
		sessions = 10_000
	}
	s, err := sqlite.Open(t.b.Context(), filepath.Join(t.homes[0].dir, "state", "umpire.db"))
	if err != nil {
		t.b.Fatal(err)
	}
	at := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Microsecond)
	for i := range sessions {
		id := umpire.SessionID(fmt.Sprint("old", i))
		err = errors.Join(err, s.Update(t.b.Context(), func(tx *store.Tx) error {
			err := tx.Sessions.Insert(umpire.Session{
				ID: id, Project: "p", IsRoot: true, ActiveAt: at, EndedAt: at, State: umpire.SessionOver,
			})
			for range 100 {
				_, added := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, At: at, Project: "p", Session: id, Tool: "Bash"})
				err = errors.Join(err, added)
			}
			return err
		}))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.b.Fatal(err)
	}
}

// sendLargeCommands has an agent send commands of 3 MB, one after the other.
func sendLargeCommands(t *team) func(context.Context) error {
	w := t.worker(1)
	input, err := json.Marshal(map[string]string{"command": "echo " + strings.Repeat("word ", 3<<20/5)})
	if err != nil {
		t.b.Fatal(err)
	}
	return func(ctx context.Context) error {
		whole := context.WithoutCancel(ctx) // a call that was begun is ended
		for ctx.Err() == nil {
			w.calls++
			id := fmt.Sprint("m", w.calls)
			b, err := w.agent.Submit(whole, umpire.Submission{
				Session: w.session.ID, Batch: umpire.BatchID(id), Message: callMessage,
				Calls: []umpire.Call{{ID: umpire.CallID(id), Tool: "Bash", Input: input}},
			})
			if err != nil {
				return err
			}
			if err := w.answer(whole, umpire.Approve); err != nil {
				return err
			}
			if err := w.run(whole, b.ID, b.Calls[0].ID); err != nil {
				return err
			}
		}
		return nil
	}
}

// watchWithMany opens 500 event streams that each ask for the whole history.
func watchWithMany(t *team) func(context.Context) error {
	return func(ctx context.Context) error {
		var all sync.WaitGroup
		for range 500 {
			events := t.stream(ctx, "/v1/events?after=1")
			all.Go(func() { _, _ = io.Copy(io.Discard, events) })
		}
		all.Wait()
		return nil
	}
}

// readHistory reads the whole timeline again and again.
func readHistory(t *team) func(context.Context) error {
	c := t.dial(0, "person")
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, err := c.Events(ctx, umpire.Filter{}); err != nil {
				return err
			}
		}
		return nil
	}
}

// listHistory lists all sessions again and again.
func listHistory(t *team) func(context.Context) error {
	c := t.dial(0, "person")
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, err := c.Sessions().List(ctx, umpire.SessionQuery{}); err != nil {
				return err
			}
		}
		return nil
	}
}
