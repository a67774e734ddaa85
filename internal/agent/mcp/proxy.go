package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A ProxyGate is the part of a gate that a proxy uses.
type ProxyGate interface {
	umpire.Submitter
	umpire.Runner
	Sessions() umpire.SessionKeeper
}

// A Proxy stands between an MCP client and a server. It has the gate judge each tools/call, and each
// resources/read of a file, and forwards all other messages byte for byte. A denied call gets a result that
// says so. A call that waits for a person is held: the client gets progress notifications or, if it
// supports this, is asked to come back. All fields are required except HangUp and Report.
type Proxy struct {
	Client, Server jsonrpc.Side
	Gate           ProxyGate
	// Opening is the opening of this proxy's session.
	Opening umpire.Opening
	// Name is the server's part in the names of its tools.
	Name string
	Pins *Pins
	// Key signs the states that clients come back with.
	Key []byte
	// HangUp tells the server that the client has ended.
	HangUp func()
	// Report is called with errors that neither the client nor the server gets.
	Report func(error)

	relay jsonrpc.Relay
	nonce string // prefix of the ids of umpire's own requests

	mu      sync.Mutex
	held    map[string]context.CancelCauseFunc // by the ids of requests
	running map[string]runningCall             // by the ids of requests
	own     map[string]chan jsonrpc.Message    // umpire's own requests
	// rounds are calls for which the server needs more input.
	rounds map[string]bool
	// lists are the client's requests for the tools, and shownTools the digests of the descriptions
	// it received, by name.
	lists      map[string]bool
	shownTools map[string]string
	counter    int
}

// A runningCall is a call forwarded to the server.
type runningCall struct {
	digest string
	result umpire.Result
}

const (
	methodCall      = "tools/call"
	methodList      = "tools/list"
	methodResource  = "resources/read"
	methodCancelled = "notifications/cancelled"
	methodProgress  = "notifications/progress"
)

const (
	// maxHeldCalls bounds the calls judged or held at once; further ones are refused.
	maxHeldCalls = 128
	// maxRounds bounds the calls for which a server needs more input.
	maxRounds = 1024
	// maxShownTools bounds the tools whose descriptions are remembered.
	maxShownTools = 4096
	// listTime is how long a server may take to list its tools before a call.
	listTime = 15 * time.Second
	// progressTime is the interval of progress notifications.
	progressTime = 5 * time.Second
)

// Reasons to stop holding a call.
var (
	errCallCancelled = errors.New("the client cancelled the call")
	errComesBack     = errors.New("the client will reconnect")
)

// Run forwards messages until one side ends. The error is nil when the client has ended, and
// io.EOF when the server has.
func (p *Proxy) Run(ctx context.Context) error {
	p.relay = jsonrpc.Relay{Client: p.Client, Server: p.Server, HangUp: p.HangUp}
	p.relay.Begin(ctx)
	p.nonce = rand.Text()
	p.held, p.running = map[string]context.CancelCauseFunc{}, map[string]runningCall{}
	p.own, p.rounds = map[string]chan jsonrpc.Message{}, map[string]bool{}
	p.lists, p.shownTools = map[string]bool{}, map[string]string{}
	if p.Opening.ID == "" {
		p.Opening.ID = umpire.SessionID("mcp-" + p.nonce)
	}
	return p.relay.Run(p.fromClient, p.fromServer)
}

func (p *Proxy) reportError(err error) {
	if p.Report != nil {
		p.Report(err)
	}
}

// fromClient forwards or judges a message of the client.
func (p *Proxy) fromClient(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return p.Server.Write(line)
	}
	m, err := jsonrpc.Parse(line)
	if err == nil && !m.HasValidID() {
		err = umpire.Errorf("id: want a text or a number")
	}
	if err == nil && !isForwarded(m.Method) {
		err = umpire.Errorf("unknown method %q", m.Method)
	}
	if err == nil && strings.HasPrefix(m.Method, "resources/") {
		err = checkAddress(m.Params)
	}
	judged := m.Method == methodCall || isFileRead(&m)
	if err == nil && judged && !m.IsRequest() {
		err = umpire.Errorf("%s without an id", m.Method)
	}
	switch {
	case err != nil:
		p.reportError(umpire.Errorf("a message from the client was not forwarded: %w", err))
		if answer := jsonrpc.RefuseUnread(line, err); answer != nil {
			return p.Client.Write(answer)
		}
		return nil
	case judged:
		return p.hold(&m)
	case m.Method == methodList && m.IsRequest():
		p.noteList(m.Key())
	case m.Method == methodCancelled && p.cancelCall(m.Params):
		return nil
	}
	return p.Server.Write(line)
}

// isForwarded reports whether a method may be forwarded to a server. It rejects methods that a
// careless server would mistake for a judged one.
func isForwarded(method string) bool {
	folded := strings.ToLower(strings.ToUpper(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == ' ' {
			return -1
		}
		return r
	}, method)))
	switch {
	case strings.HasPrefix(folded, "tools/"):
		return method == methodCall || method == methodList
	case strings.HasPrefix(folded, "resources/"):
		return method == folded
	}
	return true
}

