package editor

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A CodexProxy forwards the messages of an editor and Codex, and judges Codex's questions. Editor, Codex
// and Judge are required.
type CodexProxy struct {
	Editor, Codex jsonrpc.Side
	Judge         Judge
	// HangUp tells Codex that the editor has ended; it may be nil.
	HangUp func()
	// Report is called with messages that are not forwarded, and with refusals; it may be nil.
	Report func(error)

	relay jsonrpc.Relay
	// nonce distinguishes the calls of this run from those of another one.
	nonce string

	mu      sync.Mutex
	folders jsonrpc.Table[string]       // of the threads, by their ids
	changes jsonrpc.Table[[]fileChange] // of the items that change files, by their ids
	tools   jsonrpc.Table[string]       // the items of MCP servers' tools that are not approved yet, by their calls
	running jsonrpc.Table[umpire.Call]  // accepted calls, by the id of the item
	// held are the questions that wait for a judgement, and settled those that the editor has not
	// seen.
	held    map[string]context.CancelCauseFunc
	settled jsonrpc.Table[struct{}]
	counter int
}

// maxKept bounds the remembered entries of each kind. Questions about forgotten ones go to the editor.
const maxKept = 4096

// Run forwards messages until one side ends. Held questions then stay unanswered. The error is nil
// when the editor has ended, and io.EOF when Codex has.
func (p *CodexProxy) Run(ctx context.Context) error {
	p.relay = jsonrpc.Relay{Client: p.Editor, Server: p.Codex, HangUp: p.HangUp}
	p.relay.Begin(ctx)
	p.nonce = rand.Text()
	p.folders, p.changes = jsonrpc.NewTable[string](maxKept), jsonrpc.NewTable[[]fileChange](maxKept)
	p.tools = jsonrpc.NewTable[string](maxKept)
	p.running, p.settled = jsonrpc.NewTable[umpire.Call](maxKept), jsonrpc.NewTable[struct{}](maxKept)
	p.held = map[string]context.CancelCauseFunc{}
	return p.relay.Run(p.fromEditor, p.fromCodex)
}

func (p *CodexProxy) reportError(err error) {
	if p.Report != nil {
		p.Report(err)
	}
}

// fromCodex forwards or judges a message of Codex.
func (p *CodexProxy) fromCodex(line []byte) error {
	m, err := jsonrpc.Parse(line)
	if err == nil && !m.HasValidID() {
		err = umpire.Errorf("id: want a text or a number")
	}
	if len(line) > 1 && err != nil {
		p.reportError(umpire.Errorf("a message from Codex was not forwarded: %w", err))
		if answer := jsonrpc.RefuseUnread(line, err); answer != nil {
			return p.Codex.Write(answer)
		}
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case m.IsResponse():
		p.noteThread(m.Result)
	case m.IsRequest() && isCodexJudged(m.Method):
		p.judge(&m)
		return nil
	case m.IsRequest() && !isKnown(m.Method):
		err := umpire.Errorf("unknown kind of request %q: not forwarded", m.Method)
		p.reportError(err)
		refusal := jsonrpc.Refuse(m.ID, jsonrpc.CodeMethodNotFound, "umpire: "+err.Error())
		p.relay.Go(func(context.Context) error { return p.Codex.Write(refusal) })
		return nil
	case m.Method == "thread/started":
		p.noteThread(m.Params)
	case m.Method == "item/started", m.Method == "item/fileChange/patchUpdated":
		p.noteItem(m.Params)
	case m.Method == "item/completed":
		p.noteEnd(m.Params)
	case m.Method == "serverRequest/resolved" && p.endQuestion(m.Params):
		return nil
	}
	return p.Editor.Write(line)
}

// judge judges a question while other messages go on.
func (p *CodexProxy) judge(m *jsonrpc.Message) {
	p.held[m.Key()] = p.relay.Go(func(ctx context.Context) error {
		p.mu.Lock()
		q, err := p.readQuestion(m)
		p.mu.Unlock()
		answer := Answer{Reply: host.Ask}
		if err != nil {
			p.reportError(umpire.Errorf("a question is left to the editor: %w", err))
		} else {
			answer = p.decideAll(ctx, &q)
		}
		settled, err := p.noteDecision(ctx, m, answer, &q)
		if !settled || err != nil {
			return err
		}
		// Codex may not read while it writes, so nothing waits for this.
		return p.Codex.Write(jsonrpc.Answer(m.ID, answerTo(m.Method, m.Params, answer.Reply == host.Allow)))
	})
}

// noteDecision records the decision about a question. It reports whether to answer Codex: not if
// the editor was asked, or if Codex no longer waits.
func (p *CodexProxy) noteDecision(
	ctx context.Context, m *jsonrpc.Message, answer Answer, q *question,
) (settled bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, m.Key())
	switch {
	case ctx.Err() != nil:
		return false, nil
	case answer.Reply == host.Allow && m.Method == methodElicitation:
		p.running.Put(q.item, q.calls[0])
		return false, p.Editor.Write(m.Raw)
	case answer.Reply == host.Allow:
		p.running.Put(q.item, q.calls[0])
	case answer.Reply == host.Deny:
		p.reportError(umpire.Errorf("denied: %s", answer.Reason))
	default:
		return false, p.Editor.Write(m.Raw)
	}
	p.settled.Put(m.Key(), struct{}{})
	return true, nil
}

// decideAll judges the calls of a question.
func (p *CodexProxy) decideAll(ctx context.Context, q *question) Answer {
	all := make([]Question, len(q.calls))
	for i, call := range q.calls {
		all[i] = Question{Call: call, Project: q.project, Dialog: true}
	}
	return DecideAll(ctx, p.Judge, all)
}
