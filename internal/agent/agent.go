// Package agent is the loop of the built-in agent: it asks a model, submits every call of the model
// to the gate, runs the calls that the gate allows, and returns the results, until the model has
// nothing more to do.
//
//	a := &agent.Agent{Gate: gate, Model: model, Tools: tools, System: agent.Prompt(where)}
//	outcome, err := a.Run(ctx, session, "fix the tests")
//
// The loop guarantees:
//
//   - A message with calls is stored before any of them runs, a call before it runs, its
//     result before the model sees it. Each request is built from the store, so another run
//     can continue where this one ends.
//   - While a call waits for a person nothing runs and the model is not asked.
//   - Calls run one by one, in the model's order, each when the gate allows it.
//   - A runner that may have lost its session ends its running work before another runner
//     can take the session, and writes nothing more.
package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// Tools are the agent's tools. A tool runs only with the gate's permission.
type Tools interface {
	Tools() []llm.Tool
	Has(name string) bool
	Run(ctx context.Context, started umpire.Started) umpire.Result
	// Stop ends background work.
	Stop()
}

// A Handler is notified of the progress of a run and its sub-agents. Its methods are called one at
// a time.
type Handler interface {
	// Event receives every event of the session once, in order, interleaved with those of the
	// sub-agents' sessions.
	Event(e umpire.Event)
	// Saying receives pieces of the assistant's reply. They are provisional until Said; a reply
	// that breaks off is never said.
	Saying(piece llm.Delta)
	// Said receives the assistant's reply, once it is stored.
	Said(text string)
	// Output receives pieces of a running call's output, see tool.Options.
	Output(call umpire.CallID, text string)
	// Ended receives each call of the run with its result, in the order in which they end. The
	// result of a sub-agent's call names the sub-agent's session.
	Ended(call umpire.BatchCall, r umpire.Result)
	// Waiting is called with the number of questions that wait for a person.
	Waiting(n int)
	// Queued is called when a message waits until these questions are answered.
	Queued(p umpire.Prompted)
}

// An Agent runs sessions, one at a time. Gate, Model and Tools are required.
type Agent struct {
	Gate  umpire.Gate
	Model llm.Model
	Tools Tools
	// System is the system prompt, see [Prompt].
	System  string
	Handler Handler // nil is not notified
	// Ask asks a person directly about one question and submits the answer. It returns when that is
	// done, or when its context ends because the question has been answered elsewhere. If nil,
	// others ask.
	Ask func(ctx context.Context, p umpire.Pending) error
	// Sandbox describes the sandbox of the tools to the gate, which takes it into account. If nil,
	// it is unknown.
	Sandbox *umpire.Confinement
	// Runner identifies this process, as evidence after a crash.
	Runner string
	// From is the sequence number after which the handler receives events.
	From int64

	// Sub configures sub-agents; if nil, the agent cannot start any.
	Sub *SubAgents

	maxTurns int // model requests per run; 0 means no limit

	clock func() time.Time // the clock, which continues while the machine sleeps; nil is the system's
	now   atomic.Pointer[run]
}

// deriveSubAgent returns a copy of the agent for a sub-agent, with the same bounds.
func (a *Agent) deriveSubAgent() *Agent {
	return &Agent{Gate: a.Gate, Ask: a.Ask, Sandbox: a.Sandbox, Runner: a.Runner, maxTurns: maxTurns, clock: a.clock}
}

// Output passes a call's output to the handler. Tools may call it at any time; outside a run it is
// dropped.
func (a *Agent) Output(call umpire.CallID, text string) {
	if r := a.now.Load(); r != nil {
		r.notify(func(h Handler) { h.Output(call, text) })
	}
}

// An Outcome is the result of a run without an error.
type Outcome struct {
	// Idle is set if there was nothing to do.
	Idle bool
	// Unattended counts the calls that were denied because the session is unattended.
	Unattended int
	// Late counts the calls that were denied because the answer came too late.
	Late int
	// Cancelled is set if a person stopped the turn.
	Cancelled bool
	// Stop is the reason why the last reply ended early, if it did.
	Stop llm.Stop
	// Waiting counts the questions for a person that cannot be asked from here; the run has ended
	// because of them.
	Waiting int
}

// A ModelError means that the model did not reply.
type ModelError struct{ Err error }

func (e *ModelError) Error() string { return e.formatted().Error() }

// Phrase returns the same as data.
func (e *ModelError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *ModelError) formatted() error { return umpire.Errorf("ask the model: %w", e.Err) }

// Unwrap returns the model's own error.
func (e *ModelError) Unwrap() error { return e.Err }

// deaf is the handler of callers without notifications.
type deaf struct{}

func (deaf) Event(umpire.Event)                    {}
func (deaf) Saying(llm.Delta)                      {}
func (deaf) Said(string)                           {}
func (deaf) Output(umpire.CallID, string)          {}
func (deaf) Ended(umpire.BatchCall, umpire.Result) {}
func (deaf) Waiting(int)                           {}
func (deaf) Queued(umpire.Prompted)                {}
