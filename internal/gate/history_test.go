package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/umpirehq/umpire"
)

// Histories of many clients that hand in, list, answer, start, finish and claim one
// call are checked against the obvious sequential machine: there is an order of the
// operations, as they overlapped, in which every answer is right.

type historyOp struct {
	kind   string // one of historyKinds
	choice umpire.Choice
}

// historyKinds are the actions of clients. Submitting again is a client's retry; claiming is
// fetching the results for the model.
var historyKinds = []string{"ask", "list", "resolve", "start", "finish", "claim", "look"}

type historyOut struct {
	done     bool          // it took effect, or was found to have been done
	standing umpire.Choice // of a late answer
	state    umpire.CallState
}

// A historyState is the sequential model: whether the call was submitted, its answer, whether it
// was started and finished.
type historyState struct {
	asked             bool
	answered          umpire.Choice
	started, finished bool
}

func (s historyState) call() umpire.CallState {
	switch {
	case !s.asked:
		return ""
	case s.answered == "":
		return umpire.CallAsked
	case s.answered != umpire.Approve || s.finished:
		return umpire.CallDone
	case s.started:
		return umpire.CallExecuting
	}
	return umpire.CallApproved
}

var historyModel = porcupine.Model{
	Init: func() any { return historyState{} },
	Step: func(state, input, output any) (bool, any) {
		s, op, out := state.(historyState), input.(historyOp), output.(historyOut)
		switch op.kind {
		case "ask":
			s.asked = true
			return out.state == s.call(), s
		case "list":
			return out.done == (s.call() == umpire.CallAsked), s
		case "resolve":
			if s.answered == "" {
				s.answered = op.choice
				return out.done, s
			}
			return !out.done && out.standing == s.answered, s
		case "start":
			may := s.call() == umpire.CallApproved
			s.started = s.started || may
			return out.done == may, s
		case "finish":
			s.finished = s.started
			return out.done == s.started, s
		case "claim":
			return out.done == (s.call() == umpire.CallDone), s
		}
		return out.state == s.call(), s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const histories, clients, operations = 5, 8, 20
	for h := range histories {
		t.Run(fmt.Sprint(h), func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			second := d.second()
			w := &historyWorld{session: d.session(umpire.Opening{})}
			var all sync.WaitGroup
			for client := range clients {
				rng := rand.New(rand.NewPCG(uint64(h), uint64(client)))
				at := []*Gate{d.Gate, second}[client%2]
				all.Go(func() {
					for range operations {
						if err := w.operate(at, client, rng); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			w.covers(t)
			if result := porcupine.CheckOperationsTimeout(historyModel, w.log, 10*time.Minute); result != porcupine.Ok {
				t.Errorf("the history of %d operations is %s", len(w.log), result)
			}
		})
	}
}

// A historyWorld is shared by the clients: the session, and the question once a client has seen it.
type historyWorld struct {
	session umpire.Session
	seen    atomic.Pointer[umpire.Pending]

	mu    sync.Mutex
	start time.Time
	log   []porcupine.Operation
}

// covers wants the history to have brought the call to its end.
func (w *historyWorld) covers(t *testing.T) {
	t.Helper()
	for _, entry := range w.log {
		if op := entry.Input.(historyOp); op.kind == "resolve" && entry.Output.(historyOut).done {
			return
		}
	}
	t.Errorf("nothing was answered in a history of %d operations", len(w.log))
}

// operate performs one action that the client can take given what it has seen, and logs it.
func (w *historyWorld) operate(g *Gate, client int, rng *rand.Rand) error {
	op := historyOp{kind: historyKinds[rng.IntN(len(historyKinds))], choice: umpire.Approve}
	if rng.IntN(4) == 0 {
		op.choice = umpire.Refuse
	}
	if op.kind == "resolve" && w.seen.Load() == nil {
		op.kind = "list"
	}
	entry := porcupine.Operation{ClientId: client, Input: op, Call: w.clock()}
	out, err := w.do(g, op)
	if err != nil {
		return fmt.Errorf("%s: %w", op.kind, err)
	}
	entry.Output, entry.Return = out, w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, entry)
	return nil
}

// clock is the time since the first look at it.
func (w *historyWorld) clock() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start.IsZero() {
		w.start = time.Now()
	}
	return int64(time.Since(w.start))
}

func (w *historyWorld) do(g *Gate, op historyOp) (out historyOut, err error) {
	ctx, s := context.Background(), w.session.ID
	switch op.kind {
	case "ask":
		b, err := g.Submit(ctx, umpire.Submission{Session: s, Batch: "m1", Calls: []umpire.Call{command("c", "npm install x")}, Message: json.RawMessage(`{}`)})
		if err != nil {
			return out, err
		}
		return historyOut{state: b.Calls[0].State}, nil
	case "list":
		list, err := g.Pending(ctx, umpire.PendingQuery{Session: s})
		if len(list) > 0 {
			w.seen.Store(&list[0])
		}
		return historyOut{done: len(list) > 0}, err
	case "resolve":
		_, err = g.Resolve(ctx, answerTo(*w.seen.Load(), op.choice))
		if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
			return historyOut{standing: late.Standing.Choice}, nil
		}
	case "start":
		started, err := g.Start(ctx, umpire.Start{Session: s, Batch: "m1", Call: "c"})
		return historyOut{done: started.Go}, early(err)
	case "finish":
		_, err = g.Finish(ctx, umpire.Result{Session: s, Batch: "m1", Call: "c", Status: umpire.ResultOK, Output: "installed"})
	case "claim":
		_, err = g.conversations.Compose(ctx, s, w.session.Epoch)
	case "look":
		b, err := g.Batch(ctx, s, "m1")
		if err != nil {
			return out, early(err)
		}
		return historyOut{state: b.Calls[0].State}, nil
	}
	return historyOut{done: err == nil}, early(err)
}

// early accepts refusals of requests that come too early or too late: they are answers.
func early(err error) error {
	if errors.Is(err, umpire.ErrState) || errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	return err
}

// second is another gate over the same store, as another process would be.
func (d *testGate) second() *Gate {
	d.t.Helper()
	other := &testGate{t: d.t, home: d.home, project: d.project, database: d.database, settings: d.settings, clock: d.clock}
	other.open()
	d.t.Cleanup(other.shut)
	return other.Gate
}
