package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// noticeTime bounds reporting an event to the gate, because the agent waits for it.
const noticeTime = 5 * time.Second

// maxResult bounds the part of a tool's output that the gate keeps; the agent has it whole.
const maxResult = 64 << 10

// tellGate reports the end of a call, a turn or a session to the gate. Without a gate it runs the
// hooks that follow a call by itself.
func (p *Responder) tellGate(ctx context.Context, r *run, q *Question, e Event) error {
	if e.Session == "" {
		return nil
	}
	if err := p.endTicket(ctx, q, &e); err != nil {
		return err
	}
	if p.through == nil {
		return p.endedAlone(ctx, q, e)
	}
	return p.through.follow(p, ctx, r, q, e)
}

// followThrough reports an event to the gate.
func (p *Responder) followThrough(ctx context.Context, r *run, q *Question, e Event) error {
	limit := noticeTime
	if e.Kind == AfterTool || e.Kind == AfterFailure {
		limit = r.left() // hooks follow the call
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.tell(ctx, q, e)
	if notStarted(err) && (e.Kind == AfterTool || e.Kind == AfterFailure && e.Host.FailedRan) {
		err = p.reportRan(ctx, r, q, e)
	}
	if notStarted(err) {
		return nil // the call was decided while no gate ran, or by the agent's own prompt
	}
	return err
}

// notStarted reports whether err means that the gate has not started a call, or does not know it.
func notStarted(err error) bool {
	return errors.Is(err, umpire.ErrNotFound) || errors.Is(err, umpire.ErrState)
}

// reportRan reports a call that ran without being started by the gate: the host did not ask about
// it, or ran it although umpire did not allow it. It skips calls that umpire left to the host or
// gave back to it, sessions that this gate has not seen before, and rewritten lines.
func (p *Responder) reportRan(ctx context.Context, r *run, q *Question, e Event) error {
	if line, _ := CommandLine(&e); ticketOnLine(line) != "" {
		return nil
	}
	s, err := p.gate.Sessions().Get(ctx, e.Session)
	if err != nil {
		return err
	}
	known, _, err := p.findLatest(ctx, &e)
	if err != nil || known == nil && s.ActiveAt.Before(p.since) || handedBack(known) {
		return err
	}
	c, err := p.hookCase(r, q, e)
	if err != nil {
		return err
	}
	h := newGateHook(p, r, c)
	h.event.Call.ID = e.Call.ID // the id that a question about it would have
	_, err = p.Admit(ctx, umpire.Submission{
		Session: e.Session, Batch: h.id(), Lane: string(h.id()), Calls: []umpire.Call{h.call()}, Mode: h.mode(),
		Ran: true,
	}, q.Runner, nil)
	return err
}

// endedAlone runs the hooks that follow a call.
func (p *Responder) endedAlone(ctx context.Context, q *Question, e Event) error {
	if line, _ := CommandLine(&e); ticketOnLine(line) != "" {
		return nil // they ran when umpire stored the result of the line
	}
	output := responseText(e.Response)
	switch e.Kind {
	case AfterTool:
	case AfterFailure:
		output = e.Failure
	case OtherEvent, BeforeTool, BeforeDialog, SessionStart,
		PromptSent, TurnEnd, SessionEnd:
		return nil
	}
	project, err := ProjectOf(q, &e)
	if err != nil {
		return err
	}
	c, err := p.Config(project)
	if err != nil || c.Ended == nil {
		return nil //nolint:nilerr // the error is reported with the next decision
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	return c.Ended(ctx, project, e.Call, output)
}

func (p *Responder) tell(ctx context.Context, q *Question, e Event) error {
	gate := p.gate
	switch e.Kind {
	case AfterTool:
		return p.finishCall(ctx, e, umpire.ResultOK, responseText(e.Response))
	case AfterFailure:
		return p.finishCall(ctx, e, umpire.ResultError, e.Failure)
	case SessionStart:
		return startSession(ctx, gate.Sessions(), q, e)
	case PromptSent:
		return sendPrompt(ctx, gate, q, e)
	case TurnEnd, SessionEnd:
		return closeOpen(ctx, gate, e)
	case OtherEvent, BeforeTool, BeforeDialog:
	}
	return nil
}

// finishCall stores the result of a call that ran. For a host without call ids, the result belongs
// to the first equal call that lacks one.
func (p *Responder) finishCall(ctx context.Context, e Event, status umpire.ResultStatus, output string) error {
	id := e.Call.ID
	if e.ToolUseID == "" {
		var err error
		if id, err = p.findStarted(ctx, &e); err != nil {
			return err
		}
	}
	_, err := p.gate.Finish(ctx, umpire.Result{
		Call: id, Session: e.Session, Batch: umpire.BatchID(id), Status: status,
		Output: files.ClipTo(output, maxResult, "…"),
	})
	return err
}

// responseText returns a tool's response: as text if it is a string, else as JSON.
func responseText(response json.RawMessage) string {
	var text string
	if json.Unmarshal(response, &text) == nil {
		return text
	}
	return string(response)
}

// startSession opens the session.
func startSession(ctx context.Context, sessions umpire.SessionOpener, q *Question, e Event) error {
	project, err := ProjectOf(q, &e)
	if err != nil {
		return err
	}
	return openSession(ctx, sessions, q, &e, project)
}

// openSession opens the session of an event, or finds it open. The hook was started by the agent
// itself, whose descendants may not answer questions.
func openSession(ctx context.Context, sessions umpire.SessionOpener, q *Question, e *Event, project string) error {
	_, err := sessions.Open(ctx, umpire.Opening{
		ID: e.Session, Dir: project, Agent: e.Host.Name, External: true, Headless: q.Headless, Runner: q.Runner,
	})
	return err
}

// sendPrompt begins a new turn: calls denied in the previous one may be asked again.
func sendPrompt(ctx context.Context, gate umpire.Gate, q *Question, e Event) error {
	prompt := umpire.Prompt{Session: e.Session, Text: files.ClipTo(e.prompt, maxResult, "…")}
	_, err := gate.Conversations().Prompt(ctx, prompt)
	if !errors.Is(err, umpire.ErrNotFound) {
		return err
	}
	if err := startSession(ctx, gate.Sessions(), q, e); err != nil {
		return err
	}
	_, err = gate.Conversations().Prompt(ctx, prompt)
	return err
}

// closeOpen ends the open calls when the agent's turn or session is over: it withdraws waiting
// calls, and started calls without a result never get one. The session itself stays open, because the
// agent may continue it another day. At the end of a turn, sub-agents may still be at work.
func closeOpen(ctx context.Context, gate umpire.Gate, e Event) error {
	open, err := openCalls(ctx, gate, e.Session)
	if err != nil {
		return err
	}
	for _, c := range open {
		if e.Kind == TurnEnd && (c.Agent != e.Host.Name || c.Kind == umpire.EventBatchSubmitted) {
			continue
		}
		_, err := gate.Finish(ctx, umpire.Result{
			Call: c.Call, Session: c.Session, Batch: c.Batch, Status: umpire.ResultCancelled,
			Output: "The agent went on without telling what became of the call",
		})
		if err != nil && !errors.Is(err, umpire.ErrState) {
			return err
		}
	}
	return nil
}

// openCalls returns the events of a session's calls that were submitted, asked about or started and
// have no result.
func openCalls(ctx context.Context, gate umpire.Watcher, session umpire.SessionID) ([]umpire.Event, error) {
	events, err := gate.Events(ctx, umpire.Filter{Session: session, Last: searchWindow})
	if err != nil {
		return nil, err
	}
	var open []umpire.Event
	for _, e := range events {
		if e.Kind == umpire.EventBatchSubmitted { // a batch of one call, which may wait for its ticket
			e.Call = umpire.CallID(e.Batch)
		}
		opens := e.Kind == umpire.EventPermissionAsked || e.Kind == umpire.EventCallStarted ||
			e.Kind == umpire.EventBatchSubmitted
		if opens || e.Kind == umpire.EventCallFinished {
			open = slices.DeleteFunc(open, func(o umpire.Event) bool { return o.Call == e.Call })
		}
		if opens {
			open = append(open, e)
		}
	}
	return open, nil
}
