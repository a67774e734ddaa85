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
	d, err := h.standing(ctx)
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return Output{}, err
	}
	if d == nil {
		alone := h.alone(ctx)
		d = &alone
	}
	return h.answer(d), nil
}

// standingWindow is how many events back an identical call is looked for.
const standingWindow = 2000

// standing finds the decision on the latest identical call: the one that was let
// through and has no result yet, or that was refused. Nil is none.
func (h *gateHook) standing(ctx context.Context) (*umpire.Decision, error) {
	hash, err := h.desk.Hash(h.event.Call.Tool, h.event.Call.Input)
	if err != nil {
		return nil, err
	}
	filter := umpire.Filter{Session: h.event.Session}
	last, err := Latest(ctx, h.gate, filter)
	if err != nil {
		return nil, err
	}
	filter.After = max(0, last-standingWindow)
	events, err := h.gate.Events(ctx, filter)
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

// stands reads what the gate recorded about a call.
func (h *gateHook) stands(ctx context.Context, id umpire.BatchID, hash string, events []umpire.Event) (*umpire.Decision, error) {
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
			return refusal(c), nil
		}
	}
	return nil, nil
}

// recorded is the decision by which a call was started, as its event tells it.
func recorded(events []umpire.Event, id umpire.CallID) *umpire.Decision {
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventCallStarted && e.Call == id && e.Verdict != nil {
			return &umpire.Decision{Verdict: *e.Verdict, Reason: e.Reason, ReasonCode: e.Code, Type: e.Type, Accesses: e.Accesses}
		}
	}
	return nil
}

// A Timeline has the events.
type Timeline interface {
	Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error)
}

// Latest returns the greatest number of the events that a filter finds, 0 when there
// are none. It asks for one event at a time, in steps that grow, and then halves
// what is left.
func Latest(ctx context.Context, gate Timeline, f umpire.Filter) (int64, error) {
	f.Limit = 1
	last := f.After
	for step := int64(1); ; step *= 2 {
		f.After = last + step - 1
		found, err := gate.Events(ctx, f)
		if err != nil {
			return 0, err
		}
		if len(found) == 0 {
			return halve(ctx, gate, f, last, last+step)
		}
		last = found[0].Seq
	}
}

// halve narrows down where the last event is: it has the number last, or one above
// it and below beyond.
func halve(ctx context.Context, gate Timeline, f umpire.Filter, last, beyond int64) (int64, error) {
	for last+1 < beyond {
		middle := last + (beyond-last)/2
		f.After = middle - 1
		found, err := gate.Events(ctx, f)
		if err != nil {
			return 0, err
		}
		if len(found) > 0 {
			last = found[0].Seq
		} else {
			beyond = middle
		}
	}
	return last, nil
}
