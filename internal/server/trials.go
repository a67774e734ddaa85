package server

import (
	"context"

	"github.com/umpirehq/umpire"
)

// A trial belongs to its runner, like the start of a call.

func (c *callService) BeginTrial(ctx context.Context, r umpire.TrialRequest) (umpire.BegunTrial, error) {
	if err := mayLoosen(ctx, r.Sandbox); err != nil {
		return umpire.BegunTrial{}, err
	}
	if err := asItself(ctx, r.Runner); err != nil {
		return umpire.BegunTrial{}, err
	}
	if err := c.owner.checkOwn(ctx, r.Session); err != nil {
		return umpire.BegunTrial{}, err
	}
	return c.gate.Trials().Begin(ctx, r)
}

func (c *callService) ReportTrial(ctx context.Context, r umpire.TrialReport) (umpire.Batch, error) {
	if err := mayLoosen(ctx, r.Sandbox); err != nil {
		return umpire.Batch{}, err
	}
	if err := c.owner.checkOwn(ctx, r.Session); err != nil {
		return umpire.Batch{}, err
	}
	return c.gate.Trials().Report(ctx, r)
}

func (c *callService) SettleTrial(ctx context.Context, s umpire.TrialSettlement) (umpire.Batch, error) {
	if err := mayLoosen(ctx, s.Sandbox); err != nil {
		return umpire.Batch{}, err
	}
	if err := needPerson(ctx, "record", s.Record != nil); err != nil {
		return umpire.Batch{}, err
	}
	if err := c.owner.checkOwn(ctx, s.Session); err != nil {
		return umpire.Batch{}, err
	}
	return signGate(ctx, c.gate).Trials().Settle(ctx, s)
}
