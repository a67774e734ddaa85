package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/api/umpire/v1/umpirev1connect"
)

type batchRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Batch   umpire.BatchID   `json:"batch_id"`
	WaitMS  int64            `json:"wait_ms"`
}

type pendingList struct {
	Pending []umpire.Pending `json:"pending"`
}

// shape puts the extra fields, which stand beside the others in JSON, into one of
// their own: a message has no room for fields that nobody knows.
func (l pendingList) shape() (any, error) {
	list := make([]json.RawMessage, len(l.Pending))
	for i, p := range l.Pending {
		extra := p.Extra
		p.Extra = nil
		fixed, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		list[i] = fixed
		if len(extra) == 0 {
			continue
		}
		more, err := json.Marshal(extra)
		if err != nil {
			return nil, err
		}
		list[i] = append(append(append(fixed[:len(fixed)-1], `,"extra":`...), more...), '}')
	}
	return map[string]any{"pending": list}, nil
}

func (s *Server) routeCalls() {
	add(s, umpirev1connect.GateServiceCheckProcedure, roleAgent, unary[umpirev1.Call, umpirev1.Decision](maxCallBody, s.check))
	add(s, umpirev1connect.GateServiceSubmitProcedure, roleAgent, unary[umpirev1.Submission, umpirev1.Batch](maxCallBody, s.submit))
	add(s, umpirev1connect.GateServiceGetBatchProcedure, roleAgent, unary[umpirev1.GetBatchRequest, umpirev1.Batch](maxBody, s.batch))
	add(s, umpirev1connect.GateServiceListPendingProcedure, roleAgent, unary[umpirev1.PendingQuery, umpirev1.PendingList](maxBody, s.pending))
	add(s, umpirev1connect.GateServiceResolveProcedure, rolePerson, unary[umpirev1.Answer, umpirev1.Batch](maxBody, s.resolve))
	add(s, umpirev1connect.GateServiceStartProcedure, roleAgent, unary[umpirev1.Start, umpirev1.Started](maxBody, s.start))
	add(s, umpirev1connect.GateServiceFinishProcedure, roleAgent, unary[umpirev1.Result, umpirev1.Batch](maxCallBody, s.finish))
}

// check decides a call. One that names a session is decided as that session's, so that the
// answer tells of it.
func (s *Server) check(ctx context.Context, call umpire.Call) (umpire.Decision, error) {
	if err := s.mine(ctx, call.Session); err != nil {
		return umpire.Decision{}, err
	}
	return s.gate.Check(ctx, call)
}

func (s *Server) submit(ctx context.Context, sub umpire.Submission) (umpire.Batch, error) {
	if err := mayLoosen(ctx, sub.Sandbox); err != nil {
		return umpire.Batch{}, err
	}
	if err := s.mine(ctx, sub.Session); err != nil {
		return umpire.Batch{}, err
	}
	return s.gate.Submit(ctx, sub)
}

func (s *Server) start(ctx context.Context, start umpire.Start) (umpire.Started, error) {
	if err := mayLoosen(ctx, start.Sandbox); err != nil {
		return umpire.Started{}, err
	}
	if err := asItself(ctx, start.Runner); err != nil {
		return umpire.Started{}, err
	}
	if err := s.mine(ctx, start.Session); err != nil {
		return umpire.Started{}, err
	}
	return s.gate.Start(ctx, start)
}

func (s *Server) finish(ctx context.Context, r umpire.Result) (umpire.Batch, error) {
	if err := s.mine(ctx, r.Session); err != nil {
		return umpire.Batch{}, err
	}
	return s.gate.Finish(ctx, r)
}

func mayLoosen(ctx context.Context, c *umpire.Confinement) error {
	return needPerson(ctx, "sandbox.loosen", c != nil && c.Loosen)
}

// pending lists questions. Lists without members are lists on the wire, too.
func (s *Server) pending(ctx context.Context, q umpire.PendingQuery) (pendingList, error) {
	if err := s.mine(ctx, q.Session); err != nil {
		return pendingList{}, err
	}
	ask := s.gate.Pending
	if q.Session == "" && exchangeOf(ctx).role < rolePerson {
		ask = s.ownPending
	}
	list, err := ask(ctx, q)
	for i := range list {
		list[i].Accesses = orEmpty(list[i].Accesses)
		list[i].Suggestions = orEmpty(list[i].Suggestions)
	}
	return pendingList{Pending: orEmpty(list)}, err
}

// ownPending lists the questions of an agent's own sessions, the oldest first. Those of
// others are never read: there may be thousands.
func (s *Server) ownPending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	asking, err := s.gate.Asking(ctx, q.Project)
	if err != nil {
		return nil, err
	}
	var list []umpire.Pending
	for _, id := range asking {
		err := s.mine(ctx, id)
		if _, refused := errors.AsType[*failure](err); refused {
			continue
		}
		if err != nil {
			return nil, err
		}
		own, err := s.gate.Pending(ctx, umpire.PendingQuery{Project: q.Project, Session: id})
		if err != nil {
			return nil, err
		}
		list = append(list, own...)
	}
	slices.SortStableFunc(list, func(a, b umpire.Pending) int { return a.AskedAt.Compare(b.AskedAt) })
	return list, nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *Server) resolve(ctx context.Context, a umpire.Answer) (umpire.Batch, error) {
	return s.signed(ctx).Resolve(ctx, a)
}

// signed is the gate for who is at the other end.
func (s *Server) signed(ctx context.Context) *signedGate {
	x := exchangeOf(ctx)
	return &signedGate{Gate: s.gate, by: func() umpire.Actor { return x.peer.actor(x.claim) }, channel: x.peer.channel}
}

// batch returns a batch, and holds it while it waits for a person as long as the
// request allows.
func (s *Server) batch(ctx context.Context, r batchRequest) (umpire.Batch, error) {
	if r.WaitMS < 0 {
		return umpire.Batch{}, invalid("wait_ms: want 0 or more, got %d", r.WaitMS)
	}
	if err := s.takeable(ctx, r.Session); err != nil {
		return umpire.Batch{}, err
	}
	b, err := s.gate.Batch(ctx, r.Session, r.Batch)
	if r.WaitMS == 0 || err != nil || b.State != umpire.BatchWaiting {
		return b, err
	}
	return s.await(ctx, r.Session, r.Batch, time.Duration(r.WaitMS)*time.Millisecond)
}

// await waits for a batch, and counts as a watcher meanwhile. When the server drains, it
// returns the batch as it stands.
func (s *Server) await(ctx context.Context, session umpire.SessionID, batch umpire.BatchID, wait time.Duration) (umpire.Batch, error) {
	leave, err := s.broker.enter(exchangeOf(ctx).role)
	if err != nil {
		return umpire.Batch{}, err
	}
	defer leave()
	held, cancel := s.broker.untilDraining(ctx)
	defer cancel()
	b, err := s.gate.Await(held, session, batch, wait)
	if err != nil && ctx.Err() == nil && s.broker.isDraining() {
		return s.gate.Batch(ctx, session, batch)
	}
	return b, err
}
