package llm

import (
	"context"
	"errors"
	"time"
)

// A Steady is a model that asks another one again when a reply broke off: an
// [Endpoint] tries again until a reply begins, and not after.
type Steady struct {
	model Model
	pause time.Duration
}

const (
	// tries is how often a reply may begin.
	tries = 3
	// firstPause is before the second try; each later one is twice as long.
	firstPause = time.Second
)

// NewSteady returns a model that asks the given one up to three times.
func NewSteady(model Model) *Steady { return &Steady{model: model, pause: firstPause} }

// Reply asks until a reply has come to its end. Before it asks again it says so, with
// [Delta.Again].
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
		return false // an answer of the server: the request was sent again if that helps
	}
	return f.Kind == FailedBroken || f.Kind == FailedOverload || f.Kind == FailedServer
}
