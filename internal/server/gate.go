package server

import (
	"context"
	"iter"
	"time"

	"github.com/umpirehq/umpire"
)

// Calls has calls decided and run.
type Calls interface {
	Check(ctx context.Context, call umpire.Call) (umpire.Decision, error)
	Submit(ctx context.Context, s umpire.Submission) (umpire.Batch, error)
	Batch(ctx context.Context, session umpire.SessionID, batch umpire.BatchID) (umpire.Batch, error)
	Start(ctx context.Context, s umpire.Start) (umpire.Started, error)
	Finish(ctx context.Context, r umpire.Result) (umpire.Batch, error)
}

// Questions are put to a person.
type Questions interface {
	Pending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error)
	// Resolve takes an answer whose Actor and Channel are filled in. The error of
	// a late one is a *umpire.ResolvedError.
	Resolve(ctx context.Context, a umpire.Answer) (umpire.Batch, error)
}

// Sessions are opened and ended.
type Sessions interface {
	Open(ctx context.Context, o umpire.Opening) (umpire.Session, error)
	Continue(ctx context.Context, r umpire.Resumption) (umpire.Session, error)
	Fork(ctx context.Context, session umpire.SessionID, r umpire.Resumption) (umpire.Session, error)
	Session(ctx context.Context, session umpire.SessionID) (umpire.Session, error)
	Latest(ctx context.Context, q umpire.LatestQuery) (umpire.Session, error)
	Sessions(ctx context.Context, q umpire.SessionQuery) ([]umpire.Session, error)
	Conversation(ctx context.Context, q umpire.ConversationQuery) (umpire.Conversation, error)
	SetMode(ctx context.Context, m umpire.ModeChange) (umpire.Session, error)
	End(ctx context.Context, session umpire.SessionID, reason string) error
	Delete(ctx context.Context, session umpire.SessionID) error
}

// Conversations are what a runner keeps in the gate.
type Conversations interface {
	Prompt(ctx context.Context, p umpire.Prompt) (umpire.Prompted, error)
	Compose(ctx context.Context, session umpire.SessionID, epoch int64) (umpire.Conversation, error)
	Reply(ctx context.Context, r umpire.Reply) (umpire.Session, error)
	Renew(ctx context.Context, session umpire.SessionID, epoch int64) (time.Time, error)
}

// Rules are those that hold in the project of a folder.
type Rules interface {
	Rules(ctx context.Context, dir string) ([]umpire.Rule, error)
	AddRule(ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule, by umpire.Actor) (umpire.RuleID, error)
	RemoveRule(ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID, by umpire.Actor) error
	RuleStatus(ctx context.Context, dir string) (umpire.RuleStatus, error)
	Trust(ctx context.Context, c umpire.TrustChange) ([]string, error)
}

// Grants are what is approved beside the rules in the project of a folder.
type Grants interface {
	Grants(ctx context.Context, dir string) ([]umpire.GrantStatus, error)
	Revoke(ctx context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error)
}

// A Timeline has the events. Both ways to read it return an event only once none
// with a smaller Seq can still appear.
type Timeline interface {
	Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error)
	Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error]
}

// A Gate is what is put on the wire. It is safe for concurrent use.
type Gate interface {
	Calls
	Questions
	Sessions
	Conversations
	Rules
	Grants
	Timeline
}

// A Served gate is one that a server stands before. It tells besides what no client asks.
type Served interface {
	Gate
	// Asking returns the sessions of a project in which a question waits, or of every one.
	Asking(ctx context.Context, project umpire.ProjectID) ([]umpire.SessionID, error)
}
