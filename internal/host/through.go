package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A gateHook answers one question of Claude Code through the gate. Claude Code
// asks call by call, so each call is a batch and a lane of its own.
type gateHook struct {
	claudeCase

	desk *Desk
	gate Gate
	run  *run
}

func (d *Desk) claudeThrough(ctx context.Context, r *run, q claudeCase) (adapter.Output, error) {
	h := &gateHook{claudeCase: q, desk: d, gate: d.Gate, run: r}
	if q.event.Kind == adapter.ClaudePermissionRequest {
		return h.request(ctx)
	}
	if q.event.ToolUseID == "" { // without an id, equal calls would pass for one
		h.event.Call.ID += umpire.CallID("-" + q.question.Nonce)
	}
	if asks, err := h.native(ctx); err != nil || asks != nil {
		return h.answer(asks), err
	}
	r.holding.Store(true)
	started, err := h.admit(ctx)
	if err != nil && ctx.Err() != nil {
		// It may have been stored all the same; the answer goes to nobody.
		_, err = h.withdraw(ctx, umpire.ResultCancelled, goneText)
	}
	switch {
	case err != nil:
		return Output{}, err
	case started.Go:
		return h.answer(&started.Decision), nil
	}
	return h.settle(ctx, started.Batch)
}

// goneText is told of a call whose agent has ended the hook.
const goneText = "The agent does not wait for the answer any more"

func (h *gateHook) id() umpire.BatchID { return umpire.BatchID(h.event.Call.ID) }

// answer writes a decision in Claude Code's words; nil is no opinion.
func (h *gateHook) answer(d *umpire.Decision) adapter.Output {
	if d == nil {
		return adapter.Output{}
	}
	return adapter.AnswerClaude(h.event, *d, adapter.ClaudeAnswerOptions{Headless: h.headless})
}

// native decides first where the agent's own prompt is wanted: what asks is left to
// it, and nothing of it is stored. A mode of the agent's that tightens is left to
// the submission, since only that can bear one.
func (h *gateHook) native(ctx context.Context) (*umpire.Decision, error) {
	if !h.config.Native || h.headless || h.mode() != nil {
		return nil, nil
	}
	var d umpire.Decision
	err := h.opened(ctx, func() (err error) {
		d, err = h.gate.Check(ctx, h.call())
		return err
	})
	if err != nil || d.Verdict != umpire.Ask {
		return nil, err
	}
	// Checking runs no hooks, and nothing comes after this that would.
	if alone := h.alone(ctx); alone.Verdict == umpire.Deny {
		return &alone, nil
	}
	return &d, nil
}

// mode is Claude Code's own mode where it tightens the configured one.
func (h *gateHook) mode() *umpire.Mode {
	if mode := h.event.Mode(h.config.Mode); mode != h.config.Mode {
		return &mode
	}
	return nil
}

func (h *gateHook) call() umpire.Call {
	call := h.event.Call
	call.Batch = h.id()
	return call
}

// opened does something in the session, which is opened if there is none: a hook
// does not know whether it is the first.
func (h *gateHook) opened(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, umpire.ErrNotFound) {
		return err
	}
	if err := openClaude(ctx, h.gate, h.question, &h.event, h.project); err != nil {
		return err
	}
	return do()
}

// admit hands the call in, or finds it where it was handed in before, and claims it
// if it may run at once.
func (h *gateHook) admit(ctx context.Context) (started umpire.Started, err error) {
	err = h.opened(ctx, func() error {
		started, err = h.desk.Admit(ctx, umpire.Submission{
			Session: h.event.Session, Batch: h.id(), Lane: string(h.id()), Calls: []umpire.Call{h.call()},
			Headless: h.headless, Mode: h.mode(),
		}, h.question.Runner)
		return err
	})
	return started, err
}

