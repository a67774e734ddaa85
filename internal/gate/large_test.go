package gate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
)

// TestLargeInputIsStoredOnce: a command of three megabytes is stored once, compressed, and each
// later step costs no more than for a small one. It is judged, bound and run whole.
func TestLargeInputIsStoredOnce(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	onEachStore(t, func(t *testing.T, g *Gate) {
		d := &testGate{Gate: g, t: t}
		session := must(g.sessions.Open(t.Context(), umpire.Opening{Dir: t.TempDir()}))(t)
		small, large := newLarge(d, session, "small", "npm install x"), newLarge(d, session, "large", largeLine("a"))
		for step, cost := range small.take() {
			is := large.take()[step]
			if first := step == "submit"; !first && is.Bytes > cost.Bytes+1000 || is.Bytes > 2<<20 ||
				is.Statements > cost.Statements+1 || !first && is.Statements > cost.Statements {
				t.Errorf("%s: a large call takes %+v, a small one %+v", step, is, cost)
			}
		}
		// It was approved for the session: the same again runs, and one that looks the same does not.
		if again := newLarge(d, session, "again", largeLine("a")).submit(); again.State != umpire.BatchRunning {
			t.Errorf("the same command again is %s", again.State)
		}
		other := newLarge(d, session, "other", largeLine("b"))
		if b := other.submit(); b.State != umpire.BatchWaiting {
			t.Errorf("another command is %s", b.State)
		}
		card, was := d.pending("other"), large.card
		if string(card.Input) != string(was.Input) || card.ArgsHash == was.ArgsHash || card.InputSize != len(other.input) {
			t.Errorf("cards of two commands that differ in the middle: %d and %d bytes of %d", len(card.Input),
				len(was.Input), card.InputSize)
		}
		if whole := must(umpire.WholeInput(t.Context(), g, &card))(t); string(whole) != other.input {
			t.Errorf("the whole input has %d bytes", len(whole))
		}
		if breaks := must(g.be.store.Verify(t.Context(), nil))(t); len(breaks) > 0 {
			t.Errorf("the timeline is broken: %+v", breaks)
		}
	})
}

// largeLine is a command of three megabytes; one with another middle has the same beginning and end.
func largeLine(middle string) string {
	var line strings.Builder
	line.WriteString("cat > data <<E\n")
	for i := 0; line.Len() < 3<<20; i++ {
		fmt.Fprintf(&line, "%d\n", i*i*7919%1_000_003)
		if i == 200_000 {
			line.WriteString(middle)
		}
	}
	return line.String() + "E"
}

// A largeCall takes one call through the gate, in a separate batch.
type largeCall struct {
	d       *testGate
	session umpire.Session
	id      string
	input   string
	card    umpire.Pending
	costs   map[string]store.Counts
}

func newLarge(d *testGate, s umpire.Session, id, line string) *largeCall {
	return &largeCall{d: d, session: s, id: id, input: `{"command":` + quoted(line) + `}`}
}

func (l *largeCall) submit() umpire.Batch {
	l.d.t.Helper()
	var counts store.Counts
	b := must(l.d.Submit(store.WithCounts(l.d.t.Context(), &counts), umpire.Submission{
		Session: l.session.ID, Batch: umpire.BatchID(l.id), Lane: l.id, Calls: []umpire.Call{call(l.id, "Bash", l.input)},
	}))(l.d.t)
	l.costs = map[string]store.Counts{"submit": counts}
	return b
}

// take has the call asked about, approved for the session, started and finished, and returns what each step took.
func (l *largeCall) take() map[string]store.Counts {
	t, g := l.d.t, l.d.Gate
	t.Helper()
	if l.costs != nil {
		return l.costs
	}
	l.submit()
	l.card = l.d.pending(l.id)
	if text := data(l.card); len(text) > 64<<10 {
		t.Errorf("the card has %d bytes", len(text))
	}
	step := func(name string, do func(context.Context)) {
		var counts store.Counts
		do(store.WithCounts(t.Context(), &counts))
		l.costs[name] = counts
	}
	step("resolve", func(ctx context.Context) {
		a := answerTo(l.card, umpire.Approve)
		a.Scope = umpire.ScopeSession
		must(g.Resolve(ctx, a))(t)
	})
	step("start", func(ctx context.Context) {
		started := must(g.Start(ctx, umpire.Start{
			Session: l.session.ID, Batch: l.card.Batch, Call: l.card.Call, Epoch: l.session.Epoch, Runner: "r",
		}))(t)
		if !started.Go || string(started.Call.Input) != l.input {
			t.Errorf("started %t, with %d bytes of %d", started.Go, len(started.Call.Input), len(l.input))
		}
	})
	step("finish", func(ctx context.Context) {
		must(g.Finish(ctx, umpire.Result{
			Session: l.session.ID, Batch: l.card.Batch, Call: l.card.Call, Status: umpire.ResultOK, Epoch: l.session.Epoch,
		}))(t)
	})
	return l.costs
}
