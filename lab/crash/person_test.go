//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// A person answers questions, and remembers every answer that the gate has
// acknowledged.
type person struct {
	planned func(umpire.SessionID, umpire.CallID) (*conversation, *planned)

	mu        sync.Mutex
	tried     map[umpire.RequestID][]umpire.Choice // submitted, with any result
	taken     map[umpire.RequestID]umpire.Choice   // and acknowledged
	questions map[umpire.RequestID]umpire.Pending
	settled   map[umpire.RequestID]bool // the outcome of a call, and whether it had happened
	wrong     []string
	bell      chan struct{} // holds one when an answer was acknowledged
}

func newPerson(planned func(umpire.SessionID, umpire.CallID) (*conversation, *planned)) *person {
	return &person{
		planned: planned,
		tried:   map[umpire.RequestID][]umpire.Choice{}, taken: map[umpire.RequestID]umpire.Choice{},
		questions: map[umpire.RequestID]umpire.Pending{}, settled: map[umpire.RequestID]bool{}, bell: make(chan struct{}, 1),
	}
}

// An answerer is a gate at which a person answers.
type answerer struct {
	*person
	*server.Client

	gate *gate
	rng  *rand.Rand
}

// attend answers at a gate until ctx ends, whichever process it is.
func (p *person) attend(ctx context.Context, h *home, rng *rand.Rand) error {
	for ctx.Err() == nil {
		g, err := h.ready(ctx)
		if err != nil {
			return nil //nolint:nilerr // the loop has ended because of its context
		}
		c, err := h.dial("person")
		if err != nil {
			return err
		}
		d := &answerer{person: p, Client: c, gate: g, rng: rng}
		err = d.attend(ctx)
		c.Close()
		if err != nil && !h.forgives(err.Error()) && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the person at %s: %w", h.where, err)
		}
		pause(ctx, g) // wait for another gate, or try again
	}
	return nil
}

// pause waits a moment, or until the gate is gone.
func pause(ctx context.Context, g *gate) {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	_ = g.over(ctx)
}

// moment is how long a person waits before trying again.
const moment = 20 * time.Millisecond

