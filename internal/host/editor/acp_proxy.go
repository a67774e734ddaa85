package editor

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// An ACPProxy forwards the messages of an editor and an agent, and judges the agent's requests. Editor,
// Agent and Judge are required.
type ACPProxy struct {
	Editor, Agent jsonrpc.Side
	Judge         Judge
	// HangUp tells the agent that the editor has ended; it may be nil.
	HangUp func()
	// Report is called with messages that are not forwarded, and with refusals; it may be nil.
	Report func(error)

	relay jsonrpc.Relay
	// nonce begins the ids of umpire's own questions: the agent cannot guess it.
	nonce string

	mu       sync.Mutex
	sessions jsonrpc.Table[*session]
	// asked are the editor's requests that may open a session or begin a turn.
	asked jsonrpc.Table[jsonrpc.Message]
	// dialogs are the requests sent to the editor, with the handlers for its answers.
	dialogs jsonrpc.Table[func(*jsonrpc.Message) bool]
	held    map[string]*hold
	counter int
	// notices go to the judge one after another.
	notices chan Notice
}

// A hold is a request of the agent that waits for its judgement.
type hold struct {
	session string
	stop    context.CancelCauseFunc
}

const (
	// maxHeld bounds the requests of the agent judged at once; further ones are refused.
	maxHeld = 128
	// maxNotices bounds the waiting notices; further ones are dropped.
	maxNotices = 1024
)

// Reasons to stop judging a request.
var (
	errTurnCancelled    = errors.New("the turn was cancelled")
	errRequestCancelled = errors.New("the agent cancelled the request")
)

// Run forwards messages until one side ends. Held requests then stay unanswered. The error is nil
// when the editor has ended, and io.EOF when the agent has.
func (p *ACPProxy) Run(ctx context.Context) error {
	p.relay = jsonrpc.Relay{Client: p.Editor, Server: p.Agent, HangUp: p.HangUp}
	p.relay.Begin(ctx)
	p.nonce = rand.Text()
	p.sessions, p.asked = jsonrpc.NewTable[*session](maxSessions), jsonrpc.NewTable[jsonrpc.Message](maxPending)
	p.dialogs, p.held = jsonrpc.NewTable[func(*jsonrpc.Message) bool](maxPending), map[string]*hold{}
	p.notices = make(chan Notice, maxNotices)
	ended := make(chan struct{})
	defer close(ended)
	go p.tellAll(context.WithoutCancel(ctx), ended)
	return p.relay.Run(p.fromEditor, p.fromAgent)
}

// tellAll passes the notices to the judge, which may take its time.
func (p *ACPProxy) tellAll(ctx context.Context, ended <-chan struct{}) {
	for {
		select {
		case n := <-p.notices:
			p.Judge.Tell(ctx, n)
		case <-ended:
			return
		}
	}
}

// tell passes a notice on without blocking; it ignores nil.
func (p *ACPProxy) tell(n *Notice) {
	if n == nil {
		return
	}
	select {
	case p.notices <- *n:
	default:
		p.report(umpire.Errorf("more than %d notices wait; one was dropped", maxNotices))
	}
}

func (p *ACPProxy) report(err error) {
	if p.Report != nil {
		p.Report(err)
	}
}

// fromEditor forwards a message of the editor. The editor is the user's own program, so unreadable
// messages are forwarded unchanged.
func (p *ACPProxy) fromEditor(line []byte) error {
	m, err := jsonrpc.Parse(line)
	if err != nil {
		return p.Agent.Write(line)
	}
	switch {
	case m.IsResponse():
		if p.answerDialog(&m) {
			return nil
		}
	case m.IsRequest():
		p.mu.Lock()
		p.asked.Put(m.Key(), m)
		notice := p.noteRequest(&m)
		p.mu.Unlock()
		p.tell(notice)
	case m.Method == "session/cancel":
		err := p.Agent.Write(line)
		p.cancelSession(m.Params)
		return err
	}
	return p.Agent.Write(line)
}

// fromAgent forwards or judges a message of the agent.
func (p *ACPProxy) fromAgent(line []byte) error {
	m, err := jsonrpc.Parse(line)
	if err == nil && !m.HasValidID() {
		err = umpire.Errorf("id: want a text or a number")
	}
	if err == nil && isJudged(foldMethod(m.Method)) && !isJudged(m.Method) {
		err = umpire.Errorf("unknown method %q", m.Method)
	}
	switch {
	case len(line) == 1 || err == nil && m.Method == "" && !m.IsResponse():
		return p.Editor.Write(line)
	case err != nil:
		p.report(umpire.Errorf("a message from the agent was not forwarded: %w", err))
		if answer := jsonrpc.RefuseUnread(line, err); answer != nil {
			return p.Agent.Write(answer)
		}
		return nil
	case m.IsResponse():
		p.mu.Lock()
		request, known := p.asked.Take(m.Key())
		var notice *Notice
		if known {
			notice = p.noteResponse(&request, &m)
		}
		p.mu.Unlock()
		p.tell(notice)
	case m.Method == "session/update":
		p.noteUpdate(&m)
	case m.Method == "$/cancel_request" && p.cancelRequest(m.Params):
		return nil
	case isJudged(m.Method):
		return p.judge(&m)
	}
	return p.Editor.Write(line)
}

// judge judges a request of the agent while other messages go on.
func (p *ACPProxy) judge(m *jsonrpc.Message) error {
	if !m.IsRequest() {
		p.report(umpire.Errorf("a message from the agent was not forwarded: %s without an id", m.Method))
		return nil
	}
	p.mu.Lock()
	_, held := p.held[m.Key()]
	_, asked := p.dialogs.Get(m.Key())
	switch {
	case p.relay.Over():
		p.mu.Unlock()
		return nil
	case held, asked, len(p.held) >= maxHeld:
		p.mu.Unlock() // the agent may not be reading
		return p.Agent.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeDenied,
			"umpire: a request with this id is already waiting, or too many are"))
	}
	h := &hold{}
	if s, err := p.sessionOf(m.Params); err == nil {
		h.session = s.id
	}
	p.held[m.Key()] = h
	h.stop = p.relay.Go(func(ctx context.Context) error {
		err := p.settleRequest(ctx, m)
		p.mu.Lock()
		delete(p.held, m.Key())
		p.mu.Unlock()
		return err
	})
	p.mu.Unlock()
	return nil
}

// cancelSession stops judging the requests of a cancelled turn.
func (p *ACPProxy) cancelSession(params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var about sessionParams
	if json.Unmarshal(params, &about) != nil {
		return
	}
	for _, h := range p.held {
		if h.session == about.Session {
			h.stop(errTurnCancelled)
		}
	}
}

// cancelRequest stops judging a request that the agent cancels. It returns false for a request that
// is not judged here.
func (p *ACPProxy) cancelRequest(params json.RawMessage) bool {
	var about struct {
		ID json.RawMessage `json:"requestId"`
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(params, &about) != nil {
		return false
	}
	h, known := p.held[jsonrpc.KeyOf(about.ID)]
	if known {
		h.stop(errRequestCancelled)
	}
	return known
}
