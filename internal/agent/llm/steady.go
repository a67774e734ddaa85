package llm

import (
	"context"
	"errors"
	"time"
)

// A Steady is a model that asks another one again if a reply breaks off: an [Endpoint] retries only
// until a reply begins.
type Steady struct {
	model Model
	pause time.Duration
}

const (
	// tries is how often a reply may begin.
	tries = 3
	// firstPause is the pause before the second try; it doubles each time.
	firstPause = time.Second
)

// NewSteady returns a model that asks the given one up to three times.
func NewSteady(model Model) *Steady { return &Steady{model: model, pause: firstPause} }

// Reply asks until it gets a complete reply. It announces each retry with [Delta.Again].
func (s *Steady) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	for try, pause := 1, s.pause; ; try, pause = try+1, 2*pause {
		m, err := s.model.Reply(ctx, r, onDelta)
		if err == nil || !brokeOff(err) || try == tries {
			return m, err
		}
		select {
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		case <-time.After(pause):
		}
		if onDelta != nil {
			onDelta(Delta{Again: true})
		}
	}
}

// brokeOff reports whether a reply had begun when it failed for reasons beyond our control.
func brokeOff(err error) bool {
	f, ok := errors.AsType[*ReplyError](err)
	if !ok || f.Status != 0 {
		return false // an answer of the server: the request was already retried if that helps
	}
	return f.Kind == FailedBroken || f.Kind == FailedOverload || f.Kind == FailedServer
}
