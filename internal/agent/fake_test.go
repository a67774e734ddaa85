package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A fakeGate keeps one session in memory, by the rules of the real gate: its batches
// are folded from events, one is open at a time, and a runner with an old epoch is
// refused. Tests decide how it decides, and break it where they like.
type fakeGate struct {
	umpire.Gate // nil: the loop uses nothing else

	t *testing.T
	// decide decides a call; nil allows all.
	decide func(umpire.Call) umpire.Verdict
	// again decides a call once more before it starts; nil keeps the first decision.
	again func(umpire.Call) umpire.Verdict
	// effect returns the effect of running a call twice; nil means unknown.
	effect func(umpire.Call) umpire.Effect
	// faults is called before and after each method does its work; an error from before prevents
	// the work, one from after loses only the answer.
	faults atomic.Pointer[func(method string, after bool) error]

	mu       sync.Mutex
	changed  chan struct{}
	session  umpire.Session
	events   []umpire.Event
	batches  map[umpire.BatchID]umpire.Batch
	order    []umpire.BatchID
	calls    map[umpire.CallID]umpire.Call
	asks     map[umpire.RequestID]umpire.Pending
	results  map[umpire.CallID]umpire.Result
	messages []umpire.Message
	prompts  []string
	did      []string // the methods that changed something, in their order
	epochs   map[umpire.CallID]int64
	listed   int // calls and questions that were read
}

// fakeSessions and fakeConversations are the parts of a fakeGate.
type (
	fakeSessions struct {
		umpire.SessionKeeper // nil: the loop uses nothing else

		*fakeGate
	}
	fakeConversations struct {
		umpire.ConversationKeeper // nil: the loop uses nothing else

		*fakeGate
	}
)

func (g *fakeGate) Sessions() umpire.SessionKeeper { return fakeSessions{fakeGate: g} }

func (g *fakeGate) Conversations() umpire.ConversationKeeper { return fakeConversations{fakeGate: g} }

var errAway = errors.New("the gate is away")

func newFakeGate(t *testing.T) *fakeGate {
	return &fakeGate{
		t: t, changed: make(chan struct{}), batches: map[umpire.BatchID]umpire.Batch{}, calls: map[umpire.CallID]umpire.Call{},
		asks: map[umpire.RequestID]umpire.Pending{}, results: map[umpire.CallID]umpire.Result{}, epochs: map[umpire.CallID]int64{},
		session: umpire.Session{ID: "s1", Dir: "/p", Root: "/p", Agent: "umpire", State: umpire.SessionIdle, Epoch: 1},
	}
}

// step does one thing as the real gate does: the runner is the current one, all of it happens
// or nothing, and every watcher is notified.
func (g *fakeGate) step(ctx context.Context, method string, epoch int64, do func() error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := g.fault(method, false); err != nil {
		return err
	}
	err := g.locked(method, epoch, do)
	if err == nil {
		err = g.fault(method, true)
	}
	if err == nil {
		err = ctx.Err() // a caller that has left gets no answer
	}
	return err
}

func (g *fakeGate) fault(method string, after bool) error {
	if f := g.faults.Load(); f != nil {
		return (*f)(method, after)
	}
	return nil
}

// breaks makes the gate fail as f says; nil mends it.
func (g *fakeGate) breaks(f func(method string, after bool) error) {
	if f == nil {
		g.faults.Store(nil)
		return
	}
	g.faults.Store(&f)
}

func (g *fakeGate) locked(method string, epoch int64, do func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if epoch != 0 && epoch != g.session.Epoch {
		return fmt.Errorf("epoch %d, not %d: %w", g.session.Epoch, epoch, umpire.ErrFenced)
	}
	if err := do(); err != nil {
		return err
	}
	g.did = append(g.did, method)
	g.restate()
	close(g.changed)
	g.changed = make(chan struct{})
	return nil
}

func (g *fakeGate) restate() {
	if g.session.State == umpire.SessionOver {
		return
	}
	b := g.openBatch()
	g.session.Pending = 0
	switch {
	case b != nil && b.Waiting() > 0:
		g.session.State, g.session.Pending = umpire.SessionWaiting, b.Waiting()
	case b != nil && !b.Cancelled:
		g.session.State = umpire.SessionGenerating
	case g.session.State == umpire.SessionWaiting:
		g.session.State = umpire.SessionIdle
	}
}

