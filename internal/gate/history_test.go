package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/umpirehq/umpire"
)

// Histories of many clients that answer, start and look at one call are checked
// against the obvious sequential machine: there is an order of the operations, as
// they overlapped, in which every answer is right.

type historyOp struct {
	kind   string // resolve, start, look
	choice umpire.Choice
}

type historyOut struct {
	won      bool
	standing umpire.Choice // of a late answer
	ran      bool
	state    umpire.CallState
}

// A historyState is the sequential machine: what was answered, and whether the call
// was started.
type historyState struct {
	answered umpire.Choice
	started  bool
}

func (s historyState) call() umpire.CallState {
	switch {
	case s.answered == "":
		return umpire.CallAsked
	case s.answered != umpire.Approve:
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
		case "resolve":
			if s.answered == "" {
				s.answered = op.choice
				return out.won, s
			}
			return !out.won && out.standing == s.answered, s
		case "start":
			may := s.answered == umpire.Approve && !s.started
			s.started = s.started || may
			return out.ran == may, s
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
			d := newDesk(t)
			second := d.second()
			s := d.session(umpire.Opening{})
			d.submit(s, "m1", command("c", "npm install x"))
			p := d.pending("c")
			var mu sync.Mutex
			var log []porcupine.Operation
			began := time.Now()
			var all sync.WaitGroup
			for client := range clients {
				rng := rand.New(rand.NewPCG(uint64(h), uint64(client)))
				at := []*Gate{d.Gate, second}[client%2]
				all.Go(func() {
					for range operations {
						op := historyOp{kind: []string{"resolve", "start", "look", "look"}[rng.IntN(4)]}
						if op.choice = umpire.Approve; rng.IntN(3) == 0 {
							op.choice = umpire.Refuse
						}
						entry := porcupine.Operation{ClientId: client, Input: op, Call: int64(time.Since(began))}
						out, err := operate(at, s.ID, p, op)
						if err != nil {
							t.Error(err)
							return
						}
						entry.Output, entry.Return = out, int64(time.Since(began))
						mu.Lock()
						log = append(log, entry)
						mu.Unlock()
					}
				})
			}
			all.Wait()
			if result := porcupine.CheckOperationsTimeout(historyModel, log, time.Minute); result != porcupine.Ok {
				t.Errorf("the history of %d operations is %s", len(log), result)
			}
		})
	}
}

// second is another gate over the same store, as another process would be.
func (d *desk) second() *Gate {
	d.t.Helper()
	other := &desk{t: d.t, home: d.home, project: d.project, database: d.database, settings: d.settings, clock: d.clock}
	other.open()
	d.t.Cleanup(other.shut)
	return other.Gate
}

func operate(g *Gate, s umpire.SessionID, p umpire.Pending, op historyOp) (historyOut, error) {
	ctx := context.Background()
	switch op.kind {
	case "resolve":
		_, err := g.Resolve(ctx, answerTo(p, op.choice))
		if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
			return historyOut{standing: late.Standing.Choice}, nil
		}
		return historyOut{won: err == nil}, err
	case "start":
		started, err := g.Start(ctx, umpire.Start{Session: s, Batch: "m1", Call: "c"})
		return historyOut{ran: started.Go}, err
	}
	b, err := g.Batch(ctx, s, "m1")
	if err != nil {
		return historyOut{}, err
	}
	return historyOut{state: b.Calls[0].State}, nil
}
