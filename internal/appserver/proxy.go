package appserver

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/acp"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/jsonrpc"
)

// A Proxy forwards the messages of an editor and Codex, and judges what Codex asks about.
// Editor, Codex and Judge are needed.
type Proxy struct {
	Editor, Codex jsonrpc.Side
	Judge         acp.Judge
	// HangUp tells Codex that the editor has ended; nil does not.
	HangUp func()
	// Report is told of messages that are not forwarded, and of refusals; nil is not.
	Report func(error)

	relay jsonrpc.Relay
	// nonce tells the calls of this run from those of another one.
	nonce string

	mu      sync.Mutex
	folders map[string]string       // of the threads, by their ids
	changes map[string][]fileChange // of the items that change files, by their ids
	running map[string]umpire.Call  // what was accepted, by the id of the item
	// held are the questions that wait for a judgement, and settled those that the editor has
	// not seen.
	held    map[string]context.CancelCauseFunc
	settled map[string]bool
	counter int
}

// maxKept is how much of each kind is remembered. What is forgotten goes to the editor.
const maxKept = 4096

// keep remembers a value.
func keep[V any](in map[string]V, key string, value V) {
	if len(in) >= maxKept {
		clear(in)
	}
	in[key] = value
}

// takeOut returns a value and forgets it.
func takeOut[V any](in map[string]V, key string) (V, bool) {
	value, known := in[key]
	delete(in, key)
	return value, known
}

// Run forwards messages until one side ends. What is held then is answered by nobody. The
// error is nil when the editor has ended, and io.EOF when Codex has.
func (p *Proxy) Run(ctx context.Context) error {
	p.relay = jsonrpc.Relay{Client: p.Editor, Server: p.Codex, HangUp: p.HangUp}
	p.relay.Begin(ctx)
	p.nonce = rand.Text()
	p.folders, p.changes, p.running = map[string]string{}, map[string][]fileChange{}, map[string]umpire.Call{}
	p.held, p.settled = map[string]context.CancelCauseFunc{}, map[string]bool{}
	return p.relay.Run(p.Codex.Write, p.fromCodex)
}

func (p *Proxy) reportError(err error) {
	if p.Report != nil {
		p.Report(err)
	}
}

// fromCodex forwards or judges a message of Codex.
func (p *Proxy) fromCodex(line []byte) error {
	m, err := jsonrpc.Parse(line)
	if len(line) > 1 && err != nil {
		p.reportError(umpire.Errorf("a message of Codex is not forwarded: %w", err))
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case m.IsResponse():
		p.noteThread(m.Result)
	case m.IsRequest() && isJudged(m.Method):
		p.judge(&m)
		return nil
	case m.Method == "thread/started":
		p.noteThread(m.Params)
	case m.Method == "item/started", m.Method == "item/fileChange/patchUpdated":
		p.noteChanges(m.Params)
	case m.Method == "item/completed":
		p.noteEnd(m.Params)
	case m.Method == "serverRequest/resolved" && p.endQuestion(m.Params):
		return nil
	}
	return p.Editor.Write(line)
}

// judge judges a question while other messages go on.
func (p *Proxy) judge(m *jsonrpc.Message) {
	p.held[m.Key()] = p.relay.Go(func(ctx context.Context) error {
		answer, call := p.decideCalls(ctx, m)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.held, m.Key())
		if ctx.Err() != nil {
			return nil // nobody waits for an answer
		}
		switch answer.Reply {
		case host.Allow:
			keep(p.running, itemOf(m.Params), call)
			return p.answerQuestion(m, "accept")
		case host.Ask, host.Hold, host.Silent:
			return p.Editor.Write(m.Raw)
		case host.Deny:
		}
		p.reportError(umpire.Errorf("denied: %s", answer.Reason))
		return p.answerQuestion(m, "decline")
	})
}

// answerQuestion answers a question that the editor does not see.
func (p *Proxy) answerQuestion(m *jsonrpc.Message, decision string) error {
	keep(p.settled, m.Key(), true)
	return p.Codex.Write(jsonrpc.Answer(m.ID, map[string]string{"decision": decision}))
}

// decideCalls judges the calls of a question; the strictest answer counts. A question that cannot be
// read goes to the editor.
func (p *Proxy) decideCalls(ctx context.Context, m *jsonrpc.Message) (answer acp.Answer, first umpire.Call) {
	p.mu.Lock()
	calls, project, err := p.callsOf(m)
	p.mu.Unlock()
	if err != nil {
		p.reportError(umpire.Errorf("a question is left to the editor: %w", err))
		return acp.Answer{Reply: host.Ask}, umpire.Call{}
	}
	answer.Reply = host.Allow
	for _, call := range calls {
		each, err := p.Judge.Decide(ctx, acp.Question{Call: call, Project: project, Dialog: true})
		switch {
		case err != nil:
			return acp.Answer{Reason: err.Error()}, calls[0]
		case each.Reply == host.Deny:
			return each, calls[0]
		case each.Reply != host.Allow:
			answer = each
		}
	}
	return answer, calls[0]
}