func (g *fakeGate) openBatch() *umpire.Batch {
	if len(g.order) == 0 {
		return nil
	}
	b := g.batches[g.order[len(g.order)-1]]
	if b.State == umpire.BatchDelivered {
		return nil
	}
	return &b
}

func (g *fakeGate) append(e umpire.Event) {
	e.Seq, e.Session = int64(10*(len(g.events)+1)), g.session.ID
	g.events = append(g.events, e)
}

// apply folds an event; one that does not fit is a mistake of the loop or of this fake.
func (g *fakeGate) apply(id umpire.BatchID, e umpire.Event, detail batch.Detail) error {
	e.Batch, e.Session = id, g.session.ID
	if detail != nil {
		e.Data, _ = json.Marshal(detail)
	}
	next, err := batch.Apply(g.batches[id], batch.Event{Event: e, Detail: detail})
	if err != nil {
		return fmt.Errorf("%w: %w", err, umpire.ErrState)
	}
	g.batches[id] = next
	g.append(e)
	return nil
}

func (g *fakeGate) settle(id umpire.BatchID) error {
	b := g.batches[id]
	if b.State == umpire.BatchWaiting && b.Waiting() == 0 && !b.Cancelled {
		if err := g.apply(id, umpire.Event{Kind: umpire.EventBatchResumed}, batch.Resumed{Epoch: b.Resumes + 1}); err != nil {
			return err
		}
		b = g.batches[id]
	}
	if b.Next() == nil && (b.State == umpire.BatchRunning || b.State == umpire.BatchWaiting && b.Cancelled) {
		return g.apply(id, umpire.Event{Kind: umpire.EventBatchFinished}, nil)
	}
	return nil
}

func (g *fakeGate) finish(id umpire.BatchID, r umpire.Result) error {
	e := umpire.Event{Kind: umpire.EventCallFinished, Call: r.Call, Code: r.Code}
	if err := g.apply(id, e, batch.Finished{Status: r.Status}); err != nil {
		return err
	}
	if _, twice := g.results[r.Call]; twice {
		g.t.Errorf("call %s has two results", r.Call)
	}
	g.results[r.Call] = r
	return nil
}

func (g *fakeGate) ask(id umpire.BatchID, call umpire.Call) error {
	round := g.batches[id].Calls[0].Round
	request := umpire.RequestID(fmt.Sprintf("r-%s-%d-%d", call.ID, round, len(g.asks)))
	g.asks[request] = umpire.Pending{Request: request, Call: call.ID, Batch: id, Session: g.session.ID, Tool: call.Tool}
	return g.apply(id, umpire.Event{Kind: umpire.EventPermissionAsked, Call: call.ID, Request: request, Tool: call.Tool}, nil)
}

func (g fakeConversations) Prompt(ctx context.Context, p umpire.Prompt) (prompted umpire.Prompted, err error) {
	err = g.step(ctx, "Prompt", p.Epoch, func() error {
		if p.Epoch != 0 && g.session.State == umpire.SessionIdle {
			g.session.State = umpire.SessionGenerating
			g.keep("user", "", p.Text)
			return nil
		}
		g.prompts = append(g.prompts, p.Text)
		g.append(umpire.Event{Kind: umpire.EventPromptQueued})
		prompted = umpire.Prompted{Queued: true, Waiting: g.session.Pending}
		return nil
	})
	return prompted, err
}

func (g *fakeGate) keep(role string, id umpire.BatchID, content any) {
	raw, ok := content.(json.RawMessage)
	if !ok {
		raw, _ = json.Marshal(content)
	}
	g.messages = append(g.messages, umpire.Message{N: int64(len(g.messages) + 1), Role: role, Batch: id, Content: raw})
	if role == "assistant" {
		g.append(umpire.Event{Kind: umpire.EventModelReplied, Batch: id})
	}
}

