package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// taken is the session for the next run, whose runner it names.
func (h *house) taken(id umpire.SessionID, headless bool) umpire.Session {
	h.Helper()
	h.agent = h.worker("second")
	s, err := h.gate.Sessions().Continue(h.Context(), umpire.Resumption{ID: id, Dir: h.dir, Runner: "second", Headless: headless})
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// deafGate loses data that a runner wants to store when it is asked to.
type deafGate struct {
	umpire.Gate

	lose string // the call whose result is lost
}

var errLost = errors.Join(umpire.ErrFenced, errors.New("lost"))

func (g *deafGate) Finish(ctx context.Context, r umpire.Result) (umpire.Batch, error) {
	if string(r.Call) == g.lose {
		return umpire.Batch{}, errLost
	}
	return g.Gate.Finish(ctx, r)
}

// The sub-agent was done, and the run ended before that was stored: it is asked for its
// last words once more, and does nothing again.
func TestLastWordsAreSaidAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	model := &scripted{replies: []llm.Message{say(reading("c")), say("found it"), say("as I said: found it")}}
	h.models["reviewer"] = model
	session := h.open(umpire.Opening{})
	h.agent.Gate = &deafGate{Gate: h.gate, lose: "t"}
	if _, err := h.agent.Run(t.Context(), session, "go"); !errors.Is(err, umpire.ErrFenced) {
		t.Fatalf("the first run ended with %v", err)
	}
	session = h.taken(session.ID, false)
	if _, err := h.agent.Run(t.Context(), session, ""); err != nil {
		t.Fatal(err)
	}
	if results := h.model.last().Results(); len(results) != 1 || results[0].Output != "as I said: found it" {
		t.Errorf("results %+v", results)
	}
	if last := model.last(); last.Text() != again || h.child.all() != "c" {
		t.Errorf("it was told %q, and ran %s", last.Text(), h.child.all())
	}
}

// A sub-agent's question that cannot be answered from here ends the run while it waits, and the
// task has no result yet.
func TestSubAgentWaitsForAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	h.models["reviewer"] = &scripted{replies: []llm.Message{say(llm.Call("w", "Write", json.RawMessage(`{"file_path":"a","content":""}`)))}}
	session := h.open(umpire.Opening{})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	h.agent.Ask = func(context.Context, umpire.Pending) error { interrupt(); return nil }
	if _, err := h.agent.Run(ctx, session, "go"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first run ended with %v", err)
	}
	session = h.taken(session.ID, true)
	outcome, err := h.agent.Run(t.Context(), session, "")
	if err != nil || outcome.Waiting != 1 {
		t.Fatalf("the second run: %+v, %v", outcome, err)
	}
	waiting, err := h.gate.Pending(t.Context(), umpire.PendingQuery{})
	if err != nil || len(waiting) != 1 || waiting[0].Call != "w" {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	if asked := h.model.asked(); asked != 1 {
		t.Errorf("the agent's model was asked %d times", asked)
	}
}

// A sub-agent that comes to no end is ended.
func TestSubAgentMayNotGoOnForever(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	endless := &scripted{}
	for range maxTurns + 1 {
		endless.replies = append(endless.replies, say(llm.Call("", "Nothing", nil)))
	}
	h.models["reviewer"] = endless
	_, results := h.run(umpire.Opening{})
	if !results[0].IsError || !strings.Contains(results[0].Output, "more than") || endless.asked() != maxTurns {
		t.Errorf("results %+v after %d turns", results, endless.asked())
	}
}

// A model that fails costs the task, not the run.
func TestModelOfASubAgentFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")), say("without it, then"))
	h.agent.Sub.Equip = func(context.Context, *umpire.Session, func(umpire.CallID, string)) (Equipment, error) {
		return Equipment{Model: broken{}, Tools: h.child, Close: func() { h.closed++ }}, nil
	}
	_, results := h.run(umpire.Opening{})
	if !results[0].IsError || !strings.Contains(results[0].Output, "the sub-agent failed: ask the model: no such model") || h.closed != 1 {
		t.Errorf("results %+v", results)
	}
}

// broken is a model that never replies.
type broken struct{}

func (broken) Reply(context.Context, llm.Request, func(llm.Delta)) (llm.Message, error) {
	return llm.Message{}, errors.New("no such model")
}

// Where a run that is interrupted leaves nothing, the task ends with it, and the same
// process can continue the session.
func TestSubAgentEndsWithTheRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	h.agent.Sub.Leave = false
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	h.models["reviewer"] = &scripted{before: func(int) { interrupt() }}
	session := h.open(umpire.Opening{})
	if _, err := h.agent.Run(ctx, session, "go"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first run ended with %v", err)
	}
	if _, err := h.agent.Run(t.Context(), session, "and now?"); err != nil {
		t.Fatal(err)
	}
	if results := h.model.last().Results(); len(results) != 1 || !results[0].IsError || !strings.Contains(results[0].Output, "[Interrupted]") {
		t.Errorf("results %+v", results)
	}
	if s, err := h.gate.Sessions().Get(t.Context(), h.seen[0].ID); err != nil || s.State != umpire.SessionOver {
		t.Errorf("the sub-agent's session is %s, %v", s.State, err)
	}
}
