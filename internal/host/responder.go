package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A Config is the configuration in force in a project.
type Config struct {
	policy.Settings

	// Root is the project's root folder, by which texts shorten paths.
	Root string

	// Decide decides a call in a project without storing anything. If project is "", the call's own
	// folder decides.
	Decide func(ctx context.Context, project string, q policy.Query) umpire.Decision
	// Ended runs the hooks for a call that ran in a project, with its output.
	Ended func(ctx context.Context, project string, call umpire.Call, output string) error
}

// A Responder answers questions. It is safe for concurrent use.
type Responder struct {
	// Config reads the configuration of the project of a folder. An error denies.
	Config func(project string) (Config, error)
	// Decided is called for each decision made without a gate, with the question and the folder
	// that identifies the project; it may be nil.
	Decided func(q *Question, project string, d *umpire.Decision)
	// Observed is called with each decision about a call while umpire only observes; it may be nil.
	Observed func(call *umpire.Call, d *umpire.Decision)
	// Remember is called before and after a host's call runs and records its writes for undo; it
	// may be nil. The decision is nil unless the host now runs a call as it came.
	Remember func(ctx context.Context, q *Question, e *Event, d *umpire.Decision)
	// TurnLine returns a line for the user about the changes that commands of a session made since its
	// last turn, or ""; it may be nil.
	TurnLine func(q *Question, e *Event) string
	// Admit submits one call to the gate and starts it at once if nothing objects. Admit and Hash
	// are required if there is a gate.
	Admit func(
		ctx context.Context, s umpire.Submission, runner string, choose func(*umpire.Decision) umpire.Admission,
	) (umpire.Started, error)
	// Hash is the digest by which the gate recognizes equal calls.
	Hash func(tool string, input json.RawMessage) (string, error)
	// Home is the user's home directory, which contains the agents' own folders.
	Home string
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Rewriter has command lines run by umpire; nil leaves them as they came.
	Rewriter Rewriter
	// HandOver is called if a Rewriter is needed but missing; it may be nil. It may not return.
	HandOver func(q *Question)

	gate     umpire.Gate
	since    time.Time // when the gate began to run
	attended func(ctx context.Context, session umpire.SessionID) bool
	through  *gateAnswers // nil decides without a gate
}

// A gateAnswers answers questions through a gate. Its functions are fields to keep them out of
// programs that never have a gate.
type gateAnswers struct {
	answer func(*Responder, context.Context, *run, hookCase) (Output, error)
	record func(*Responder, context.Context, *run, hookCase) error
	follow func(*Responder, context.Context, *run, *Question, Event) error
}

// UseGate makes a gate store and hold the calls. The error of its Await matches [ErrAway] if it
// shuts down meanwhile. attended reports whether a person would see a session's question in
// umpire's inbox now.
func (p *Responder) UseGate(g umpire.Gate, attended func(context.Context, umpire.SessionID) bool) {
	p.gate, p.since, p.attended = g, p.now(), attended
	p.through = &gateAnswers{(*Responder).answerThrough, (*Responder).recordCall, (*Responder).followThrough}
}

// ErrAway means that the gate is shutting down, and that the question must be asked again.
var ErrAway = errors.New("the gate is shutting down")

// Answer answers a question within its deadline. The only error is [ErrAway].
func (p *Responder) Answer(ctx context.Context, q Question) (Output, error) {
	h := Find(q.Agent)
	if h == nil {
		return claude.Fail("", umpire.Errorf("unknown agent %q", view.Visible(q.Agent))), nil
	}
	if q.Deadline <= 0 {
		return h.Fail(h.payloadAbout(q.Payload), errLate), nil
	}
	r := newRun(p.now, q.Deadline)
	r.reads(q.Payload)
	out := r.watch(ctx, h, func(ctx context.Context) Output { return h.answerQuestion(p, ctx, r, &q) })
	if r.away.Load() {
		return Output{}, ErrAway
	}
	return out, nil
}

func (p *Responder) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// config reads the configuration of the project that a question is about, and applies its deadline.
func (p *Responder) config(r *run, q *Question, folder string) (Config, error) {
	c, err := p.Config(folder)
	if err == nil {
		r.observes.Store(new(c.Observes()))
	}
	if err == nil && c.Hook.Deadline > 0 {
		r.limitTo(c.Hook.Deadline)
	}
	if decide := c.Decide; p.Decided != nil {
		c.Decide = func(ctx context.Context, project string, query policy.Query) umpire.Decision {
			d := decide(ctx, project, query)
			p.Decided(q, folder, &d)
			return d
		}
	}
	return c, err
}

// unenforced says on standard error what a call would do that umpire lets through although it would not have.
func unenforced(d umpire.Decision, in view.Folders) []byte {
	if d.Verdict == umpire.Allow {
		return nil
	}
	said, why := view.Explain(&d, in, catalogue.English)
	if said == "" {
		said, why = cmp.Or(why, "this call has no reason"), ""
	}
	answer := fmt.Sprintf("Not enforced, would have answered %s", d.Verdict)
	return []byte(sentences("umpire: "+said, answer, view.Capitalized(why)) + "\n")
}