func (g fakeConversations) Compose(ctx context.Context, _ umpire.SessionID, epoch int64) (c umpire.Conversation, err error) {
	err = g.step(ctx, "Compose", epoch, func() error {
		if g.session.State == umpire.SessionOver {
			return fmt.Errorf("ended: %w", umpire.ErrState)
		}
		b := g.openBatch()
		if b != nil && b.State != umpire.BatchFinished {
			return fmt.Errorf("batch %s is %s: %w", b.ID, b.State, umpire.ErrState)
		}
		fresh := b != nil || len(g.prompts) > 0 || len(g.messages) > 0 && g.messages[len(g.messages)-1].Role == "user"
		if !fresh {
			return fmt.Errorf("nothing to send: %w", umpire.ErrState)
		}
		for _, p := range g.prompts {
			g.keep("user", "", p)
		}
		g.prompts = nil
		g.session.State = umpire.SessionGenerating
		g.append(umpire.Event{Kind: umpire.EventModelRequested})
		c = g.conversation()
		return nil
	})
	return c, err
}

func (g *fakeGate) conversation() umpire.Conversation {
	c := umpire.Conversation{Session: g.session, Messages: slices.Clone(g.messages), Batches: map[umpire.BatchID]umpire.Done{}}
	for id, b := range g.batches {
		done := umpire.Done{Cancelled: b.Cancelled}
		for i := range b.Calls {
			if r, ok := g.results[b.Calls[i].ID]; ok {
				done.Results = append(done.Results, r)
			}
		}
		c.Batches[id] = done
	}
	return c
}

func (g *fakeGate) deliver() error {
	if b := g.openBatch(); b != nil {
		if b.State != umpire.BatchFinished {
			return fmt.Errorf("batch %s is %s: %w", b.ID, b.State, umpire.ErrState)
		}
		return g.apply(b.ID, umpire.Event{Kind: umpire.EventBatchDelivered}, nil)
	}
	return nil
}

func (g fakeConversations) Reply(ctx context.Context, r umpire.Reply) (s umpire.Session, err error) {
	err = g.step(ctx, "Reply", r.Epoch, func() error {
		if err := g.deliver(); err != nil {
			return err
		}
		g.keep("assistant", "", r.Message)
		g.session.State = umpire.SessionIdle
		s = g.session
		return nil
	})
	return s, err
}

func (g *fakeGate) Submit(ctx context.Context, s umpire.Submission) (b umpire.Batch, err error) {
	err = g.step(ctx, "Submit", s.Epoch, func() error {
		if existing, ok := g.batches[s.Batch]; ok {
			b = existing
			return nil
		}
		if err := g.deliver(); err != nil {
			return err
		}
		g.keep("assistant", s.Batch, s.Message)
		prompted := batch.Submitted{}
		verdicts := map[umpire.CallID]umpire.Verdict{}
		for _, c := range s.Calls {
			if _, twice := g.calls[c.ID]; twice {
				return fmt.Errorf("call %s stands twice: %w", c.ID, umpire.ErrState)
			}
			verdicts[c.ID] = g.judge(c, s)
			state := map[umpire.Verdict]umpire.CallState{umpire.Allow: umpire.CallApproved, umpire.Ask: umpire.CallAsked, umpire.Deny: umpire.CallDenied}
			prompted.Calls = append(prompted.Calls, batch.Call{ID: c.ID, Tool: c.Tool, Effect: g.effectOf(c), State: state[verdicts[c.ID]], Verdict: verdicts[c.ID]})
		}
		if err := g.apply(s.Batch, umpire.Event{Kind: umpire.EventBatchSubmitted}, prompted); err != nil {
			return err
		}
		g.order = append(g.order, s.Batch)
		for _, c := range s.Calls {
			g.calls[c.ID] = c
			if err := g.enter(s, c, verdicts[c.ID]); err != nil {
				return err
			}
		}
		err := g.settle(s.Batch)
		b = g.batches[s.Batch]
		return err
	})
	return b, err
}

func (g *fakeGate) effectOf(c umpire.Call) umpire.Effect {
	if g.effect == nil {
		return umpire.EffectUnknown
	}
	return g.effect(c)
}

func (g *fakeGate) judge(c umpire.Call, s umpire.Submission) umpire.Verdict {
	for _, rule := range s.Tighten {
		if rule.Tool == c.Tool {
			return umpire.Deny
		}
	}
	if g.decide == nil {
		return umpire.Allow
	}
	return g.decide(c)
}