// settle follows the call until there is an answer.
func (h *gateHook) settle(ctx context.Context, b umpire.Batch) (Output, error) {
	for {
		c := b.Call(h.event.Call.ID)
		if c == nil {
			return Output{}, fmt.Errorf("the gate does not know call %q", h.event.Call.ID)
		}
		switch c.State {
		case umpire.CallAsked:
			next, err := h.hold(ctx)
			if err != nil {
				return Output{}, err
			}
			b = next
		case umpire.CallApproved:
			started, err := h.start(ctx)
			if err != nil {
				return Output{}, err
			}
			if started.Go {
				return h.answer(&started.Decision), nil
			}
			b = started.Batch
		case umpire.CallExecuting:
			if h.question.Again {
				return Output{}, errors.New("the gate went away before it told its answer")
			}
			// The same hook registered twice: the other one has the answer.
			return Output{}, nil
		case umpire.CallDenied, umpire.CallDone, umpire.CallUnknown, umpire.CallSettled:
			return h.answer(refusal(c)), nil
		default:
			return Output{}, fmt.Errorf("the gate has call %q in the state %q", c.ID, c.State)
		}
	}
}

// start claims the call: from here on it may have run.
func (h *gateHook) start(ctx context.Context) (umpire.Started, error) {
	started, err := h.gate.Start(ctx, umpire.Start{
		Session: h.event.Session, Batch: h.id(), Call: h.event.Call.ID, Runner: h.question.Runner,
	})
	if c := started.Batch.Call(h.event.Call.ID); err == nil && !started.Go && c != nil && c.State == umpire.CallApproved {
		err = fmt.Errorf("the gate does not let call %q start", c.ID)
	}
	return started, err
}

// refusal is what stands against a call. It denies, since a Decision's zero value
// does.
func refusal(c *umpire.BatchCall) *umpire.Decision {
	d := umpire.Decision{Reason: c.Reason, ReasonCode: c.Code}
	if c.Result != nil && c.Code == "" {
		d.ReasonCode = c.Result.Code
	}
	if d.Reason == "" && d.ReasonCode != umpire.CodeDenied && c.Result != nil {
		d.Reason = c.Result.Output
	}
	if c.Result != nil && c.Result.Status == umpire.ResultOK {
		d.Reason, d.ReasonCode = "This very call has run before", umpire.CodeResolved
	}
	return &d
}

// hold waits until the call waits no more, and withdraws it when time is over.
func (h *gateHook) hold(ctx context.Context) (umpire.Batch, error) {
	left := h.run.left()
	held, cancel := context.WithTimeout(ctx, left-min(withdrawTime, left/5))
	defer cancel()
	b, err := h.wait(held)
	switch {
	case ctx.Err() != nil:
		return h.withdraw(ctx, umpire.ResultCancelled, goneText)
	case held.Err() != nil, errors.Is(err, context.DeadlineExceeded): // the gate counts the time as well
		return h.withdraw(ctx, umpire.ResultTimeout, fmt.Sprintf("Nobody answered within %s", shortTime(left.Round(time.Second))))
	}
	return b, err
}

// wait waits until the batch waits no more.
func (h *gateHook) wait(ctx context.Context) (umpire.Batch, error) {
	for {
		b, err := h.gate.Await(ctx, h.event.Session, h.id(), maxAwait)
		if err != nil || b.State != umpire.BatchWaiting {
			return b, err
		}
	}
}

// maxAwait is how long the gate is waited for at a time.
const maxAwait = time.Minute

// withdraw ends a call that nobody waits for any more. When it was answered at the
// last moment, that answer stands.
func (h *gateHook) withdraw(ctx context.Context, status umpire.ResultStatus, why string) (umpire.Batch, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	b, err := h.gate.Finish(ctx, umpire.Result{
		Call: h.event.Call.ID, Session: h.event.Session, Batch: h.id(), Status: status, Output: why,
	})
	if errors.Is(err, umpire.ErrState) {
		return h.gate.Batch(ctx, h.event.Session, h.id())
	}
	return b, err
}

// shortTime writes 1h, not 1h0m0s.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, tail := range []string{"0s", "0m"} {
		if rest, ok := strings.CutSuffix(text, tail); ok && strings.ContainsAny(rest[len(rest)-1:], "hm") {
			text = rest
		}
	}
	return text
}
