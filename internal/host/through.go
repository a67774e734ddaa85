package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// A gateHook answers one question of Claude Code through the gate. Claude Code asks call by call,
// so each call is a separate batch and lane.
type gateHook struct {
	hookCase

	responder *Responder
	gate      umpire.Gate
	run       *run
	// asked is the decision as if a person could be asked.
	asked umpire.Decision
	// attended is set if a person would see the question in umpire's inbox.
	attended bool
	// rewriting describes how umpire runs the call instead of the host, and looked is set once it
	// is known whether it may.
	rewriting *rewriting
	looked    bool
}

func newGateHook(p *Responder, r *run, c hookCase) *gateHook {
	h := &gateHook{hookCase: c, responder: p, gate: p.gate, run: r}
	if c.event.ToolUseID == "" { // without an id, equal calls would count as one
		h.event.Call.ID += umpire.CallID("-" + c.question.Nonce)
	}
	return h
}

// answerThrough answers a question through the gate.
func (p *Responder) answerThrough(ctx context.Context, r *run, q hookCase) (Output, error) {
	h := newGateHook(p, r, q)
	if q.event.Kind == BeforeDialog || q.event.row().Again {
		return h.request(ctx)
	}
	r.holding.Store(true)
	started, err := h.admit(ctx, h.choose)
	if err == nil && h.rewriting != nil && !h.looked {
		if h.looked = true; !p.Rewriter.Allows(ctx, h.question, h.project, &h.event.Call) {
			h.rewriting = nil
		}
		started, err = h.admit(ctx, h.choose)
	}
	if err != nil && ctx.Err() != nil {
		// The submission may have been stored all the same; the agent is gone.
		_, err = h.withdraw(ctx, umpire.ResultCancelled, goneText)
	}
	switch {
	case err != nil:
		return Output{}, err
	case h.rewriting != nil:
		if out, ok := h.rewrite(ctx, p.Rewriter, h.rewriting, started.Batch.ID); ok {
			return out, nil
		}
	}
	switch {
	case started.Go, started.Batch.ID == "": // started, or left to the host
		r.asCame = &started.Decision
		return h.writeAnswer(started.Decision, h.holds()), nil
	}
	return h.settle(ctx, started.Batch)
}

// recordCall makes the gate record a call that umpire only warns about.
func (p *Responder) recordCall(ctx context.Context, r *run, q hookCase) error {
	asks := func(d *umpire.Decision) umpire.Admission { // the gate may still enforce
		if d.Verdict != umpire.Allow {
			return umpire.AdmitLeave
		}
		return umpire.AdmitStart
	}
	_, err := newGateHook(p, r, q).admit(ctx, asks)
	return err
}

// holds reports whether a question goes to umpire's inbox now. Nothing is held in an unwatched
// inbox, unless this is configured or the agent cannot ask.
func (h *gateHook) holds() bool {
	switch h.config.Hook.WhenAsked {
	case policy.AskedAuto:
		return !h.question.Attended || h.attended
	case policy.AskedNative:
		return false
	case policy.AskedHold:
	}
	return true
}

// checkInbox checks whether a person would see the question in umpire's inbox now.
func (h *gateHook) checkInbox(ctx context.Context) {
	h.attended = h.config.Hook.WhenAsked == policy.AskedAuto && h.question.Attended &&
		h.responder.attended(ctx, h.event.Session)
}

// choose decides how a call is admitted. It is left to the host if umpire has no opinion, lets the
// host's dialog ask, or lets the host read its own files. Nothing is stored until it is known
// whether umpire may run the call.
func (h *gateHook) choose(d *umpire.Decision) umpire.Admission {
	h.asked = *d
	reply := h.reply(d, h.holds())
	if r, ok := h.responder.plan(&h.hookCase, d); ok && !h.looked {
		h.rewriting = &r
		return umpire.AdmitNothing
	}
	switch {
	case h.rewriting != nil && h.rewriting.Action == umpire.TicketUndo:
		return umpire.AdmitLater
	case h.rewriting != nil:
		return umpire.AdmitTrial
	case reply == Silent, reply == Ask, reply == Allow && d.Verdict != umpire.Allow:
		return umpire.AdmitLeave
	}
	return umpire.AdmitStart
}

