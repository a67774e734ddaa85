package editor

import (
	"context"
	"encoding/json"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

// A Question is one call that the agent wants to make. Its Dir and Session are set.
type Question struct {
	Call umpire.Call
	// Project is the folder of the session.
	Project string
	// Dialog means that the agent asks, and that the editor's dialog may answer. Otherwise the
	// editor would carry it out without a question.
	Dialog bool
}

// An Answer is the reply to a question, and the reason, for people and for the model. The zero
// value denies. With [host.Allow] umpire knows that the call is safe, or a person approved it; with
// [host.Deny] it is refused; with everything else the editor asks its user.
type Answer struct {
	Reply  host.Reply
	Reason string
}

// A Judge decides. It is safe for concurrent use. An error of Decide denies.
type Judge interface {
	// Decide answers a question. It may wait as long as a person takes, but not longer than ctx.
	Decide(ctx context.Context, q Question) (Answer, error)
	// Tell reports an event. It must not block for long.
	Tell(ctx context.Context, n Notice)
}

// DecideAll judges calls that run together or not at all: the strictest answer counts.
func DecideAll(ctx context.Context, judge Judge, questions []Question) Answer {
	answer := Answer{Reply: host.Allow}
	for _, q := range questions {
		each, err := judge.Decide(ctx, q)
		switch {
		case err != nil:
			return Answer{Reason: err.Error()}
		case each.Reply == host.Deny:
			return each
		case each.Reply != host.Allow:
			answer = each
		}
	}
	return answer
}

// A NoticeKind is the topic of a notice.
type NoticeKind uint8

// The kinds of notices.
const (
	Prompted NoticeKind = iota + 1 // the user sent a prompt: a turn begins
	Stopped                        // the turn is over
	Finished                       // a call has run
	Failed                         // a call has run and failed
)

// A Notice is an event in a session.
type Notice struct {
	Kind    NoticeKind
	Session umpire.SessionID
	Project string
	// Call is set for Finished and Failed.
	Call   umpire.Call
	Output json.RawMessage
	// Text is the user's message.
	Text string
}
