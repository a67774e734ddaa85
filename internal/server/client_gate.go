package server

import (
	"context"
	"time"

	"github.com/umpirehq/umpire"
)

// Check decides a call and stores nothing.
func (c *Client) Check(ctx context.Context, in umpire.Call) (umpire.Decision, error) {
	return call[umpire.Decision](ctx, c, "GateService/Check", in)
}

// Submit decides and stores all calls of one message. A retry with the same ids returns the
// existing batch.
func (c *Client) Submit(ctx context.Context, in umpire.Submission) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c, "GateService/Submit", in)
}

// Batch returns the current state of a batch.
func (c *Client) Batch(ctx context.Context, session umpire.SessionID, batch umpire.BatchID) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c, "GateService/GetBatch", batchRequest{Session: session, Batch: batch})
}

// Await returns a batch once it no longer waits for a person, or its current state when the time is
// up or the gate goes away: the caller checks its state. It is one request, which the gate holds.
func (c *Client) Await(
	ctx context.Context, session umpire.SessionID, batch umpire.BatchID, wait time.Duration,
) (umpire.Batch, error) {
	in := batchRequest{Session: session, Batch: batch, WaitMS: wait.Milliseconds()}
	return call[umpire.Batch](ctx, c, "GateService/GetBatch", in)
}

// Pending lists the questions that wait for a person, the oldest first.
func (c *Client) Pending(ctx context.Context, in umpire.PendingQuery) ([]umpire.Pending, error) {
	type list struct {
		Pending []umpire.Pending `json:"pending"`
		following
	}
	return readPages(in.Limit, listedAtOnce, func(last *umpire.Pending, size int) ([]umpire.Pending, following, error) {
		if in.Limit = size; last != nil {
			in.After = last.Request
		}
		out, err := call[list](ctx, c, "GateService/ListPending", pendingQuery{in, true})
		return out.Pending, out.following, err
	})
}

// Resolve answers a question. The error of a late answer is a *umpire.ResolvedError. The gate
// itself records the author: Actor and Channel do not travel.
func (c *Client) Resolve(ctx context.Context, in umpire.Answer) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c, "GateService/Resolve", in)
}

// Start claims the next call of a batch for running.
func (c *Client) Start(ctx context.Context, in umpire.Start) (umpire.Started, error) {
	return call[umpire.Started](ctx, c, "GateService/Start", in)
}

// Finish stores the result of a started call.
func (c *Client) Finish(ctx context.Context, in umpire.Result) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c, "GateService/Finish", in)
}

// Trials returns the part that tries calls before they run.
func (c *Client) Trials() umpire.Trier { return trials{c} }

// trials are the procedures about trials.
type trials struct{ client *Client }

// Begin begins a trial of a batch's next call.
func (c trials) Begin(ctx context.Context, in umpire.TrialRequest) (umpire.BegunTrial, error) {
	return call[umpire.BegunTrial](ctx, c.client, "GateService/BeginTrial", in)
}

// Report decides on the effects of a trial.
func (c trials) Report(ctx context.Context, in umpire.TrialReport) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c.client, "GateService/ReportTrial", in)
}

// Settle records the outcome of a trial's effects.
func (c trials) Settle(ctx context.Context, in umpire.TrialSettlement) (umpire.Batch, error) {
	return call[umpire.Batch](ctx, c.client, "GateService/SettleTrial", in)
}

// Tickets returns the part that runs command lines by tickets.
func (c *Client) Tickets() umpire.Ticketer { return tickets{c} }

// tickets are the procedures about tickets.
type tickets struct{ client *Client }

// Use consumes a ticket.
func (c tickets) Use(ctx context.Context, in umpire.TicketUse) (umpire.Ticket, error) {
	return call[umpire.Ticket](ctx, c.client, "Tickets/Use", in)
}

// End settles the effects of a ticket.
func (c tickets) End(ctx context.Context, in umpire.TicketEnd) (umpire.TicketEnded, error) {
	return call[umpire.TicketEnded](ctx, c.client, "Tickets/End", in)
}