// goneText is the result of a call whose agent has ended the hook.
const goneText = "The agent does not wait for the answer any more"

func (h *gateHook) id() umpire.BatchID { return umpire.BatchID(h.event.Call.ID) }

// mode returns Claude Code's own mode if it tightens the configured one.
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

// opened runs do, and opens the session first if it is missing: a hook does not know whether it is
// the first.
func (h *gateHook) opened(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, umpire.ErrNotFound) {
		return err
	}
	if err := openSession(ctx, h.gate.Sessions(), h.question, &h.event, h.project); err != nil {
		return err
	}
	return do()
}

// admit submits the call, or finds an earlier submission of it, and claims it if it may run at
// once. choose decides how it is admitted.
func (h *gateHook) admit(
	ctx context.Context, choose func(*umpire.Decision) umpire.Admission,
) (umpire.Started, error) {
	return h.admitAs(ctx, h.id(), choose)
}

// admitAs submits the call as a batch with that id.
func (h *gateHook) admitAs(
	ctx context.Context, id umpire.BatchID, choose func(*umpire.Decision) umpire.Admission,
) (started umpire.Started, err error) {
	err = h.opened(ctx, func() error {
		h.checkInbox(ctx)
		started, err = h.responder.Admit(ctx, umpire.Submission{
			Session: h.event.Session, Batch: id, Lane: string(id), Calls: []umpire.Call{h.call()},
			Headless: h.headless || h.event.unattended(), Mode: h.mode(),
		}, h.question.Runner, choose)
		return err
	})
	return started, err
}

// settle follows the call until it has an answer.
func (h *gateHook) settle(ctx context.Context, b umpire.Batch) (Output, error) {
	for {
		c := b.Call(h.event.Call.ID)
		if c == nil {
			return Output{}, umpire.Errorf("the gate does not know call %q", h.event.Call.ID)
		}
		if handedBack(c) { // by this hook, or the same one registered twice
			return h.event.handBack(h.asked, h.reply(&h.asked, false), unwatchedText), nil
		}
		switch c.State {
		case umpire.CallAsked:
			next, err := h.hold(ctx)
			if errors.Is(err, errUnwatched) {
				next, err = h.handBack(ctx)
			}
			if err != nil {
				return Output{}, err
			}
			b = next
		case umpire.CallApproved:
			started, err := h.startCall(ctx)
			if err != nil {
				return Output{}, err
			}
			if started.Go && started.ByPerson && h.event.form().approved != "" {
				return h.event.approve(), nil
			}
			if started.Go {
				return h.writeAnswer(started.Decision, false), nil
			}
			b = started.Batch
		case umpire.CallExecuting:
			if h.question.Again {
				return Output{}, errors.New("lost the connection to the gate before it answered")
			}
			// The same hook registered twice: the other one has the answer.
			return h.event.silence(), nil
		case umpire.CallDenied, umpire.CallDone, umpire.CallUnknown, umpire.CallSettled:
			return h.writeAnswer(refusal(c), false), nil
		default:
			return Output{}, umpire.Errorf("in the gate, call %q has the state %q", c.ID, c.State)
		}
	}
}

// startCall claims the call: from here on it may have run.
func (h *gateHook) startCall(ctx context.Context) (umpire.Started, error) {
	started, err := h.gate.Start(ctx, umpire.Start{
		Session: h.event.Session, Batch: h.id(), Call: h.event.Call.ID, Runner: h.question.Runner,
	})
	if c := started.Batch.Call(h.event.Call.ID); err == nil && !started.Go && c != nil &&
		c.State == umpire.CallApproved {
		err = umpire.Errorf("the gate does not let call %q start", c.ID)
	}
	return started, err
}

