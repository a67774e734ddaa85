package host

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// request answers a PermissionRequest, which names no call: from what stands for
// the identical call that PreToolUse brought before, else as without a gate.
func (h *gateHook) request(ctx context.Context) (Output, error) {
	d, err := h.findIdentical(ctx)
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return Output{}, err
	}
	if d == nil {
		alone := h.alone(ctx)
		d = &alone
	}
	return h.writeAnswer(*d, false), nil
}

// searchWindow is how many events back an identical call is looked for.
const searchWindow = 2000

// findIdentical finds the decision on the latest identical call: the one that was let
// through and has no result yet, or that was refused. Nil is none.
func (h *gateHook) findIdentical(ctx context.Context) (*umpire.Decision, error) {
	hash, err := h.responder.Hash(h.event.Call.Tool, h.event.Call.Input)
	if err != nil {
		return nil, err
	}
	events, err := h.gate.Events(ctx, umpire.Filter{Session: h.event.Session, Last: searchWindow})
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventBatchSubmitted && strings.Contains(string(e.Data), hash) {
			return h.stands(ctx, e.Batch, hash, events)
		}
	}
	return nil, nil
}

// findStarted finds the first call that equals that of an event and has no result, "" for none.
func (p *Responder) findStarted(ctx context.Context, e *Event) (umpire.CallID, error) {
	hash, err := p.Hash(e.Call.Tool, e.Call.Input)
	if err != nil {
		return "", err
	}
	events, err := p.gate.Events(ctx, umpire.Filter{Session: e.Session, Last: searchWindow})
	if err != nil {
		return "", err
	}
	for _, event := range events {
		if event.Kind != umpire.EventBatchSubmitted || !strings.Contains(string(event.Data), hash) {
			continue
		}
		b, err := p.gate.Batch(ctx, e.Session, event.Batch)
		if err != nil {
			return "", err
		}
		for i := range b.Calls {
			if c := &b.Calls[i]; c.ArgsHash == hash && c.Tool == e.Call.Tool && c.State == umpire.CallExecuting {
				return c.ID, nil
			}
		}
	}
	return "", nil
}

// stands reads what the gate recorded about a call.
func (h *gateHook) stands(
	ctx context.Context, id umpire.BatchID, hash string, events []umpire.Event,
) (*umpire.Decision, error) {
	b, err := h.gate.Batch(ctx, h.event.Session, id)
	if err != nil {
		return nil, err
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		switch {
		case c.ArgsHash != hash || c.Tool != h.event.Call.Tool:
		case c.State == umpire.CallExecuting:
			return recorded(events, c.ID), nil
		case c.Verdict == umpire.Deny:
			return new(refusal(c)), nil
		}
	}
	return nil, nil
}

// recorded is the decision by which a call was started, as its event tells it.
func recorded(events []umpire.Event, id umpire.CallID) *umpire.Decision {
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventCallStarted && e.Call == id && e.Verdict != nil {
			return &umpire.Decision{Verdict: *e.Verdict, Reason: e.Reason, ReasonCode: e.Code, Type: e.Type,
				Accesses: e.Accesses}
		}
	}
	return nil
}