func (g *fakeGate) enter(s umpire.Submission, c umpire.Call, v umpire.Verdict) error {
	if v == umpire.Ask {
		if err := g.ask(s.Batch, c); err != nil || !s.Headless {
			return err
		}
		request := g.batches[s.Batch].Calls[slices.IndexFunc(g.batches[s.Batch].Calls, func(b umpire.BatchCall) bool { return b.ID == c.ID })].Request
		return g.refuse(s.Batch, c.ID, request, umpire.CodeAutoDeny,
			umpire.Say(policy.NobodyConfirms, "nobody is there"))
	}
	if v == umpire.Deny {
		return g.refuse(s.Batch, c.ID, "", umpire.CodeBlocked, "denied by a rule")
	}
	return nil
}

func (g *fakeGate) refuse(id umpire.BatchID, c umpire.CallID, request umpire.RequestID, code umpire.ReasonCode, reason umpire.Phrase) error {
	delete(g.asks, request)
	e := umpire.Event{Kind: umpire.EventPermissionRejected, Call: c, Request: request, Code: code, Reason: reason}
	if err := g.apply(id, e, nil); err != nil {
		return err
	}
	status := umpire.ResultDenied
	if code == umpire.CodeCancelled {
		status = umpire.ResultCancelled
	}
	return g.finish(id, umpire.Result{Call: c, Status: status, Code: code, Output: "[Tool Denied] " + catalogue.English.Text(reason)})
}

// answer is a person's word on the question about a call.
func (g *fakeGate) answer(c umpire.CallID, choice umpire.Choice) error {
	return g.step(context.Background(), "Resolve", 0, func() error {
		for request, p := range g.asks {
			if p.Call != c {
				continue
			}
			delete(g.asks, request)
			return g.take(request, p, choice)
		}
		return &umpire.ResolvedError{}
	})
}

func (g *fakeGate) take(request umpire.RequestID, p umpire.Pending, choice umpire.Choice) error {
	b := g.batches[p.Batch]
	lost := b.Call(p.Call).State == umpire.CallUnknown
	kind := umpire.EventPermissionApproved
	if choice != umpire.Approve {
		kind = umpire.EventPermissionRejected
	}
	if !lost && choice != umpire.Approve {
		code := map[umpire.Choice]umpire.ReasonCode{umpire.Refuse: umpire.CodeDenied, umpire.Cancel: umpire.CodeCancelled}[choice]
		if err := g.refuse(p.Batch, p.Call, request, code, "no"); err != nil {
			return err
		}
	} else if err := g.apply(p.Batch, umpire.Event{Kind: kind, Call: p.Call, Request: request}, nil); err != nil {
		return err
	}
	if lost {
		status := map[umpire.Choice]umpire.ResultStatus{umpire.Approve: umpire.ResultOK, umpire.Refuse: umpire.ResultError}[choice]
		if err := g.finish(p.Batch, umpire.Result{Call: p.Call, Status: status, Output: "[Outcome Settled]"}); err != nil {
			return err
		}
	}
	if choice == umpire.Cancel {
		if err := g.cancel(p.Batch); err != nil {
			return err
		}
	}
	return g.settle(p.Batch)
}