// refusal returns the decision behind a refused call. It denies, because a Decision's zero value
// does.
func refusal(c *umpire.BatchCall) umpire.Decision {
	d := umpire.Decision{Reason: c.Reason, ReasonCode: c.Code}
	if c.Result != nil && c.Code == "" {
		d.ReasonCode = c.Result.Code
	}
	if d.Reason == "" && d.ReasonCode != umpire.CodeDenied && c.Result != nil {
		d.Reason = umpire.Verbatim(c.Result.Output)
	}
	if c.Result != nil && c.Result.Status == umpire.ResultOK {
		d.Reason, d.ReasonCode = "This very call has run before", umpire.CodeResolved
	}
	return d
}

// hold waits until the call is settled, and withdraws it after the deadline.
func (h *gateHook) hold(ctx context.Context) (umpire.Batch, error) {
	left := h.run.left()
	held, cancel := context.WithTimeout(ctx, left-min(withdrawTime, left/5))
	defer cancel()
	b, err := h.wait(held)
	switch {
	case ctx.Err() != nil:
		return h.withdraw(ctx, umpire.ResultCancelled, goneText)
	case held.Err() != nil, errors.Is(err, context.DeadlineExceeded): // the gate also enforces the deadline
		return h.withdraw(ctx, umpire.ResultTimeout,
			fmt.Sprintf("Nobody answered within %s", view.Duration(left.Round(time.Second))))
	}
	return b, err
}

// wait waits until the batch is settled, or the inbox is no longer watched.
func (h *gateHook) wait(ctx context.Context) (umpire.Batch, error) {
	for {
		b, err := h.gate.Await(ctx, h.event.Session, h.id(), maxAwait)
		if err != nil || b.State != umpire.BatchWaiting {
			return b, err
		}
		h.checkInbox(ctx)
		if h.event.Host.asks() && !h.holds() {
			return b, errUnwatched
		}
	}
}

// maxAwait is how long to wait for the gate before checking again whether the inbox is watched.
const maxAwait = 5 * time.Second

// errUnwatched means that a call is held but the inbox is no longer watched.
var errUnwatched = errors.New("the inbox is not open")

// unwatchedText tells where the question has gone.
const unwatchedText = "umpire's inbox was closed, so the question comes here"

// handedBack reports whether a call was given back to the host's own dialog before a person answered.
func handedBack(c *umpire.BatchCall) bool {
	return c != nil && c.Result != nil && c.Result.Code == umpire.CodeLeftToHost
}

// handBack ends a call that the host's own dialog will ask about. It then submits the call as one
// left to the host, because nothing else puts it on the timeline.
func (h *gateHook) handBack(ctx context.Context) (umpire.Batch, error) {
	b, err := h.endCall(ctx, umpire.Result{
		Status: umpire.ResultCancelled, Code: umpire.CodeLeftToHost, Output: unwatchedText,
	})
	if err == nil && handedBack(b.Call(h.event.Call.ID)) {
		id := h.id()
		_, err = h.admitAs(ctx, id[:min(len(id), umpire.MaxID-len(leftMark))]+leftMark, h.leave)
	}
	return b, err
}

// leftMark ends the name of a batch that was left to the host.
const leftMark = "-left"

// leave leaves a call to the host, unless it would be denied by now.
func (h *gateHook) leave(d *umpire.Decision) umpire.Admission {
	if d.Verdict == umpire.Deny {
		h.asked = *d
		return umpire.AdmitNothing
	}
	return umpire.AdmitLeave
}

// withdraw ends a call whose agent has stopped waiting. An answer given at the last moment stands.
func (h *gateHook) withdraw(ctx context.Context, status umpire.ResultStatus, why string) (umpire.Batch, error) {
	return h.endCall(ctx, umpire.Result{Status: status, Output: why})
}

// endCall reports the end of the call to the gate.
func (h *gateHook) endCall(ctx context.Context, r umpire.Result) (umpire.Batch, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	r.Call, r.Session, r.Batch = h.event.Call.ID, h.event.Session, h.id()
	b, err := h.gate.Finish(ctx, r)
	if errors.Is(err, umpire.ErrState) {
		return h.gate.Batch(ctx, h.event.Session, h.id())
	}
	return b, err
}
