package server

import (
	"cmp"
	"context"
	"iter"
	"sync"

	"github.com/umpirehq/umpire"
)

// Local returns a gate for this process itself, with the name of a client for the record.
// It needs no credential: a process that can open the store has full access anyway.
func Local(g umpire.Gate, client string) umpire.Gate { return LocalAs(g, client, "") }

// LocalAs is Local for a client that several people use and that knows the person's name; "" means
// this process's user. The record has this name instead of the user's, and keeps the user's id.
// Requests of other processes do not get here, so the API cannot set a name.
func LocalAs(g umpire.Gate, client, person string) umpire.Gate {
	by := sync.OnceValue(func() umpire.Actor {
		a := localPeer().actor(client)
		a.Name = cmp.Or(person, a.Name)
		return a
	})
	return &signedGate{Gate: g, by: by, channel: channelLocal}
}

// A signedGate records the author of answers and changes, regardless of the request. It
// refuses requests with invalid ids, and watching a session that does not exist.
type signedGate struct {
	umpire.Gate

	by      func() umpire.Actor
	channel string
}

func (g *signedGate) Resolve(ctx context.Context, a umpire.Answer) (umpire.Batch, error) {
	a.By, a.Channel = g.by(), g.channel
	a.Actor = a.By.Name
	return checked(ctx, a, g.Gate.Resolve)
}

func (g *signedGate) Trials() umpire.Trier { return signedTrials{g.Gate.Trials(), g.by} }

// signedTrials record the author of what a person settled outside any session.
type signedTrials struct {
	umpire.Trier

	by func() umpire.Actor
}

func (t signedTrials) Settle(ctx context.Context, s umpire.TrialSettlement) (umpire.Batch, error) {
	if s.Record != nil {
		record := *s.Record
		record.By = t.by()
		s.Record = &record
	}
	return checked(ctx, s, t.Trier.Settle)
}

func (g *signedGate) Rules() umpire.RuleKeeper { return signedRules{g.Gate.Rules(), g.by} }

// signedRules record the author of changes of rules.
type signedRules struct {
	umpire.RuleKeeper

	by func() umpire.Actor
}

func (s signedRules) Add(
	ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule, _ umpire.Actor,
) (umpire.RuleID, error) {
	return s.RuleKeeper.Add(ctx, dir, scope, r, s.by())
}

func (s signedRules) Remove(
	ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID, _ umpire.Actor,
) error {
	return s.RuleKeeper.Remove(ctx, dir, scope, id, s.by())
}

func (s signedRules) Trust(ctx context.Context, t umpire.TrustChange) ([]string, error) {
	t.By = s.by()
	return checked(ctx, t, s.RuleKeeper.Trust)
}

func (g *signedGate) Grants() umpire.GrantKeeper { return signedGrants{g.Gate.Grants(), g.by} }

// signedGrants record the author of approvals of tasks and of revocations.
type signedGrants struct {
	umpire.GrantKeeper

	by func() umpire.Actor
}

func (s signedGrants) ApproveTask(ctx context.Context, a umpire.TaskApproval) ([]umpire.GrantStatus, error) {
	a.By = s.by()
	return checked(ctx, a, s.GrantKeeper.ApproveTask)
}

func (s signedGrants) Revoke(ctx context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error) {
	r.By = s.by()
	return checked(ctx, r, s.GrantKeeper.Revoke)
}

func (s signedGrants) RecordLease(ctx context.Context, l umpire.SecretLease) error {
	l.By = s.by()
	return s.GrantKeeper.RecordLease(ctx, l)
}

func (s signedGrants) RecordUse(ctx context.Context, u umpire.SecretUses) error {
	u.By = s.by()
	return s.GrantKeeper.RecordUse(ctx, u)
}

func (g *signedGate) Sessions() umpire.SessionKeeper { return signedSessions{g.Gate.Sessions(), g.by} }

// signedSessions record the author of changes of modes, and refuse invalid ids.
type signedSessions struct {
	umpire.SessionKeeper

	by func() umpire.Actor
}

func (s signedSessions) SetMode(ctx context.Context, m umpire.ModeChange) (umpire.Session, error) {
	m.By = s.by()
	return checked(ctx, m, s.SessionKeeper.SetMode)
}

func (s signedSessions) Get(ctx context.Context, id umpire.SessionID) (umpire.Session, error) {
	if err := umpire.CheckID("session_id", id); err != nil {
		return umpire.Session{}, err
	}
	return s.SessionKeeper.Get(ctx, id)
}

func (s signedSessions) Fork(ctx context.Context, id umpire.SessionID, r umpire.Resumption) (umpire.Session, error) {
	r.ID = id
	fork := func(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
		return s.SessionKeeper.Fork(ctx, id, r)
	}
	return checked(ctx, r, fork)
}

func (s signedSessions) Continue(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	return checked(ctx, r, s.SessionKeeper.Continue)
}

func (g *signedGate) Conversations() umpire.ConversationKeeper {
	return checkedConversations{g.Gate.Conversations()}
}

// checkedConversations refuse to read a conversation of an invalid id.
type checkedConversations struct{ umpire.ConversationKeeper }

func (c checkedConversations) Read(ctx context.Context, q umpire.ConversationQuery) (umpire.Conversation, error) {
	return checked(ctx, q, c.ConversationKeeper.Read)
}

func (g *signedGate) Events(ctx context.Context, f umpire.Filter) ([]umpire.Event, error) {
	if err := g.checkFilter(ctx, f); err != nil {
		return nil, err
	}
	return g.Gate.Events(ctx, f)
}

func (g *signedGate) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	if err := g.checkFilter(ctx, f); err != nil {
		return func(yield func(umpire.Event, error) bool) { yield(umpire.Event{}, err) }
	}
	return g.Gate.Watch(ctx, f)
}

func (g *signedGate) checkFilter(ctx context.Context, f umpire.Filter) error {
	if err := checkIDs(f); err != nil {
		return err
	}
	return checkFilter(ctx, g.Gate, f)
}

// checked passes a request on if its ids are valid.
func checked[In, Out any](ctx context.Context, in In, do func(context.Context, In) (Out, error)) (out Out, err error) {
	if err := checkIDs(in); err != nil {
		return out, err
	}
	return do(ctx, in)
}
