package server

import (
	"context"
	"time"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
)

type sessionRequest struct {
	Session umpire.SessionID `json:"session_id"`
}

type sessionList struct {
	Sessions []umpire.Session `json:"sessions"`
	More     bool             `json:"more"`
}

type sessionQuery struct {
	umpire.SessionQuery

	Paged bool `json:"paged"`
}

type composeRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Epoch   int64            `json:"epoch,omitempty"`
}

type renewResponse struct {
	LeaseUntil time.Time `json:"lease_until"`
}

type endRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Reason  string           `json:"reason,omitempty"`
}

// nothing is an empty response.
type nothing struct{}

// A sessionService handles the procedures about sessions and their conversations.
type sessionService struct {
	gate  umpire.Gate
	owner ownership
	turns turns
}

func (c *sessionService) addRoutes(r routes) {
	sessions, conversations, own := c.gate.Sessions(), c.gate.Conversations(), c.owner.checkOwn
	r.addProcedure(umpirev1.SessionServiceOpenProcedure, roleAgent,
		unary(maxBody, sessions.Open, &umpirev1.Opening{}, &umpirev1.Session{}, c.checkOpening))
	r.addProcedure(umpirev1.SessionServiceContinueProcedure, roleAgent,
		unary(maxBody, sessions.Continue, &umpirev1.Resumption{}, &umpirev1.Session{}, c.checkResumption))
	r.addProcedure(umpirev1.SessionServiceForkProcedure, roleAgent,
		unary(maxBody, c.Fork, &umpirev1.Resumption{}, &umpirev1.Session{}, c.checkResumption))
	r.addProcedure(umpirev1.SessionServiceGetProcedure, roleAgent,
		unary(maxBody, c.Get, &umpirev1.SessionRequest{}, &umpirev1.Session{},
			func(ctx context.Context, in *sessionRequest) error { return c.owner.checkFree(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceLatestProcedure, roleAgent,
		unary(maxBody, c.Latest, &umpirev1.LatestRequest{}, &umpirev1.Session{}))
	r.addProcedure(umpirev1.SessionServiceListProcedure, rolePerson,
		unary(maxBody, c.List, &umpirev1.SessionQuery{}, &umpirev1.SessionList{}))
	r.addProcedure(umpirev1.SessionServiceGetConversationProcedure, rolePerson,
		unary(maxBody, conversations.Read, &umpirev1.ConversationQuery{}, &umpirev1.Conversation{}))
	r.addProcedure(umpirev1.SessionServiceSetModeProcedure, rolePerson,
		unary(maxBody, c.SetMode, &umpirev1.ModeChange{}, &umpirev1.Session{}))
	r.addProcedure(umpirev1.SessionServicePromptProcedure, roleAgent,
		unary(maxCallBody, conversations.Prompt, &umpirev1.Prompt{}, &umpirev1.Prompted{},
			func(ctx context.Context, in *umpire.Prompt) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceComposeProcedure, roleAgent,
		unary(maxBody, c.Compose, &umpirev1.ComposeRequest{}, &umpirev1.Conversation{},
			func(ctx context.Context, in *composeRequest) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceReplyProcedure, roleAgent,
		unary(maxCallBody, conversations.Reply, &umpirev1.Reply{}, &umpirev1.Session{},
			func(ctx context.Context, in *umpire.Reply) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceRenewProcedure, roleAgent,
		unary(maxBody, c.Renew, &umpirev1.RenewRequest{}, &umpirev1.RenewResponse{},
			func(ctx context.Context, in *composeRequest) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceEndProcedure, roleAgent,
		unary(maxBody, c.End, &umpirev1.EndRequest{}, &umpirev1.EndResponse{},
			func(ctx context.Context, in *endRequest) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.SessionServiceDeleteProcedure, rolePerson,
		unary(maxBody, c.Delete, &umpirev1.SessionRequest{}, &umpirev1.DeleteResponse{}))
}

// needPerson refuses an agent's request to loosen a session, because agents must not lift
// their own restrictions.
func needPerson(ctx context.Context, field string, wanted bool) error {
	if wanted && exchangeOf(ctx).role < rolePerson {
		return forbidden(field + " takes the credential of a person")
	}
	return nil
}

// checkOpening refuses agents a person's options, and another agent's session.
func (c *sessionService) checkOpening(ctx context.Context, o *umpire.Opening) error {
	if err := needPerson(ctx, "allow_bypass", o.AllowBypass); err != nil {
		return err
	}
	if err := needPerson(ctx, "allowed_tools", len(o.AllowedTools) > 0); err != nil {
		return err
	}
	if err := asRunner(ctx, o.Runner); err != nil {
		return err
	}
	if err := c.owner.checkOwn(ctx, o.Parent); err != nil {
		return err
	}
	o.Limited = exchangeOf(ctx).role < rolePerson
	return c.owner.checkFree(ctx, o.ID)
}

// checkResumption is checkOpening for an existing session.
func (c *sessionService) checkResumption(ctx context.Context, r *umpire.Resumption) error {
	if err := needPerson(ctx, "allow_bypass", r.AllowBypass); err != nil {
		return err
	}
	if err := needPerson(ctx, "allow_cross_project", r.AllowCrossProject); err != nil {
		return err
	}
	if err := asRunner(ctx, r.Runner); err != nil {
		return err
	}
	r.Limited = exchangeOf(ctx).role < rolePerson
	return c.owner.checkFree(ctx, r.ID)
}

func (c *sessionService) Fork(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	return c.gate.Sessions().Fork(ctx, r.ID, r)
}

func (c *sessionService) Get(ctx context.Context, r sessionRequest) (umpire.Session, error) {
	return c.gate.Sessions().Get(ctx, r.Session)
}

func (c *sessionService) Latest(ctx context.Context, q umpire.LatestQuery) (umpire.Session, error) {
	latest, err := c.gate.Sessions().Latest(ctx, q)
	if err != nil {
		return umpire.Session{}, err
	}
	return latest, c.owner.checkFree(ctx, latest.ID)
}

func (c *sessionService) List(ctx context.Context, q sessionQuery) (sessionList, error) {
	limit, err := pageLimit(q.Limit, maxListed)
	if err != nil {
		return sessionList{}, err
	}
	read := func(last *umpire.Session, n int) ([]umpire.Session, error) {
		if q.Limit = n; last != nil {
			q.After, q.AfterActiveAt = last.ID, last.ActiveAt
		}
		return c.gate.Sessions().List(ctx, q.SessionQuery)
	}
	list, more, err := readPage(ctx, c.turns, limit, q.Paged, read)
	return sessionList{list, more}, err
}

func (c *sessionService) SetMode(ctx context.Context, m umpire.ModeChange) (umpire.Session, error) {
	return signGate(ctx, c.gate).Sessions().SetMode(ctx, m)
}

func (c *sessionService) Compose(ctx context.Context, r composeRequest) (umpire.Conversation, error) {
	return c.gate.Conversations().Compose(ctx, r.Session, r.Epoch)
}

func (c *sessionService) Renew(ctx context.Context, r composeRequest) (renewResponse, error) {
	until, err := c.gate.Sessions().Renew(ctx, r.Session, r.Epoch)
	return renewResponse{LeaseUntil: until}, err
}

func (c *sessionService) End(ctx context.Context, r endRequest) (nothing, error) {
	return nothing{}, c.gate.Sessions().End(ctx, r.Session, r.Reason)
}

func (c *sessionService) Delete(ctx context.Context, r sessionRequest) (nothing, error) {
	return nothing{}, c.gate.Sessions().Delete(ctx, r.Session)
}
