package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
)

type batchRequest struct {
	Session umpire.SessionID `json:"session_id"`
	Batch   umpire.BatchID   `json:"batch_id"`
	WaitMS  int64            `json:"wait_ms,omitempty"`
}

type pendingList struct {
	Pending []umpire.Pending `json:"pending"`
	More    bool             `json:"more"`
}

type pendingQuery struct {
	umpire.PendingQuery

	// Paged says that the client reads More, so the gate may end a page early.
	Paged bool `json:"paged"`
}

// shape moves the extra fields of the JSON objects into one field, because a message has
// no room for unknown fields.
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
	return map[string]any{"pending": list, "more": l.More}, nil
}

// A callService handles the procedures about calls, their batches and their questions.
type callService struct {
	gate   Backend
	owner  ownership
	broker *broker
	turns  turns
}

func (c *callService) addRoutes(r routes) {
	own := c.owner.checkOwn
	r.addProcedure(umpirev1.GateServiceCheckProcedure, roleAgent,
		unary(maxCallBody, c.gate.Check, &umpirev1.Call{}, &umpirev1.Decision{},
			// The answer reveals facts about the session.
			func(ctx context.Context, in *umpire.Call) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.GateServiceSubmitProcedure, roleAgent,
		unary(maxCallBody, c.gate.Submit, &umpirev1.Submission{}, &umpirev1.Batch{},
			func(ctx context.Context, in *umpire.Submission) error { return mayLoosen(ctx, in.Sandbox) },
			func(ctx context.Context, in *umpire.Submission) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.GateServiceGetBatchProcedure, roleAgent,
		unary(maxBody, c.GetBatch, &umpirev1.GetBatchRequest{}, &umpirev1.Batch{}))
	r.addProcedure(umpirev1.GateServiceListPendingProcedure, roleAgent,
		unary(maxBody, c.ListPending, &umpirev1.PendingQuery{}, &umpirev1.PendingList{}))
	r.addProcedure(umpirev1.GateServiceResolveProcedure, rolePerson,
		unary(maxBody, c.Resolve, &umpirev1.Answer{}, &umpirev1.Batch{}))
	r.addProcedure(umpirev1.GateServiceStartProcedure, roleAgent,
		unary(maxBody, c.gate.Start, &umpirev1.Start{}, &umpirev1.Started{},
			func(ctx context.Context, in *umpire.Start) error { return mayLoosen(ctx, in.Sandbox) },
			func(ctx context.Context, in *umpire.Start) error { return asItself(ctx, in.Runner) },
			func(ctx context.Context, in *umpire.Start) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.GateServiceFinishProcedure, roleAgent,
		unary(maxCallBody, c.gate.Finish, &umpirev1.Result{}, &umpirev1.Batch{},
			func(ctx context.Context, in *umpire.Result) error { return own(ctx, in.Session) }))
	// A trial belongs to its runner, like the start of a call.
	r.addProcedure(umpirev1.GateServiceBeginTrialProcedure, roleAgent,
		unary(maxBody, c.gate.Trials().Begin, &umpirev1.TrialRequest{}, &umpirev1.BegunTrial{},
			func(ctx context.Context, in *umpire.TrialRequest) error { return mayLoosen(ctx, in.Sandbox) },
			func(ctx context.Context, in *umpire.TrialRequest) error { return asItself(ctx, in.Runner) },
			func(ctx context.Context, in *umpire.TrialRequest) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.GateServiceReportTrialProcedure, roleAgent,
		unary(maxCallBody, c.gate.Trials().Report, &umpirev1.TrialReport{}, &umpirev1.Batch{},
			func(ctx context.Context, in *umpire.TrialReport) error { return mayLoosen(ctx, in.Sandbox) },
			func(ctx context.Context, in *umpire.TrialReport) error { return own(ctx, in.Session) }))
	r.addProcedure(umpirev1.GateServiceSettleTrialProcedure, roleAgent,
		unary(maxBody, c.SettleTrial, &umpirev1.TrialSettlement{}, &umpirev1.Batch{},
			func(ctx context.Context, in *umpire.TrialSettlement) error { return mayLoosen(ctx, in.Sandbox) },
			func(ctx context.Context, in *umpire.TrialSettlement) error {
				return needPerson(ctx, "record", in.Record != nil)
			},
			func(ctx context.Context, in *umpire.TrialSettlement) error { return own(ctx, in.Session) }))
}

// SettleTrial signs a trial that a person settled outside any session.
func (c *callService) SettleTrial(ctx context.Context, s umpire.TrialSettlement) (umpire.Batch, error) {
	return signGate(ctx, c.gate).Trials().Settle(ctx, s)
}

func mayLoosen(ctx context.Context, c *umpire.Confinement) error {
	return needPerson(ctx, "sandbox.loosen", c != nil && c.Loosen)
}

// ListPending lists questions. Empty lists are encoded as lists, too.
func (c *callService) ListPending(ctx context.Context, q pendingQuery) (pendingList, error) {
	limit, err := pageLimit(q.Limit, maxListed)
	if err != nil {
		return pendingList{}, err
	}
	if err := c.owner.checkOwn(ctx, q.Session); err != nil {
		return pendingList{}, err
	}
	if exchangeOf(ctx).role < rolePerson {
		q.Coverage = "" // it also covers the calls of other agents
	}
	ask := c.gate.Pending
	if q.Session == "" && exchangeOf(ctx).role < rolePerson {
		ask = c.listOwnPending
	}
	read := func(last *umpire.Pending, n int) ([]umpire.Pending, error) {
		if q.Limit = n; last != nil {
			q.After = last.Request
		}
		return ask(ctx, q.PendingQuery)
	}
	list, more, err := readPage(ctx, c.turns, limit, q.Paged, read)
	for i := range list {
		list[i].Accesses = orEmpty(list[i].Accesses)
		list[i].Suggestions = orEmpty(list[i].Suggestions)
	}
	return pendingList{list, more}, err
}

// listOwnPending lists the questions of an agent's own sessions, oldest first. It never
// reads those of others, because there may be thousands.
func (c *callService) listOwnPending(ctx context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	asking, err := c.gate.Asking(ctx, q.Project)
	if err != nil {
		return nil, err
	}
	var list []umpire.Pending
	for _, id := range asking {
		err := c.owner.checkOwn(ctx, id)
		if _, refused := errors.AsType[*failure](err); refused {
			continue
		}
		if err != nil {
			return nil, err
		}
		of := q
		of.Session = id
		own, err := c.gate.Pending(ctx, of)
		if err != nil {
			return nil, err
		}
		// The sessions are sorted by id, like the gate sorts questions of the same time.
		list = append(list, own...)
		slices.SortStableFunc(list, func(a, b umpire.Pending) int { return a.AskedAt.Compare(b.AskedAt) })
		list = slices.Clone(list[:min(len(list), q.Limit)]) // frees the rest
	}
	return list, nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (c *callService) Resolve(ctx context.Context, a umpire.Answer) (umpire.Batch, error) {
	return signGate(ctx, c.gate).Resolve(ctx, a)
}

// signGate returns a gate that signs as the client.
func signGate(ctx context.Context, g umpire.Gate) *signedGate {
	x := exchangeOf(ctx)
	return &signedGate{Gate: g, by: func() umpire.Actor { return x.peer.actor(x.claim) }, channel: x.peer.channel}
}

// GetBatch returns a batch. While the batch waits for a person, it holds the request for
// up to wait_ms.
func (c *callService) GetBatch(ctx context.Context, r batchRequest) (umpire.Batch, error) {
	if r.WaitMS < 0 {
		return umpire.Batch{}, invalid("wait_ms: want 0 or more, got %d", r.WaitMS)
	}
	if err := c.owner.checkFree(ctx, r.Session); err != nil {
		return umpire.Batch{}, err
	}
	b, err := c.gate.Batch(ctx, r.Session, r.Batch)
	if r.WaitMS == 0 || err != nil || b.State != umpire.BatchWaiting {
		return b, err
	}
	return c.awaitBatch(ctx, r.Session, r.Batch, time.Duration(r.WaitMS)*time.Millisecond)
}

// awaitBatch waits for a batch, and counts as a watcher meanwhile. When the server
// drains, it returns the current batch.
func (c *callService) awaitBatch(
	ctx context.Context, session umpire.SessionID, batch umpire.BatchID, wait time.Duration,
) (umpire.Batch, error) {
	leave, err := c.broker.enter(exchangeOf(ctx).role)
	if err != nil {
		return umpire.Batch{}, err
	}
	defer leave()
	held, cancel := c.broker.untilDraining(ctx)
	defer cancel()
	b, err := c.gate.Await(held, session, batch, wait)
	if err != nil && ctx.Err() == nil && c.broker.isDraining() {
		return c.gate.Batch(ctx, session, batch)
	}
	return b, err
}
