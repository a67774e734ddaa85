package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/tool"
)

// The tool Task gives a task to a sub-agent: another agent, in a separate session below this one,
// with its own conversation, profile and tools. Its calls go through the same gate, which keeps it
// as strict as its parent, and the same person is asked about them. A sub-agent has no sub-agents.
//
// A crash leaves the sub-agent in place, and so may an interrupted run: the next run starts the
// call again and continues the same session.

const (
	taskTool = "Task"
	// leavesPlan is a tool that sub-agents do not have: the mode is their parent's.
	leavesPlan = "ExitPlanMode"
	// maxTasks bounds the sub-agents of one run.
	maxTasks = 50
	// maxTurns bounds the model requests of a sub-agent, which runs unwatched.
	maxTurns = 200
)

// SubAgents configure an agent's sub-agents.
type SubAgents struct {
	// Profiles are the valid values of subagent_type. A profile without a model uses its parent's.
	Profiles []string
	// Equip gives a sub-agent its model and its tools; onOutput receives the output of its calls.
	Equip func(ctx context.Context, s *umpire.Session, onOutput func(umpire.CallID, string)) (Equipment, error)
	// Leave makes an interrupted run leave its sub-agent to the next one, which must have taken the
	// session again. Without it a sub-agent ends with the run, as any other call does.
	Leave bool
}

// Equipment is a sub-agent's model and tools.
type Equipment struct {
	Model llm.Model
	Tools Tools
	// Close is called when the sub-agent has finished.
	Close func()
}

// tasks is the tool Task of one run.
type tasks struct {
	run  *run
	used int
	over umpire.SessionID // session of a finished task, once its result is stored
}

var _ Tools = (*tasks)(nil)

// Has reports whether name is the tool Task.
func (*tasks) Has(name string) bool { return name == taskTool }

// Stop does nothing: a sub-agent ends with the call that started it.
func (*tasks) Stop() {}

// Tools describes the tool to the model.
func (t *tasks) Tools() []llm.Tool {
	kind := map[string]any{
		"type": "string", "description": "the profile of the sub-agent; without it, that of this agent",
	}
	if profiles := t.run.Sub.Profiles; len(profiles) > 0 {
		kind["enum"] = profiles
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"description", "prompt"},
		"properties": map[string]any{
			"description": map[string]any{"type": "string", "description": "the task in a few words"},
			"prompt": map[string]any{
				"type": "string", "description": "all that the sub-agent is to know and to do",
			},
			"subagent_type": kind,
		},
	})
	if err != nil {
		panic("schema of " + taskTool + ": " + err.Error())
	}
	return []llm.Tool{{Name: taskTool, Schema: schema, Description: "Gives a task to a sub-agent, which works on it " +
		"alone, in a conversation of its own, " +
		"and returns its last words. It knows nothing of this conversation. Several in one message work one after " +
		"the other."}}
}

// An assignment is the input of a call.
type assignment struct {
	Prompt  string `json:"prompt"`
	Profile string `json:"subagent_type"`
}

// anyProfile is the name that other agents use for a general-purpose sub-agent.
const anyProfile = "general-purpose"

// assign reads the input.
func (t *tasks) assign(call *umpire.Call) (assignment, error) {
	var a assignment
	if err := json.Unmarshal(call.Input, &a); err != nil {
		return a, umpire.Errorf("input: %w", err)
	}
	if strings.TrimSpace(a.Prompt) == "" {
		return a, errors.New("input.prompt: is missing")
	}
	profiles := t.run.Sub.Profiles
	switch {
	case slices.Contains(profiles, a.Profile):
	case a.Profile == "" || a.Profile == anyProfile:
		a.Profile = t.run.session.Profile
	default:
		return a, umpire.Errorf(
			"input.subagent_type: unknown profile %q; want one of: %s", a.Profile, strings.Join(profiles, ", "),
		)
	}
	return a, nil
}

