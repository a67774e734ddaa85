package agent

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/policy"
)

// A house is a real gate with an agent and what its sub-agents are made of.
type house struct {
	*testing.T

	gate     *gate.Gate
	dir      string
	tools    *fakeTools // of the agent
	child    *fakeTools // of its sub-agents
	model    *scripted
	models   map[string]*scripted // of the profiles
	recorder *recorder
	seen     []umpire.Session // the sub-agents' sessions, as they were equipped
	closed   int
	agent    *Agent
}

func newHouse(t *testing.T, replies ...llm.Message) *house {
	t.Helper()
	home := t.TempDir()
	h := &house{T: t, dir: t.TempDir(), tools: &fakeTools{}, child: &fakeTools{}, model: &scripted{replies: replies}, models: map[string]*scripted{}, recorder: &recorder{}}
	s, err := sqlite.Open(t.Context(), filepath.Join(home, "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	h.gate = gate.New(gate.Config{UserHome: home, Home: filepath.Join(home, ".umpire"), Store: s, Alive: h.alive, Settings: config.Settings{
		Settings: policy.Settings{Mode: umpire.ModeDefault}, Profiles: map[string]policy.Profile{"reviewer": {}, "reader": {Tools: []string{"Read"}}},
	}})
	t.Cleanup(func() {
		if err := errors.Join(h.gate.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	h.agent = h.worker("first")
	return h
}

// alive is only the runner that the agent currently has.
func (h *house) alive(runner string) (alive, known bool) { return runner == h.agent.Runner, true }

// worker is an agent of a process with that name.
func (h *house) worker(runner string) *Agent {
	began := time.Now()
	return &Agent{Gate: h.gate, Model: h.model, Tools: h.tools, Handler: h.recorder, Runner: runner, Sub: &SubAgents{
		Profiles: []string{"reader", "reviewer"}, Equip: h.equip, Leave: true,
	}, clock: func() time.Time { return began }} // no lease is in danger because the machine is busy
}

func (h *house) equip(_ context.Context, s *umpire.Session, _ func(umpire.CallID, string)) (Equipment, error) {
	h.seen = append(h.seen, *s)
	model := h.models[s.Profile]
	if model == nil {
		return Equipment{}, errors.New("no model")
	}
	return Equipment{Model: model, Tools: h.child, Close: func() { h.closed++ }}, nil
}

func (h *house) open(o umpire.Opening) umpire.Session {
	h.Helper()
	o.Dir, o.Runner = h.dir, h.agent.Runner
	s, err := h.gate.Sessions().Open(h.Context(), o)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// run runs the agent in a new session, and returns the last results that the model received.
func (h *house) run(o umpire.Opening) (Outcome, []llm.Block) {
	h.Helper()
	outcome, err := h.agent.Run(h.Context(), h.open(o), "go")
	if err != nil {
		h.Fatal(err)
	}
	return outcome, h.model.last().Results()
}

func task(id, profile string) llm.Block {
	input, err := json.Marshal(map[string]string{"description": "d", "prompt": "look for it", "subagent_type": profile})
	if err != nil {
		panic(err)
	}
	return llm.Call(id, taskTool, input)
}

func reading(id string) llm.Block {
	return llm.Call(id, "Read", json.RawMessage(`{"file_path":"a"}`))
}

func TestSubAgentWorksInASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(reading("a"), task("t1", "reviewer"), task("t2", "reviewer"), reading("b")))
	h.models["reviewer"] = &scripted{replies: []llm.Message{say("first", reading("c")), say("found it")}}
	outcome, results := h.run(umpire.Opening{Mode: new(umpire.ModeDefault)})
	if outcome != (Outcome{}) {
		t.Errorf("outcome %+v", outcome)
	}
	if len(results) != 4 || results[1].Output != "found it" || results[1].IsError || results[2].Output != "found it" {
		t.Errorf("results %+v", results)
	}
	if len(h.seen) != 2 || h.seen[0].ID == h.seen[1].ID || h.closed != 2 {
		t.Fatalf("%d sub-agents, %d closed", len(h.seen), h.closed)
	}
	child := h.seen[0]
	if child.IsRoot || child.Parent == "" || child.Profile != "reviewer" {
		t.Errorf("the child is %+v", child)
	}
	if h.tools.all() != "a b" || h.child.all() != "c c" {
		t.Errorf("the agent ran %q, its sub-agents %q", h.tools.all(), h.child.all())
	}
	if s, err := h.gate.Sessions().Get(t.Context(), child.ID); err != nil || s.State != umpire.SessionOver {
		t.Errorf("the child's session is %s, %v", s.State, err)
	}
	want := "ended a ok\nended c ok\nended t1 ok\nended c ok\nended t2 ok\nended b ok\nsaid done"
	if got := h.recorder.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	first := h.models["reviewer"].requests[0]
	if slices.ContainsFunc(first.Tools, func(t llm.Tool) bool { return t.Name == taskTool }) || len(first.Messages) != 1 || first.Messages[0].Text() != "look for it" {
		t.Errorf("the sub-agent was asked %+v", first)
	}
	if !strings.Contains(first.System, "You are a sub-agent") {
		t.Error("the sub-agent does not know that it is one")
	}
}

// A sub-agent cannot have a sub-agent, even if its model tries: the call is denied without a
// question.
func TestSubAgentHasNoSubAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	h.agent.Sub.Equip = func(ctx context.Context, s *umpire.Session, onOutput func(umpire.CallID, string)) (Equipment, error) {
		e, err := h.equip(ctx, s, onOutput)
		e.Tools = &planner{}
		return e, err
	}
	h.models["reviewer"] = &scripted{replies: []llm.Message{say(task("deeper", "reviewer"))}}
	if _, results := h.run(umpire.Opening{}); results[0].Output != "done" {
		t.Errorf("results %+v", results)
	}
	if len(h.seen) != 1 {
		t.Errorf("%d sub-agents", len(h.seen))
	}
	if deep := h.models["reviewer"].requests[0]; slices.ContainsFunc(deep.Tools, func(t llm.Tool) bool { return t.Name == taskTool || t.Name == leavesPlan }) {
		t.Errorf("a sub-agent has %+v", deep.Tools)
	}
	if results := h.models["reviewer"].last().Results(); len(results) != 1 || !results[0].IsError {
		t.Errorf("the sub-agent was told %+v", results)
	}
}