// fromServer forwards a message of the server, unless it answers one of umpire's own requests. An
// answer that two readers could read differently becomes an error.
func (p *Proxy) fromServer(line []byte) error {
	m, err := jsonrpc.Parse(line)
	if err != nil && len(bytes.TrimSpace(line)) > 0 {
		p.reportError(umpire.Errorf("a message from the server was not forwarded: %w", err))
		o, _ := strictjson.ReadObject(line) // ignore all members but the unique ones
		m = jsonrpc.Message{ID: o["id"]}
		if !m.IsResponse() || !m.HasValidID() || o["method"] != nil {
			return nil
		}
		line = jsonrpc.Refuse(m.ID, jsonrpc.CodeInvalidRequest, "umpire: the server's answer cannot be read")
		m, err = jsonrpc.Parse(line)
	}
	if err != nil || !m.IsResponse() {
		return p.Client.Write(line)
	}
	p.mu.Lock()
	answers, own := p.own[m.Key()]
	call, runs := p.running[m.Key()]
	_, held := p.held[m.Key()]
	if runs {
		p.noteRound(call.digest, &m)
	}
	if p.lists[m.Key()] {
		p.noteTools(m.Result)
	}
	delete(p.own, m.Key())
	delete(p.running, m.Key())
	delete(p.lists, m.Key())
	p.mu.Unlock()
	switch {
	case own:
		answers <- m
		return nil
	case held, strings.HasPrefix(m.Key(), p.ownPrefix()):
		return nil // not asked yet, or too late
	}
	if runs {
		p.relay.Go(func(context.Context) error {
			p.finish(call.result, &m)
			return nil
		})
	}
	return p.Client.Write(line)
}

// hold judges a call while other messages go on.
func (p *Proxy) hold(m *jsonrpc.Message) error {
	p.mu.Lock()
	_, held := p.held[m.Key()]
	_, runs := p.running[m.Key()]
	if held || runs || len(p.held) >= maxHeldCalls {
		p.mu.Unlock() // the client may not be reading
		return p.Client.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeDenied,
			"umpire: a request with this id is already waiting, or too many are"))
	}
	p.held[m.Key()] = p.relay.Go(func(ctx context.Context) error {
		forwarded, err := p.judge(ctx, m)
		p.mu.Lock()
		delete(p.held, m.Key())
		p.mu.Unlock()
		if forwarded == nil {
			return err
		}
		return p.Server.Write(forwarded)
	})
	p.mu.Unlock()
	return nil
}

// cancelCall stops holding a call. It returns false for one that is not held.
func (p *Proxy) cancelCall(params json.RawMessage) bool {
	var about struct {
		ID json.RawMessage `json:"requestId"`
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if json.Unmarshal(params, &about) != nil {
		return false
	}
	key := jsonrpc.KeyOf(about.ID)
	stop, held := p.held[key]
	if held {
		stop(errCallCancelled)
	}
	if call, runs := p.running[key]; runs { // its server need not answer any more
		delete(p.running, key)
		p.relay.Go(func(context.Context) error {
			call.result.Status, call.result.Output = umpire.ResultCancelled, errCallCancelled.Error()
			p.storeResult(call.result)
			return nil
		})
	}
	return held
}

// judge has the gate judge a call. It either answers the call or returns the message for the
// server. It returns an error if it cannot write to the client.
func (p *Proxy) judge(ctx context.Context, m *jsonrpc.Message) (forwarded []byte, err error) {
	r, err := readRequest(m)
	if err == nil && r.state != "" && !r.ours() {
		p.mu.Lock()
		round := p.rounds[r.round()]
		delete(p.rounds, r.round())
		p.mu.Unlock()
		if round { // the server asked for more about a call that was allowed
			return m.Raw, nil
		}
	}
	var started bool
	if err == nil {
		started, err = p.settleCall(ctx, r)
	}
	switch cause := context.Cause(ctx); {
	case p.relay.Over(), errors.Is(cause, errCallCancelled):
		return nil, nil // the connection is gone
	case errors.Is(err, errComesBack):
		return nil, p.sendBack(r)
	case err != nil:
		return nil, p.Client.Write(r.refusal("umpire: " + err.Error()))
	case !started:
		return nil, nil
	}
	return r.forwarded(), nil
}

// refusal returns the answer to a request that has not run. For a call it is a result, which the model reads.
func (r *proxyRequest) refusal(text string) []byte {
	if r.message.Method != methodCall {
		return jsonrpc.Refuse(r.message.ID, jsonrpc.CodeDenied, text)
	}
	return jsonrpc.Answer(r.message.ID, map[string]any{
		"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true,
	})
}

// ownPrefix returns the prefix of the ids of umpire's own requests.
func (p *Proxy) ownPrefix() string { return `"umpire-` + p.nonce + "-" }

// ask sends one of umpire's own requests to the server.
func (p *Proxy) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.counter++
	id := fmt.Appendf(nil, `%s%d"`, p.ownPrefix(), p.counter)
	answers := make(chan jsonrpc.Message, 1)
	p.own[jsonrpc.KeyOf(id)] = answers
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.own, jsonrpc.KeyOf(id))
	}()
	if err := p.Server.Write(jsonrpc.Call(id, method, raw)); err != nil {
		return nil, err
	}
	select {
	case m := <-answers:
		if m.Error != nil {
			return nil, umpire.Errorf("%s: %s", method, string(m.Error))
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
