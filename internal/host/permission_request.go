package host

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// request answers a PermissionRequest, which has no call id. It uses the answer to the identical
// call that PreToolUse brought before, or else answers as without a gate.
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

// searchWindow is the number of past events searched for an identical call.
const searchWindow = 2000

// findIdentical finds the decision on the latest identical call: one that was let through and has
// no result yet, or one that was refused. It returns nil if there is no such call.
func (h *gateHook) findIdentical(ctx context.Context) (*umpire.Decision, error) {
	c, events, err := h.responder.findLatest(ctx, &h.event)
	switch {
	case err != nil || c == nil || handedBack(c):
		return nil, err
	case c.State == umpire.CallExecuting:
		return recorded(events, c.ID), nil
	case c.Verdict == umpire.Deny:
		return new(refusal(c)), nil
	}
	return nil, nil
}

// findLatest finds the latest call that equals that of an event and has its id, if it names one. It
// returns nil if there is no such call. The events are the latest of the session.
func (p *Responder) findLatest(ctx context.Context, e *Event) (*umpire.BatchCall, []umpire.Event, error) {
	hash, err := p.Hash(e.Call.Tool, e.Call.Input)
	if err != nil {
		return nil, nil, err
	}
	events, err := p.gate.Events(ctx, umpire.Filter{Session: e.Session, Last: searchWindow})
	if err != nil {
		return nil, nil, err
	}
	for _, event := range slices.Backward(events) {
		if event.Kind != umpire.EventBatchSubmitted || !strings.Contains(string(event.Data), hash) ||
			e.ToolUseID != "" && event.Batch != umpire.BatchID(e.ToolUseID) {
			continue
		}
		b, err := p.gate.Batch(ctx, e.Session, event.Batch)
		if err != nil {
			return nil, nil, err
		}
		for i := range b.Calls {
			if c := &b.Calls[i]; c.ArgsHash == hash && c.Tool == e.Call.Tool {
				return c, events, nil
			}
		}
		return nil, events, nil
	}
	return nil, events, nil
}

// findStarted finds the first call that equals that of an event and has no result.
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
	return "", umpire.ErrNotFound
}

// recorded returns the decision that started a call, from its event.
func recorded(events []umpire.Event, id umpire.CallID) *umpire.Decision {
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventCallStarted && e.Call == id && e.Verdict != nil {
			return &umpire.Decision{Verdict: *e.Verdict, Reason: e.Reason, ReasonCode: e.Code, Type: e.Type,
				Accesses: e.Accesses}
		}
	}
	return nil
}
