package gate

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// keepTickets is how long used tickets are remembered: the command may run for hours.
const keepTickets = 7 * 24 * time.Hour

// tickets manages tickets for command lines.
type tickets struct {
	*backend

	// start starts the call of a ticket, or a trial of it.
	start func(ctx context.Context, s *umpire.Start, ticket string) (umpire.Started, error)
	// decide decides on the effects of a trial.
	decide func(ctx context.Context, r *umpire.TrialReport, late bool) (umpire.Batch, error)
}

// IssueTicket creates a ticket and returns it. The gate keeps only its hash.
func (g *Gate) IssueTicket(ctx context.Context, t umpire.Ticket) (secret string, err error) {
	if t.Session == "" || t.Batch == "" || t.Call == "" || t.Dir == "" || t.Line == "" {
		return "", invalid("ticket", "the session, the batch, the call, the folder and the line are needed")
	}
	secret = hex.EncodeToString(randomBytes(16))
	now := g.be.now()
	row := store.TicketRow{
		Digest: store.DigestOf(secret), Session: t.Session, Batch: t.Batch, Call: t.Call, Action: t.Action,
		LineDigest: store.DigestOf(t.Line), Dir: t.Dir, User: t.User, Host: t.Host, Issued: now,
		Expires: now.Add(umpire.TicketLife),
	}
	if t.Large {
		if g.be.sealer == nil {
			return "", errors.New("seal: no key to keep a command line with")
		}
		if row.Line, err = g.be.sealer.Seal(ticketLabel(row.Digest), []byte(t.Line)); err != nil {
			return "", err
		}
	}
	err = g.be.update(ctx, func(tx *store.Tx) error {
		if err := tx.Tickets.Forget(now.Add(-keepTickets)); err != nil {
			return err
		}
		return tx.Tickets.Insert(&row)
	})
	return secret, err
}

// Use consumes a ticket: from then on its line may have run. The same transaction starts the
// call, or a trial of it. The error for an invalid ticket tells why, and matches [umpire.ErrState].
func (tk *tickets) Use(ctx context.Context, u umpire.TicketUse) (umpire.Ticket, error) {
	row, err := readIn(ctx, tk.view, func(tx *store.Tx) (store.TicketRow, error) {
		return tx.Tickets.Get(store.DigestOf(u.Secret))
	})
	if errors.Is(err, umpire.ErrNotFound) {
		return umpire.Ticket{}, umpire.Errorf("this ticket is unknown: %w", umpire.ErrState)
	}
	if err != nil {
		return umpire.Ticket{}, err
	}
	if err := checkTicket(&row, &u, tk.now()); err != nil {
		return umpire.Ticket{}, umpire.Errorf("%w: %w", err, umpire.ErrState)
	}
	t := umpire.Ticket{
		Session: row.Session, Batch: row.Batch, Call: row.Call, Action: row.Action, Line: u.Line, Dir: row.Dir,
		User: row.User, Host: row.Host, Large: row.Line != nil,
	}
	if t.Large {
		line, err := tk.sealer.Open(ticketLabel(row.Digest), row.Line)
		if err != nil {
			return umpire.Ticket{}, err
		}
		t.Line = string(line)
	}
	if t.Trial, err = tk.takeTicket(ctx, &row, u.Runner); err != nil || t.Trial == "" {
		return t, err
	}
	begun, err := tk.readTrial(ctx, row.Session, row.Batch, t.Trial)
	t.Reach = begun.Reach
	return t, err
}

// takeTicket marks a ticket as used, in the transaction that starts its call or a trial of it.
func (tk *tickets) takeTicket(ctx context.Context, row *store.TicketRow, runner string) (umpire.TrialID, error) {
	started, err := tk.start(ctx, &umpire.Start{
		Session: row.Session, Batch: row.Batch, Call: row.Call, Runner: runner,
	}, row.Digest)
	if isConflict(err) {
		return "", umpire.Errorf("%w: %w", errTicketUsed, umpire.ErrState)
	}
	if err != nil || started.Go {
		return "", err
	}
	if c := started.Batch.Call(row.Call); c != nil && c.TrialState == umpire.TrialRunning {
		return c.Trial, nil
	}
	err = tk.view(ctx, func(tx *store.Tx) error {
		now, err := tx.Tickets.Get(row.Digest)
		if err == nil && now.State != store.TicketIssued {
			err = umpire.Errorf("%w: %w", errTicketUsed, umpire.ErrState) // another call used it just now
		}
		return err
	})
	return "", cmp.Or(err, umpire.Errorf("the call may not start any more: %w", umpire.ErrState))
}

// End settles the effects of a ticket. It is called by the process that ran the line, or by a
// host that has stopped waiting for it.
func (tk *tickets) End(ctx context.Context, e umpire.TicketEnd) (ended umpire.TicketEnded, err error) {
	if e.Report == nil || !e.Report.Late {
		err = tk.update(ctx, func(tx *store.Tx) error { return tx.Tickets.End(store.DigestOf(e.Secret)) })
		ended.First = err == nil
		if err != nil && !isConflict(err) {
			return umpire.TicketEnded{}, err
		}
	}
	if e.Report == nil {
		return ended, nil
	}
	ended.Batch, err = tk.report(ctx, e.Secret, e.Report, !ended.First)
	return ended, err
}

// report decides on the effects of a ticket's line that was tried.
func (tk *tickets) report(
	ctx context.Context, secret string, r *umpire.TicketReport, late bool,
) (b umpire.Batch, err error) {
	var row store.TicketRow
	err = tk.viewForChange(ctx, func(tx *store.Tx) (err error) {
		if row, err = tx.Tickets.Get(store.DigestOf(secret)); err == nil {
			b, err = tx.Batches.GetAround(row.Session, row.Batch, row.Call)
		}
		return err
	})
	if err != nil {
		return umpire.Batch{}, umpire.Errorf("ticket: %w", err)
	}
	c := b.Call(row.Call)
	if c == nil || c.TrialState != umpire.TrialRunning {
		return b, nil // discarded meanwhile, as the batch shows
	}
	return tk.decide(ctx, &umpire.TrialReport{
		Trial: c.Trial, Session: row.Session, Batch: row.Batch, Exit: r.Exit, Output: r.Output, Effects: r.Effects,
	}, late)
}

var errTicketUsed = errors.New("this ticket was used before")

// checkTicket returns an error if a ticket cannot be used like this.
func checkTicket(row *store.TicketRow, u *umpire.TicketUse, now time.Time) error {
	switch {
	case row.State != store.TicketIssued:
		return errTicketUsed
	case !now.Before(row.Expires):
		return umpire.Errorf("this ticket is older than %s", umpire.TicketLife)
	case row.User != u.User:
		return errors.New("this ticket belongs to another user")
	case row.Line == nil && row.LineDigest != store.DigestOf(u.Line):
		return errors.New("this ticket is for another command line")
	case row.Dir != u.Dir:
		return umpire.Errorf("this ticket is for the folder %s", row.Dir)
	case row.Host != "" && !slices.Contains(u.Above, row.Host):
		return errors.New("the agent with this ticket is gone, or did not start this process")
	}
	return nil
}

func ticketLabel(digest string) string { return fmt.Sprintf("ticket:%q", digest) }