// planner is a set of tools with one more.
type planner struct{ fakeTools }

func (p *planner) Tools() []llm.Tool {
	return append(p.fakeTools.Tools(), llm.Tool{Name: leavesPlan, Schema: json.RawMessage(`{}`)})
}

func (p *planner) Has(name string) bool { return name == leavesPlan || p.fakeTools.Has(name) }

func TestBadTasks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(
		task("unknown", "nobody"), llm.Call("empty", taskTool, json.RawMessage(`{"prompt":" "}`)), llm.Call("list", taskTool, json.RawMessage(`{"prompt":[]}`)),
		task("unequipped", "reader"), task("fails", "reviewer"),
	))
	h.models["reviewer"] = &scripted{replies: []llm.Message{{Role: llm.RoleAssistant, Content: []llm.Block{llm.Text("half a")}, Stop: llm.StopCut}}}
	_, results := h.run(umpire.Opening{})
	for i, want := range []string{"unknown profile \"nobody\"; want one of: reader, reviewer", "input.prompt: is missing", "input", "no model", "is incomplete"} {
		if !results[i].IsError || !strings.Contains(results[i].Output, want) {
			t.Errorf("result %d is %+v, want an error with %q", i, results[i], want)
		}
	}
}

// S-6: a sub-agent has the tools of its profile, not those of its parent.
func TestProfileOfASubAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reader")))
	h.models["reader"] = &scripted{replies: []llm.Message{say(reading("r"), llm.Call("l", "LS", nil))}}
	h.child.run = func(context.Context, umpire.Started) umpire.Result { return umpire.Result{Status: umpire.ResultOK} }
	h.run(umpire.Opening{})
	if results := h.models["reader"].last().Results(); results[0].IsError || !results[1].IsError || h.child.all() != "r" {
		t.Errorf("it was told %+v, and ran %s", results, h.child.all())
	}
}