func (g *fakeGate) cancel(id umpire.BatchID) error {
	if err := g.apply(id, umpire.Event{Kind: umpire.EventBatchCancelled}, nil); err != nil {
		return err
	}
	for _, c := range g.batches[id].Calls {
		var err error
		switch c.State { //nolint:exhaustive // the others have ended or run
		case umpire.CallAsked:
			err = g.refuse(id, c.ID, c.Request, umpire.CodeCancelled, "stopped")
		case umpire.CallApproved:
			err = g.finish(id, umpire.Result{Call: c.ID, Status: umpire.ResultCancelled, Code: umpire.CodeCancelled, Output: "[Tool Cancelled]"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *fakeGate) Start(ctx context.Context, s umpire.Start) (started umpire.Started, err error) {
	err = g.step(ctx, "Start", s.Epoch, func() error {
		b, ok := g.batches[s.Batch]
		if !ok || b.Call(s.Call) == nil {
			return umpire.ErrNotFound
		}
		c := b.Call(s.Call)
		ready := c.State == umpire.CallApproved || c.State == umpire.CallExecuting && c.Effect.Repeatable() && g.epochs[c.ID] < g.session.Epoch
		if !ready || b.State != umpire.BatchRunning || b.Next() != c {
			started = umpire.Started{Batch: batch.Around(&b, s.Call, "")}
			return nil
		}
		return g.launch(s, c, &started)
	})
	return started, err
}

func (g *fakeGate) launch(s umpire.Start, c *umpire.BatchCall, started *umpire.Started) error {
	verdict, asked := umpire.Allow, c.Request != ""
	if g.again != nil && !asked {
		verdict = g.again(g.calls[c.ID])
	}
	var err error
	switch verdict {
	case umpire.Ask:
		err = g.ask(s.Batch, g.calls[c.ID])
	case umpire.Deny:
		if err = g.refuse(s.Batch, c.ID, "", umpire.CodeBlocked, "denied since"); err == nil {
			err = g.settle(s.Batch)
		}
	case umpire.Allow:
		err = g.apply(s.Batch, umpire.Event{Kind: umpire.EventCallStarted, Call: c.ID}, batch.Started{Attempt: c.Attempt + 1})
		g.epochs[c.ID] = g.session.Epoch
		started.Go, started.Call, started.Decision = true, g.calls[c.ID], umpire.Decision{Verdict: umpire.Allow}
		started.Attempt = c.Attempt + 1
	}
	b := g.batches[s.Batch]
	started.Batch = batch.Around(&b, s.Call, "")
	return err
}

func (g *fakeGate) Finish(ctx context.Context, r umpire.Result) (b umpire.Batch, err error) {
	err = g.step(ctx, "Finish", r.Epoch, func() error {
		if existing, ok := g.results[r.Call]; ok {
			b = g.part(r)
			if existing.Output == r.Output {
				return nil
			}
			return fmt.Errorf("call %s has its result: %w", r.Call, umpire.ErrState)
		}
		if err := g.finish(r.Batch, r); err != nil {
			return err
		}
		err := g.settle(r.Batch)
		b = g.part(r)
		return err
	})
	return b, err
}

// part returns the part of a batch that an answer about a call contains.
func (g *fakeGate) part(r umpire.Result) umpire.Batch {
	b := g.batches[r.Batch]
	return batch.Around(&b, r.Call, "")
}

func (g *fakeGate) look(ctx context.Context, method string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return g.fault(method, false)
}

func (g *fakeGate) Batch(ctx context.Context, _ umpire.SessionID, id umpire.BatchID) (umpire.Batch, error) {
	if err := g.look(ctx, "Batch"); err != nil {
		return umpire.Batch{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listed += len(g.batches[id].Calls)
	return g.batches[id], nil
}

func (g fakeSessions) Get(ctx context.Context, _ umpire.SessionID) (umpire.Session, error) {
	err := g.look(ctx, "Session")
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session, err
}

func (g *fakeGate) Pending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	err := g.look(ctx, "Pending")
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []umpire.Pending
	for _, id := range g.order {
		for _, c := range g.batches[id].Calls {
			if p, ok := g.asks[c.Request]; ok && p.Call == c.ID {
				list = append(list, p)
			}
		}
	}
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	g.listed += len(list)
	return list, err
}

func (g *fakeGate) Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error) {
	err := g.look(ctx, "Events")
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.after(f.After), err
}

func (g *fakeGate) after(seq int64) []umpire.Event {
	var list []umpire.Event
	for _, e := range g.events {
		if e.Seq > seq {
			list = append(list, e)
		}
	}
	return list
}

func (g *fakeGate) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		f.After-- // numbers grow by ten, so the last event comes again
		for {
			if err := g.look(ctx, "Watch"); err != nil {
				if ctx.Err() == nil {
					yield(umpire.Event{}, err)
				}
				return
			}
			g.mu.Lock()
			events, changed := g.after(f.After), g.changed
			g.mu.Unlock()
			for _, e := range events {
				f.After = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

func (g fakeSessions) Renew(ctx context.Context, _ umpire.SessionID, epoch int64) (time.Time, error) {
	err := g.step(ctx, "Renew", epoch, func() error { return nil })
	return time.Now().Add(30 * time.Second), err
}

// takeOver acts as another runner that takes the session: a call that was executing and cannot be
// repeated is asked about.
func (g *fakeGate) takeOver() {
	err := g.step(context.Background(), "Continue", 0, func() error {
		g.session.Epoch++
		b := g.openBatch()
		if b == nil {
			return nil
		}
		for _, c := range b.Calls {
			if c.State != umpire.CallExecuting || c.Effect.Repeatable() {
				continue
			}
			request := umpire.RequestID("lost-" + string(c.ID))
			g.asks[request] = umpire.Pending{Request: request, Call: c.ID, Batch: b.ID, Session: g.session.ID, Indeterminate: true}
			if err := g.apply(b.ID, umpire.Event{Kind: umpire.EventCallIndeterminate, Call: c.ID, Request: request}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

// kinds are the events so far, without those that say nothing here.
func (g *fakeGate) kinds() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for _, e := range g.events {
		name := string(e.Kind)
		if e.Call != "" {
			name += " " + string(e.Call)
		}
		names = append(names, name)
	}
	return strings.Join(names, "\n")
}

// A scripted model plays its replies, and keeps the requests. It refuses what real ones
// refuse.
type scripted struct {
	mu       sync.Mutex
	replies  []llm.Message
	requests []llm.Request
	before   func(n int) // called before the nth reply, from 1
}

func (m *scripted) Reply(_ context.Context, r llm.Request, _ func(llm.Delta)) (llm.Message, error) {
	if err := llm.Check(r); err != nil {
		return llm.Message{}, err
	}
	m.mu.Lock()
	r.Messages = slices.Clone(r.Messages)
	m.requests = append(m.requests, r)
	n, before := len(m.requests), m.before
	m.mu.Unlock()
	if before != nil {
		before(n)
	}
	turn := 0
	for _, message := range r.Messages {
		if message.Role == llm.RoleAssistant {
			turn++
		}
	}
	if turn >= len(m.replies) {
		return say("done"), nil
	}
	return m.replies[turn], nil
}

func (m *scripted) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// last is the last message of the last request.
func (m *scripted) last() llm.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	messages := m.requests[len(m.requests)-1].Messages
	return messages[len(messages)-1]
}

func say(blocks ...any) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, b := range blocks {
		switch b := b.(type) {
		case string:
			m.Content = append(m.Content, llm.Text(b))
		case llm.Block:
			m.Content = append(m.Content, b)
		}
	}
	return m
}

func use(id, tool string) llm.Block { return llm.Call(id, tool, nil) }

// fakeTools do nothing, and remember that they did.
type fakeTools struct {
	mu      sync.Mutex
	ran     []string
	stopped int
	run     func(ctx context.Context, s umpire.Started) umpire.Result
}

func (f *fakeTools) Tools() []llm.Tool {
	return []llm.Tool{{Name: "Read", Schema: json.RawMessage(`{}`)}, {Name: "Write", Schema: json.RawMessage(`{}`)}, {Name: "Bash", Schema: json.RawMessage(`{}`)}}
}

func (f *fakeTools) Has(name string) bool {
	return slices.Contains([]string{"Read", "Write", "Bash"}, name)
}

func (f *fakeTools) Run(ctx context.Context, s umpire.Started) umpire.Result {
	f.mu.Lock()
	f.ran = append(f.ran, string(s.Call.ID))
	run := f.run
	f.mu.Unlock()
	if run != nil {
		return run(ctx, s)
	}
	return umpire.Result{Status: umpire.ResultOK, Output: "ran " + string(s.Call.ID)}
}

func (f *fakeTools) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped++
}

func (f *fakeTools) all() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.ran, " ")
}

// recorder is a handler that keeps its notifications.
type recorder struct {
	mu     sync.Mutex
	events []umpire.Event
	lines  []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) Event(e umpire.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}
func (r *recorder) Saying(llm.Delta) {}
func (r *recorder) Said(text string) { r.note("said %s", text) }
func (r *recorder) Output(c umpire.CallID, text string) {
	r.note("printed %s %s", c, text)
}
func (r *recorder) Waiting(n int)            { r.note("waiting %d", n) }
func (r *recorder) Queued(p umpire.Prompted) { r.note("queued behind %d", p.Waiting) }
func (r *recorder) Ended(c umpire.BatchCall, result umpire.Result) {
	r.note("ended %s %s", c.ID, result.Status)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}