// attend answers while one gate lives: first the open questions, then new ones as they
// come.
func (d *answerer) attend(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		_ = d.gate.over(ctx)
		leave()
	}()
	last, err := d.latest(ctx)
	if err != nil {
		return err
	}
	if err := d.answerAll(ctx); err != nil {
		return err
	}
	for e, err := range d.Watch(ctx, umpire.Filter{After: last}) {
		if err != nil {
			return nil // the gate is gone, or the test is over
		}
		if e.Kind != umpire.EventPermissionAsked && e.Kind != umpire.EventCallIndeterminate {
			continue
		}
		if err := d.answerAll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// latest is the number of the last event that is not of now.
func (d *answerer) latest(ctx context.Context) (int64, error) {
	sessions, err := d.Sessions().List(ctx, umpire.SessionQuery{Limit: 1})
	if err != nil || len(sessions) == 0 {
		return 0, err
	}
	events, err := d.Events(ctx, umpire.Filter{Session: sessions[0].ID})
	if err != nil || len(events) == 0 {
		return 0, err
	}
	return events[len(events)-1].Seq, nil
}

// answerAll answers every question that waits.
func (d *answerer) answerAll(ctx context.Context) error {
	list, err := d.Pending(ctx, umpire.PendingQuery{})
	if err != nil {
		return err
	}
	for i := range list {
		if err := d.answer(ctx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// answer answers one question; sometimes two people do at once, and disagree.
func (d *answerer) answer(ctx context.Context, q *umpire.Pending) error {
	choice, err := d.choose(ctx, q)
	if err != nil || choice == "" {
		return err
	}
	if q.Indeterminate || d.rng.IntN(4) > 0 {
		return d.hand(ctx, q, choice)
	}
	other := umpire.Refuse
	if choice == umpire.Refuse {
		other = umpire.Approve
	}
	second := make(chan error, 1)
	go func() { second <- d.hand(ctx, q, other) }()
	return errors.Join(d.hand(ctx, q, choice), <-second)
}

// choose returns the answer to a question.
func (d *answerer) choose(ctx context.Context, q *umpire.Pending) (umpire.Choice, error) {
	d.mu.Lock()
	choice, answered := d.taken[q.Request]
	d.questions[q.Request] = *q
	d.mu.Unlock()
	if answered {
		return "", d.stillWaits(ctx, q, fmt.Sprintf("%s was acknowledged", choice))
	}
	in, call := d.planned(q.Session, q.Call)
	if call == nil {
		d.report("request %s is about call %s of session %s, which nobody made", q.Request, q.Call, q.Session)
		return "", nil
	}
	if !q.Indeterminate {
		return call.choice, nil
	}
	return d.account(ctx, q, in, call)
}

// account finds out whether a started call with an unknown outcome ran, after checking
// that the gate shows the outcome as unknown.
func (d *answerer) account(ctx context.Context, q *umpire.Pending, in *conversation, call *planned) (umpire.Choice, error) {
	b, err := d.Batch(ctx, q.Session, q.Batch)
	if err != nil {
		return "", err
	}
	s, err := d.Sessions().Get(ctx, q.Session)
	if err != nil {
		return "", err
	}
	state := b.Call(q.Call)
	if state == nil || state.State != umpire.CallUnknown || b.State != umpire.BatchWaiting || s.State != umpire.SessionWaiting {
		return "", d.stillWaits(ctx, q, fmt.Sprintf("its call is %+v, its batch %s, its session %s", state, b.State, s.State))
	}
	if err := in.awaitEnds(ctx, d.gate); err != nil {
		return "", err
	}
	n, err := in.effectsOf(call)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	d.settled[q.Request] = n > 0
	d.mu.Unlock()
	if n > 0 {
		return umpire.Approve, nil
	}
	return umpire.Refuse, nil
}

// hand hands an answer in. An error is one of the way to the gate only.
func (d *answerer) hand(ctx context.Context, q *umpire.Pending, choice umpire.Choice) error {
	d.mu.Lock()
	d.tried[q.Request] = append(d.tried[q.Request], choice)
	d.mu.Unlock()
	_, err := d.Resolve(ctx, umpire.Answer{
		Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Version: q.Version, Choice: choice, Reason: reasonOf(choice),
	})
	late, isLate := errors.AsType[*umpire.ResolvedError](err)
	switch {
	case err == nil:
		d.take(q, choice)
	case isLate:
		d.checkStanding(q, late.Standing)
	case away(err), ctx.Err() != nil:
		return err
	default:
		d.report("answering request %s (call %s): %v", q.Request, q.Call, err)
	}
	return nil
}

func reasonOf(c umpire.Choice) string {
	if c == umpire.Approve {
		return ""
	}
	return "not now"
}

// take keeps an acknowledged answer in mind.
func (p *person) take(q *umpire.Pending, choice umpire.Choice) {
	p.mu.Lock()
	before, twice := p.taken[q.Request]
	p.taken[q.Request] = choice
	p.mu.Unlock()
	select {
	case p.bell <- struct{}{}:
	default: // it rings already
	}
	if twice {
		p.report("request %s took %s and %s", q.Request, before, choice)
	}
}

// checkStanding checks that the standing answer is the acknowledged one, or one that
// may have arrived.
func (p *person) checkStanding(q *umpire.Pending, standing umpire.Standing) {
	p.mu.Lock()
	acknowledged, known := p.taken[q.Request]
	tried := p.tried[q.Request]
	p.mu.Unlock()
	if known && acknowledged != standing.Choice {
		p.report("request %s: %s was acknowledged, and %s stands", q.Request, acknowledged, standing.Choice)
	}
	if slices.Contains(tried, standing.Choice) {
		return
	}
	if standing.Code == umpire.CodeCancelled { // the turn was stopped by the answer to another one
		return
	}
	p.report("request %s: %s stands, which nobody answered", q.Request, standing.Choice)
}

// stillWaits returns an error if a question is still open that should not be.
func (d *answerer) stillWaits(ctx context.Context, q *umpire.Pending, why string) error {
	list, err := d.Pending(ctx, umpire.PendingQuery{Session: q.Session})
	for i := range list {
		if list[i].Request == q.Request {
			return fmt.Errorf("request %s about call %s waits, and %s", q.Request, q.Call, why)
		}
	}
	return err
}

func (p *person) report(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}
