package server

import (
	"context"
	"time"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/api/umpire/v1/umpirev1connect"
)

type sessionRequest struct {
	Session umpire.SessionID `json:"session_id"`
}

type sessionList struct {
	Sessions []umpire.Session `json:"sessions"`
}

type composeRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Epoch   int64            `json:"epoch"`
}

type renewResponse struct {
	LeaseUntil time.Time `json:"lease_until"`
}

type endRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Reason  string           `json:"reason"`
}

// nothing is the answer where there is nothing to say.
type nothing struct{}

func (s *Server) routeSessions() {
	g := s.gate
	add(s, umpirev1connect.SessionServiceOpenProcedure, roleAgent, unary[umpirev1.Opening, umpirev1.Session](maxBody, s.open))
	add(s, umpirev1connect.SessionServiceContinueProcedure, roleAgent, unary[umpirev1.Resumption, umpirev1.Session](maxBody, s.resume))
	add(s, umpirev1connect.SessionServiceForkProcedure, roleAgent, unary[umpirev1.Resumption, umpirev1.Session](maxBody, s.fork))
	add(s, umpirev1connect.SessionServiceGetProcedure, roleAgent, unary[umpirev1.SessionRequest, umpirev1.Session](maxBody, s.session))
	add(s, umpirev1connect.SessionServiceLatestProcedure, roleAgent, unary[umpirev1.LatestRequest, umpirev1.Session](maxBody, s.latest))
	add(s, umpirev1connect.SessionServiceListProcedure, rolePerson, unary[umpirev1.SessionQuery, umpirev1.SessionList](maxBody, s.sessions))
	add(s, umpirev1connect.SessionServiceGetConversationProcedure, rolePerson, unary[umpirev1.ConversationQuery, umpirev1.Conversation](maxBody, g.Conversation))
	add(s, umpirev1connect.SessionServiceSetModeProcedure, rolePerson, unary[umpirev1.ModeChange, umpirev1.Session](maxBody, s.setMode))
	add(s, umpirev1connect.SessionServicePromptProcedure, roleAgent, unary[umpirev1.Prompt, umpirev1.Prompted](maxCallBody, s.prompt))
	add(s, umpirev1connect.SessionServiceComposeProcedure, roleAgent, unary[umpirev1.ComposeRequest, umpirev1.Conversation](maxBody, s.compose))
	add(s, umpirev1connect.SessionServiceReplyProcedure, roleAgent, unary[umpirev1.Reply, umpirev1.Session](maxCallBody, s.reply))
	add(s, umpirev1connect.SessionServiceRenewProcedure, roleAgent, unary[umpirev1.RenewRequest, umpirev1.RenewResponse](maxBody, s.renew))
	add(s, umpirev1connect.SessionServiceEndProcedure, roleAgent, unary[umpirev1.EndRequest, umpirev1.EndResponse](maxBody, s.end))
	add(s, umpirev1connect.SessionServiceDeleteProcedure, rolePerson, unary[umpirev1.SessionRequest, umpirev1.DeleteResponse](maxBody, s.remove))
}

// needPerson refuses what loosens a session to an agent: an agent does not open
// its own way out.
func needPerson(ctx context.Context, field string, wanted bool) error {
	if wanted && exchangeOf(ctx).role < rolePerson {
		return forbidden(field + " takes the credential of a person")
	}
	return nil
}

func (s *Server) open(ctx context.Context, o umpire.Opening) (umpire.Session, error) {
	if err := needPerson(ctx, "allow_bypass", o.AllowBypass); err != nil {
		return umpire.Session{}, err
	}
	if err := needPerson(ctx, "allowed_tools", len(o.AllowedTools) > 0); err != nil {
		return umpire.Session{}, err
	}
	if err := asItself(ctx, o.Runner); err != nil {
		return umpire.Session{}, err
	}
	if err := s.mine(ctx, o.Parent); err != nil {
		return umpire.Session{}, err
	}
	if err := s.takeable(ctx, o.ID); err != nil {
		return umpire.Session{}, err
	}
	o.Limited = exchangeOf(ctx).role < rolePerson
	return s.gate.Open(ctx, o)
}

// mayResume refuses an agent what takes a person, and another agent's session.
func (s *Server) mayResume(ctx context.Context, r *umpire.Resumption) error {
	if err := needPerson(ctx, "allow_bypass", r.AllowBypass); err != nil {
		return err
	}
	if err := needPerson(ctx, "allow_cross_project", r.AllowCrossProject); err != nil {
		return err
	}
	if err := asItself(ctx, r.Runner); err != nil {
		return err
	}
	r.Limited = exchangeOf(ctx).role < rolePerson
	return s.takeable(ctx, r.ID)
}

func (s *Server) resume(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	if err := s.mayResume(ctx, &r); err != nil {
		return umpire.Session{}, err
	}
	return s.gate.Continue(ctx, r)
}

func (s *Server) fork(ctx context.Context, r umpire.Resumption) (umpire.Session, error) {
	if err := s.mayResume(ctx, &r); err != nil {
		return umpire.Session{}, err
	}
	return s.gate.Fork(ctx, r.ID, r)
}

func (s *Server) session(ctx context.Context, r sessionRequest) (umpire.Session, error) {
	if err := s.takeable(ctx, r.Session); err != nil {
		return umpire.Session{}, err
	}
	return s.gate.Session(ctx, r.Session)
}

func (s *Server) latest(ctx context.Context, q umpire.LatestQuery) (umpire.Session, error) {
	latest, err := s.gate.Latest(ctx, q)
	if err != nil {
		return umpire.Session{}, err
	}
	return latest, s.takeable(ctx, latest.ID)
}

func (s *Server) prompt(ctx context.Context, p umpire.Prompt) (umpire.Prompted, error) {
	if err := s.mine(ctx, p.Session); err != nil {
		return umpire.Prompted{}, err
	}
	return s.gate.Prompt(ctx, p)
}

func (s *Server) reply(ctx context.Context, r umpire.Reply) (umpire.Session, error) {
	if err := s.mine(ctx, r.Session); err != nil {
		return umpire.Session{}, err
	}
	return s.gate.Reply(ctx, r)
}

func (s *Server) sessions(ctx context.Context, q umpire.SessionQuery) (sessionList, error) {
	list, err := s.gate.Sessions(ctx, q)
	return sessionList{Sessions: orEmpty(list)}, err
}

func (s *Server) setMode(ctx context.Context, m umpire.ModeChange) (umpire.Session, error) {
	return s.signed(ctx).SetMode(ctx, m)
}

func (s *Server) compose(ctx context.Context, r composeRequest) (umpire.Conversation, error) {
	if err := s.mine(ctx, r.Session); err != nil {
		return umpire.Conversation{}, err
	}
	return s.gate.Compose(ctx, r.Session, r.Epoch)
}

func (s *Server) renew(ctx context.Context, r composeRequest) (renewResponse, error) {
	if err := s.mine(ctx, r.Session); err != nil {
		return renewResponse{}, err
	}
	until, err := s.gate.Renew(ctx, r.Session, r.Epoch)
	return renewResponse{LeaseUntil: until}, err
}

func (s *Server) end(ctx context.Context, r endRequest) (nothing, error) {
	if err := s.mine(ctx, r.Session); err != nil {
		return nothing{}, err
	}
	return nothing{}, s.gate.End(ctx, r.Session, r.Reason)
}

func (s *Server) remove(ctx context.Context, r sessionRequest) (nothing, error) {
	return nothing{}, s.gate.Delete(ctx, r.Session)
}
