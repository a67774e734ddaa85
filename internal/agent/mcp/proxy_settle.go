package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	// statePrefix begins the states that clients come back with.
	statePrefix = "umpire."
	// ownInput is umpire's own question to a client's user.
	ownInput = "umpire"
	// firstPatience and patienceAgain are how long a call is held before its client is asked to
	// come back.
	firstPatience = 2 * time.Second
	patienceAgain = time.Minute
	// withdrawTime bounds the withdrawal of an abandoned call.
	withdrawTime = 5 * time.Second
	// maxOutput bounds the part of a result that the gate keeps; the client has it whole.
	maxOutput = 64 << 10
)

// settleCall has the gate judge a call and waits for the decision. It reports whether the call was
// started: then the server gets it. The error tells why it was not started.
func (p *Proxy) settleCall(ctx context.Context, r *proxyRequest) (started bool, err error) {
	if err := p.findTool(ctx, r); err != nil {
		return false, umpire.Errorf("the server does not list its tools: %w", err)
	}
	b, err := p.submit(ctx, r)
	if err != nil {
		return false, err
	}
	for {
		c := &b.Calls[0]
		switch c.State {
		case umpire.CallAsked:
			if r.declined {
				return false, p.withdraw(ctx, &b, "the user did not want to wait")
			}
			if b, err = p.await(ctx, r, &b); err != nil {
				return false, err
			}
			if err := p.findTool(ctx, r); err != nil {
				return false, p.withdraw(ctx, &b, err.Error())
			}
		case umpire.CallApproved:
			s, err := p.Gate.Start(ctx, umpire.Start{
				Session: b.Session, Batch: b.ID, Call: c.ID, Runner: p.Opening.Runner,
			})
			if err != nil || s.Go {
				return s.Go, p.begin(r, &s, err)
			}
			if s.Batch.Calls[0].State == umpire.CallApproved {
				return false, umpire.Errorf("the gate does not let call %q start", c.ID)
			}
			b = s.Batch
		case umpire.CallExecuting, umpire.CallUnknown, umpire.CallSettled:
			return false, umpire.Errorf("call already started; its outcome is unknown")
		case umpire.CallDenied, umpire.CallDone:
			return false, errors.New(textOf(c))
		default:
			return false, umpire.Errorf("in the gate, call %q has the state %q", c.ID, c.State)
		}
	}
}

// textOf returns the text that tells the model why a call does not run.
func textOf(c *umpire.BatchCall) string {
	switch {
	case c.Result == nil:
		return cmp.Or(catalogue.English.Text(c.Reason), "denied")
	case c.Result.Status == umpire.ResultOK:
		return "this very call has run before. Its result was: " + c.Result.Output
	}
	return c.Result.Output
}

// submit submits the call, or finds it if the client comes back.
func (p *Proxy) submit(ctx context.Context, r *proxyRequest) (umpire.Batch, error) {
	if r.ours() {
		was, err := readPending(p.Key, r.state[len(statePrefix):], r.shown())
		if err != nil {
			return umpire.Batch{}, err
		}
		o := p.Opening
		o.ID = was.Session // of a proxy that may have ended meanwhile
		if _, err := p.Gate.Sessions().Open(ctx, o); err != nil {
			return umpire.Batch{}, err
		}
		return p.Gate.Batch(ctx, was.Session, umpire.BatchID(was.Call))
	}
	p.mu.Lock()
	p.counter++
	id := fmt.Sprintf("mcp-%s-%d", p.nonce, p.counter)
	p.mu.Unlock()
	call := umpire.Call{
		ID: umpire.CallID(id), Batch: umpire.BatchID(id), Tool: r.rule(p.Name), Input: r.arguments,
		Dir: p.Opening.Dir, Agent: p.Opening.Agent, Session: p.Opening.ID, Extra: p.describeCall(r),
	}
	s := umpire.Submission{
		Session: p.Opening.ID, Batch: call.Batch, Lane: id, Calls: []umpire.Call{call}, Headless: p.Opening.Headless,
	}
	b, err := p.Gate.Submit(ctx, s)
	if errors.Is(err, umpire.ErrNotFound) {
		if _, err = p.Gate.Sessions().Open(ctx, p.Opening); err == nil {
			b, err = p.Gate.Submit(ctx, s)
		}
	}
	if err == nil && len(b.Calls) != 1 {
		err = umpire.Errorf("the gate does not know call %q", id)
	}
	return b, err
}

// describeCall returns the known properties of a tool: for the gate, where they can only raise the
// risk, and for the person.
func (p *Proxy) describeCall(r *proxyRequest) map[string]json.RawMessage {
	extra := map[string]json.RawMessage{"mcp_server": quoteText(p.Name)}
	if !r.comesBack() {
		extra[umpire.ExtraHeldBy] = quoteText(process.NameOf(os.Getpid()))
	}
	if r.message.Method != methodCall {
		return extra
	}
	extra["mcp_tool"] = quoteText(r.tool)
	var said struct {
		Claims json.RawMessage `json:"annotations"`
	}
	if json.Unmarshal(r.described, &said) == nil && said.Claims != nil {
		extra["annotations"] = said.Claims
	}
	diff, err := p.Pins.compare(p.Name+"/"+r.tool, r.described)
	if err != nil {
		p.reportError(err)
		diff = err.Error()
	}
	p.mu.Lock()
	was, shown := p.shownTools[r.tool]
	p.mu.Unlock()
	if diff == "" && shown && was != requestDigest("", r.described) {
		diff = "the server described the tool otherwise to the client"
	}
	if diff != "" {
		extra["described_anew"] = json.RawMessage("true")
		extra["description_diff"] = quoteText(files.ClipTo(diff, maxAbout, "…"))
	}
	return extra
}

