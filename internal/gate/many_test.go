package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/store/storetest"
	"github.com/umpirehq/umpire/policy"
)

// TestCallsOfLargeBatchesCostTheSame: what one call of a message costs does not depend on how many
// the message has, from when it is handed in until its results are there.
func TestCallsOfLargeBatchesCostTheSame(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	onEachStore(t, func(t *testing.T, g *Gate) {
		small, large := costOfBatch(t, g, 20), costOfBatch(t, g, maxCalls)
		for step, is := range large {
			if most := mostStatements[step]; is.Statements > most {
				t.Errorf("%s: %d statements for a call, want at most %d", step, is.Statements, most)
			}
			if was := small[step]; is.Statements > was.Statements || is.Rows > was.Rows || is.bytes > was.bytes+was.bytes/10 {
				t.Errorf("%s: a call of %d costs %+v, one of 20 %+v", step, maxCalls, is, was)
			}
		}
	})
}

// mostStatements is how many statements a call of a message takes in each step. On PostgreSQL some are read ahead that
// turn out not to be needed.
var mostStatements = map[string]int{"submit asks": 6, "submit runs": 2, "resolve": 15, "start": 16, "finish": 8}

// A cost is the cost of one call in a step: the maximum over its batch.
type cost struct {
	store.Counts

	bytes int // of the caller's results
}

// costOfBatch takes two messages of so many calls through a gate, one whose calls ask and one whose
// calls may run: both are handed in, and the first few calls answered or run.
func costOfBatch(t *testing.T, g *Gate, calls int) map[string]cost {
	t.Helper()
	costs := map[string]cost{}
	step := func(name string, share int, do func(context.Context) (any, error)) {
		t.Helper()
		counts := &store.Counts{}
		answer := must(do(store.WithCounts(t.Context(), counts)))(t)
		text := must(json.Marshal(answer))(t)
		most := costs[name]
		most.Statements = max(most.Statements, (counts.Statements+share-1)/share)
		most.Rows, most.bytes = max(most.Rows, counts.Rows/share), max(most.bytes, len(text)/share)
		costs[name] = most
	}
	session := must(g.sessions.Open(t.Context(), umpire.Opening{Dir: t.TempDir()}))(t)
	submit := func(name, line string) {
		s := umpire.Submission{Session: session.ID, Batch: umpire.BatchID(name), Lane: name, Epoch: session.Epoch}
		for i := range calls {
			s.Calls = append(s.Calls, command(fmt.Sprintf("%s%04d", name, i), fmt.Sprintf(line, i)))
		}
		step("submit "+name, calls, func(ctx context.Context) (any, error) {
			b, err := g.Submit(ctx, s)
			if len(b.Calls) != calls {
				t.Errorf("%d of %d calls were taken", len(b.Calls), calls)
			}
			return b, err
		})
	}
	submit("asks", "npm install p%04d")
	for _, p := range must(g.Pending(t.Context(), umpire.PendingQuery{Session: session.ID}))(t)[:few] {
		step("resolve", 1, func(ctx context.Context) (any, error) { return g.Resolve(ctx, answerTo(p, umpire.Approve)) })
	}
	submit("runs", "echo %04d")
	next := umpire.CallID("runs0000")
	for range few {
		step("start", 1, func(ctx context.Context) (any, error) {
			started, err := g.Start(ctx, umpire.Start{Session: session.ID, Batch: "runs", Call: next, Epoch: session.Epoch})
			if !started.Go {
				t.Errorf("call %s did not start: %+v", next, started)
			}
			return started, err
		})
		step("finish", 1, func(ctx context.Context) (any, error) {
			b, err := g.Finish(ctx, umpire.Result{Session: session.ID, Batch: "runs", Call: next, Status: umpire.ResultOK,
				Output: "done", Epoch: session.Epoch})
			if err != nil || b.Size() != calls || b.Next() == nil {
				t.Fatalf("after %s: %+v, %v", next, b, err)
			}
			next = b.Next().ID
			return b, err
		})
	}
	if whole := must(g.Batch(t.Context(), session.ID, "runs"))(t); whole.Total != 0 || len(whole.Calls) != calls ||
		whole.Next().ID != umpire.CallID(fmt.Sprintf("runs%04d", few)) {
		t.Errorf("the batch has %d calls, and %s is next", len(whole.Calls), whole.Next().ID)
	}
	return costs
}