// Headless: a sub-agent's call that would ask is denied, and its parent's run reports it.
func TestHeadlessSubAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	h.models["reviewer"] = &scripted{replies: []llm.Message{say(llm.Call("w", "Write", json.RawMessage(`{"file_path":"a","content":""}`)))}}
	outcome, results := h.run(umpire.Opening{Headless: true})
	if outcome.Unattended != 1 || results[0].IsError || h.child.all() != "" {
		t.Errorf("outcome %+v, results %+v, ran %q", outcome, results, h.child.all())
	}
}

// The same person is asked about the calls of a sub-agent; stopping its turn also stops its
// parent's.
func TestQuestionsOfSubAgents(t *testing.T) {
	t.Parallel()
	writing := func(id string) llm.Message {
		return say(llm.Call(id, "Write", json.RawMessage(`{"file_path":"`+id+`","content":""}`)))
	}
	for choice, want := range map[umpire.Choice]struct {
		outcome Outcome
		ran     string
	}{
		umpire.Approve: {Outcome{}, "w"},
		umpire.Refuse:  {Outcome{}, ""},
		umpire.Cancel:  {Outcome{Cancelled: true}, ""},
	} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, say(task("t", "reviewer"), reading("r")))
			h.models["reviewer"] = &scripted{replies: []llm.Message{writing("w")}}
			h.agent.Ask = func(ctx context.Context, p umpire.Pending) error {
				answer := umpire.Answer{Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version, Choice: choice, Actor: "ann"}
				if choice == umpire.Approve {
					answer.Scope = umpire.ScopeOnce
				}
				_, err := h.gate.Resolve(ctx, answer)
				return err
			}
			session := h.open(umpire.Opening{})
			outcome, err := h.agent.Run(t.Context(), session, "go")
			if err != nil || outcome != want.outcome || h.child.all() != want.ran {
				t.Errorf("outcome %+v, %v; ran %q", outcome, err, h.child.all())
			}
			if stopped := choice == umpire.Cancel; stopped != (h.tools.all() == "") {
				t.Errorf("the agent went on with %q", h.tools.all())
			}
		})
	}
}

// A run that is interrupted leaves its sub-agent, and the next one continues with it: what
// has been done is not done again, and the task has one result.
func TestSubAgentIsGoneOnWith(t *testing.T) {
	t.Parallel()
	h := newHouse(t, say(task("t", "reviewer")))
	h.models["reviewer"] = &scripted{replies: []llm.Message{say(reading("c1")), say(reading("c2")), say("all read")}}
	session := h.open(umpire.Opening{})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	h.models["reviewer"].before = func(n int) {
		if n == 2 {
			interrupt()
		}
	}
	if _, err := h.agent.Run(ctx, session, "go"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first run ended with %v", err)
	}
	before := h.child.all()
	h.models["reviewer"].before = nil
	h.agent = h.worker("second")
	session, err := h.gate.Sessions().Continue(t.Context(), umpire.Resumption{ID: session.ID, Dir: h.dir, Runner: "second"})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := h.agent.Run(t.Context(), session, "")
	if err != nil || outcome != (Outcome{}) {
		t.Fatalf("the second run: %+v, %v", outcome, err)
	}
	if results := h.model.last().Results(); len(results) != 1 || results[0].Output != "all read" || results[0].IsError {
		t.Errorf("results %+v", results)
	}
	if before != "c1" || h.child.all() != "c1 c2" {
		t.Errorf("ran %q, and then %q", before, h.child.all())
	}
	if len(h.seen) != 2 || h.seen[0].ID != h.seen[1].ID {
		t.Errorf("sub-agents: %d", len(h.seen))
	}
}

// What the agent's commands are confined in, those of its sub-agents are.
func TestSubAgentIsConfined(t *testing.T) {
	t.Parallel()
	a := &Agent{Sandbox: &umpire.Confinement{}, Runner: "r"}
	if below := a.deriveSubAgent(); below.Sandbox != a.Sandbox || below.Runner != "r" || below.Sub != nil {
		t.Errorf("a sub-agent is %+v", below)
	}
}