// Run has a sub-agent do its task.
func (t *tasks) Run(ctx context.Context, started umpire.Started) umpire.Result {
	r := umpire.Result{Call: started.Call.ID}
	if !started.Go || started.Decision.Verdict != umpire.Allow {
		r.Status, r.Output = umpire.ResultDenied, "the gate has not let this call run"
		return r
	}
	words, err := t.perform(ctx, &started.Call)
	switch {
	case errors.Is(err, errStopped):
		r.Status, r.Output = umpire.ResultCancelled, "[Interrupted] The user stopped the sub-agent."
	case err != nil:
		r.Status, r.Output = umpire.ResultError, err.Error()
	default:
		r.Status, r.Output = umpire.ResultOK, words
	}
	r.Output = tool.Fit(r.Output)
	return r
}

var (
	errStopped = errors.New("a person stopped the turn")
	errWaits   = errors.New("the sub-agent waits for an answer, but this process cannot ask a person")
	errTurns   = umpire.Errorf("it asked its model more than %d times", maxTurns)
)

func (t *tasks) perform(ctx context.Context, call *umpire.Call) (string, error) {
	if t.used++; t.used > maxTasks {
		return "", umpire.Errorf("this run has already had %d sub-agents, the most allowed", maxTasks)
	}
	a, err := t.assign(call)
	if err != nil {
		return "", err
	}
	child, lastSeq, err := t.openSession(ctx, call, &a)
	if err != nil {
		return "", umpire.Errorf("the session of the sub-agent: %w", err)
	}
	t.over = child.ID
	words, outcome, err := t.runSubAgent(ctx, child, lastSeq, a.Prompt)
	t.run.outcome.Unattended += outcome.Unattended
	t.run.outcome.Late += outcome.Late
	t.run.outcome.Waiting += outcome.Waiting
	switch {
	case err != nil:
		return "", umpire.Errorf("the sub-agent failed: %w", err)
	case outcome.Waiting > 0:
		return "", errWaits
	case outcome.Cancelled:
		t.run.cancelled = true
		return "", errStopped
	case outcome.Stop != llm.StopEnd:
		return "", umpire.Errorf("the sub-agent's last reply is incomplete (%s): %s", outcome.Stop, words)
	}
	return words, nil
}

// again is for a sub-agent whose last words were lost with the run that received them.
const again = "What you said last did not reach whoever gave you this task. Say once more what came of it; do not " +
	"do anything again."

// runSubAgent runs the sub-agent until it has nothing more to do, and returns its final reply.
func (t *tasks) runSubAgent(
	ctx context.Context, child umpire.Session, lastSeq int64, task string,
) (string, Outcome, error) {
	handler := &subHandler{parent: t.run, session: child.ID}
	worker := t.run.deriveSubAgent()
	worker.System, worker.Handler, worker.From = Prompt(&child), handler, lastSeq
	equipment, err := t.run.Sub.Equip(ctx, &child, worker.Output)
	if err != nil {
		return "", Outcome{}, err
	}
	defer equipment.Close()
	worker.Model, worker.Tools = equipment.Model, Only(
		equipment.Tools, func(name string) bool { return name != leavesPlan },
	)
	if child.Turn > 0 {
		task = "" // the session has it already
	}
	outcome, err := worker.Run(ctx, child, task)
	if err == nil && outcome.Idle {
		outcome, err = worker.Run(ctx, child, again)
	}
	return handler.words, outcome, err
}

// endSession ends the session of a sub-agent once the result of its task is stored.
func (t *tasks) endSession(ctx context.Context) {
	if t.over == "" {
		return
	}
	ctx, done := outlastingContext(ctx)
	defer done()
	// A session that could not be ended is merely one more in the list.
	_ = t.run.Gate.Sessions().End(ctx, t.over, "its task is over")
	t.over = ""
}

// A subHandler passes on the events of a sub-agent's session, except for its replies, which are for
// its parent.
type subHandler struct {
	deaf

	parent  *run
	session umpire.SessionID
	words   string
}

func (s *subHandler) Event(e umpire.Event) { s.parent.notify(func(h Handler) { h.Event(e) }) }
func (s *subHandler) Said(text string)     { s.words = text }
func (s *subHandler) Waiting(n int)        { s.parent.notify(func(h Handler) { h.Waiting(n) }) }

func (s *subHandler) Output(call umpire.CallID, text string) {
	s.parent.notify(func(h Handler) { h.Output(call, text) })
}

func (s *subHandler) Ended(call umpire.BatchCall, r umpire.Result) {
	r.Session = s.session
	s.parent.notify(func(h Handler) { h.Ended(call, r) })
}