// few is how many calls of a message are looked at.
const few = 5

// TestLargeBatchIsCancelledWhole: an answer that ends every call of a message reaches those, too, that no
// answer about one call shows.
func TestLargeBatchIsCancelledWhole(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	var calls []umpire.Call
	for i := range 3 * umpire.WholeBatch {
		line := fmt.Sprintf("echo %d", i)
		if i%2 == 0 {
			line = fmt.Sprintf("npm install p%d", i)
		}
		calls = append(calls, command(fmt.Sprint("c", i), line))
	}
	d.submit(s, "m", calls...)
	b := must(d.Resolve(t.Context(), answerTo(d.pending("c20"), umpire.Cancel)))(t)
	if b.State != umpire.BatchFinished || len(b.Calls) != len(calls) || b.Next() != nil {
		t.Errorf("the batch is %s, with %d calls, and %v has no result", b.State, len(b.Calls), b.Next())
	}
	if left := must(d.Pending(t.Context(), umpire.PendingQuery{}))(t); len(left) > 0 {
		t.Errorf("%d questions wait", len(left))
	}
}

// TestPendingIsListedInPages: a page has the requested length even if some waiting questions are
// hidden, and questions answered in between cause neither gaps nor duplicates.
func TestPendingIsListedInPages(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.PendingTimeout = time.Minute
	s := d.session(umpire.Opening{})
	ask := func(batch string, n int) {
		var calls []umpire.Call
		for i := range n {
			calls = append(calls, command(fmt.Sprint(batch, i), fmt.Sprintf("npm install p%d", i)))
		}
		must(d.Submit(t.Context(), umpire.Submission{
			Session: s.ID, Batch: umpire.BatchID(batch), Lane: batch, Calls: calls, Epoch: s.Epoch,
		}))(t)
	}
	page := func(after umpire.Pending, limit int) (list []umpire.Pending, calls string) {
		list = must(d.Pending(t.Context(), umpire.PendingQuery{After: after.Request, Limit: limit}))(t)
		for i := range list {
			calls += string(list[i].Call) + " "
		}
		return list, calls
	}
	ask("late", 3)
	d.pass(time.Minute / 2)
	ask("a", 2)
	ask("b", 2)
	d.pass(time.Minute / 2)
	first, calls := page(umpire.Pending{}, 3)
	if calls != "a0 a1 b0 " {
		t.Fatalf("the first page is %s", calls)
	}
	must(d.Resolve(t.Context(), answerTo(first[2], umpire.Refuse)))(t)
	if _, calls := page(first[2], 3); calls != "b1 " {
		t.Errorf("the second page is %s", calls)
	}
	if _, calls := page(first[0], 0); calls != "a1 b1 " {
		t.Errorf("after the first: %s", calls)
	}
	if _, err := d.Pending(t.Context(), umpire.PendingQuery{After: "none"}); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("after a question that is gone: %v", err)
	}
}

// onEachStore runs a test on a gate over each database, which takes questions about a whole message.
func onEachStore(t *testing.T, test func(*testing.T, *Gate)) {
	t.Helper()
	stores := map[string]func(*testing.T) (*store.Store, error){
		"sqlite": func(t *testing.T) (*store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "umpire.db"))
		},
		"postgres": func(t *testing.T) (*store.Store, error) {
			return postgres.Open(t.Context(), storetest.Postgres(t))
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must(open(t))(t)
			defer s.Close()
			g := New(Config{UserHome: t.TempDir(), Store: s, SettingsOf: func(string) (config.Settings, error) {
				return config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: maxCalls}, nil
			}})
			defer g.Close()
			test(t, g)
		})
	}
}
