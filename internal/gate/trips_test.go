package gate

import (
	"context"
	"fmt"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/storetest"
	"github.com/umpirehq/umpire/policy"
)

// TestRoundTrips: how often a call waits for an answer of PostgreSQL, from when it is handed in until its result is
// there. Those of the first call are not counted: there is more to be read from the second on.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	s := must(postgres.Open(t.Context(), storetest.Postgres(t)))(t)
	defer s.Close()
	g := New(Config{UserHome: t.TempDir(), Store: s, SettingsOf: func(string) (config.Settings, error) {
		return config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}}, nil
	}})
	defer g.Close()
	got := map[string]int{}
	step := func(name string, do func(context.Context) error) {
		t.Helper()
		counts := &store.Counts{}
		if err := do(store.WithCounts(t.Context(), counts)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got[name] = counts.Trips
	}
	open := func(o umpire.Opening) umpire.Session {
		o.Dir = t.TempDir()
		return must(g.sessions.Open(t.Context(), o))(t)
	}
	asks, runs := open(umpire.Opening{}), open(umpire.Opening{ID: "host", External: true})
	for i := range 2 {
		b, c := umpire.BatchID(fmt.Sprint("b", i)), umpire.CallID(fmt.Sprint("c", i))
		submission := func(s *umpire.Session, line string) umpire.Submission {
			return umpire.Submission{Session: s.ID, Batch: b, Calls: []umpire.Call{command(string(c), line)}, Epoch: s.Epoch}
		}
		step("asked, handed in", func(ctx context.Context) error {
			_, err := g.Submit(ctx, submission(&asks, "npm install p"))
			return err
		})
		p := must(g.Pending(t.Context(), umpire.PendingQuery{Session: asks.ID}))(t)[0]
		step("asked, answered", func(ctx context.Context) error {
			_, err := g.Resolve(ctx, answerTo(p, umpire.Approve))
			return err
		})
		step("asked, started", func(ctx context.Context) error {
			_, err := g.Start(ctx, umpire.Start{Session: asks.ID, Batch: b, Call: c, Epoch: asks.Epoch})
			return err
		})
		finish := func(s *umpire.Session) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := g.Finish(ctx, umpire.Result{Session: s.ID, Batch: b, Call: c, Status: umpire.ResultOK, Epoch: s.Epoch})
				return err
			}
		}
		step("asked, finished", finish(&asks))
		step("allowed, admitted", func(ctx context.Context) error {
			started, err := g.Admit(ctx, submission(&runs, "echo"), "", nil)
			if err == nil && !started.Go {
				err = fmt.Errorf("the call does not run: %+v", started)
			}
			return err
		})
		step("allowed, finished", finish(&runs))
	}
	for name, most := range map[string]int{
		"asked, handed in": 5, "asked, answered": 5, "asked, started": 5, "asked, finished": 3,
		"allowed, admitted": 4, "allowed, finished": 3,
	} {
		if got[name] == 0 || got[name] > most {
			t.Errorf("%s: %d round trips, want at most %d", name, got[name], most)
		}
	}
}