// begin records that the server is about to get a call.
func (p *Proxy) begin(r *proxyRequest, s *umpire.Started, err error) error {
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.message.Method == methodCall {
		// It may run with its new description, because a person has seen it.
		if err := p.Pins.remember(p.Name+"/"+r.tool, r.described); err != nil {
			p.reportError(err)
		}
		if _, shown := p.shownTools[r.tool]; shown {
			p.shownTools[r.tool] = requestDigest("", r.described)
		}
	}
	p.running[r.message.Key()] = runningCall{r.digest(), umpire.Result{
		Call: s.Call.ID, Session: s.Call.Session, Batch: s.Call.Batch,
	}}
	return nil
}

// await waits for a person. After a while it sends away a client that can come back. If any other
// client stops waiting, await withdraws the call.
func (p *Proxy) await(ctx context.Context, r *proxyRequest, b *umpire.Batch) (umpire.Batch, error) {
	deadline := time.Time{}
	if r.comesBack() {
		patience := firstPatience
		if r.ours() {
			patience = patienceAgain
		}
		deadline = time.Now().Add(patience)
	}
	token := r.meta[metaProgress]
	for n := 1; ; n++ {
		wait := progressTime
		if !deadline.IsZero() {
			wait = min(wait, max(time.Until(deadline), time.Millisecond))
		}
		after, err := p.Gate.Await(ctx, b.Session, b.ID, wait)
		switch {
		case ctx.Err() != nil:
			return after, p.withdraw(ctx, b, cmp.Or(context.Cause(ctx), ctx.Err()).Error())
		case err != nil || after.State != umpire.BatchWaiting:
			return after, err
		case !deadline.IsZero() && time.Now().After(deadline):
			return after, p.leave(r, b)
		}
		if token != nil {
			if err := p.Client.Write(progress(token, n)); err != nil {
				return after, err
			}
		}
	}
}

// progress notifies a client that its call is waiting. The server's own progress notifications come
// later, and must have higher values.
func progress(token json.RawMessage, n int) []byte {
	params, err := json.Marshal(map[string]any{
		"progressToken": token, "progress": float64(n) / (1 << 30),
		"message": "waiting for a person to approve the call",
	})
	if err != nil {
		params = nil
	}
	return jsonrpc.Call(nil, methodProgress, params)
}

// leave lets a call wait for its client to come back.
func (p *Proxy) leave(r *proxyRequest, b *umpire.Batch) error {
	signed, err := (&pending{b.Session, b.Calls[0].ID, r.shown()}).sign(p.Key)
	if err != nil {
		return err
	}
	r.state = statePrefix + signed
	return errComesBack
}

// sendBack asks the client to come back, if its user agrees.
func (p *Proxy) sendBack(r *proxyRequest) error {
	text := "umpire holds the call of " + r.tool + ": approve or deny it in umpire's inbox, then go on here."
	question := map[string]any{"method": "elicitation/create", "params": map[string]any{
		"mode": "form", "message": text,
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}},
	}}
	return p.Client.Write(jsonrpc.Answer(r.message.ID, map[string]any{
		"resultType": "input_required", "inputRequests": map[string]any{ownInput: question}, "requestState": r.state,
	}))
}

// withdraw ends an abandoned call. The returned error explains why it has not run.
func (p *Proxy) withdraw(ctx context.Context, b *umpire.Batch, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	_, err := p.Gate.Finish(ctx, umpire.Result{
		Call: b.Calls[0].ID, Session: b.Session, Batch: b.ID, Status: umpire.ResultCancelled, Output: why,
	})
	if err != nil && !errors.Is(err, umpire.ErrState) {
		p.reportError(err)
	}
	return errors.New(why)
}

// noteRound remembers a call for which the server needs more input. The lock is held.
func (p *Proxy) noteRound(digest string, m *jsonrpc.Message) {
	var said struct {
		Type  string `json:"resultType"`
		State string `json:"requestState"`
	}
	if json.Unmarshal(m.Result, &said) == nil && said.Type == "input_required" && len(p.rounds) < maxRounds {
		p.rounds[roundOf(digest, said.State)] = true
	}
}

// finish stores the result of a call that ran.
func (p *Proxy) finish(result umpire.Result, m *jsonrpc.Message) {
	var said struct {
		IsError bool `json:"isError"`
	}
	_ = json.Unmarshal(m.Result, &said) // an error has no result to decode
	result.Status, result.Output = umpire.ResultOK, string(m.Result)
	if m.Error != nil || said.IsError {
		result.Status, result.Output = umpire.ResultError, cmp.Or(string(m.Error), string(m.Result))
	}
	result.Output = files.ClipTo(result.Output, maxOutput, "…")
	p.storeResult(result)
}

func (p *Proxy) storeResult(result umpire.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.relay.Context()), withdrawTime)
	defer cancel()
	if _, err := p.Gate.Finish(ctx, result); err != nil {
		p.reportError(err)
	}
}
