package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// keepTickets is how long it is remembered that a ticket was used: the command may run for
// hours.
const keepTickets = 7 * 24 * time.Hour

// IssueTicket makes a ticket and returns it. The gate keeps its hash alone.
func (g *Gate) IssueTicket(ctx context.Context, t umpire.Ticket) (secret string, err error) {
	if t.Session == "" || t.Call == "" || t.Dir == "" || t.Line == "" {
		return "", invalid("ticket", "the session, the call, the folder and the line are needed")
	}
	secret = hex.EncodeToString(randomBytes(16))
	now := g.now()
	row := store.TicketRow{
		Digest: digestOf(secret), Session: t.Session, Batch: t.Batch, Call: t.Call, Action: t.Action,
		LineDigest: digestOf(t.Line), Dir: t.Dir, User: t.User, Host: t.Host, Issued: now,
		Expires: now.Add(umpire.TicketLife),
	}
	if t.Large {
		if g.sealer == nil {
			return "", errors.New("seal: no key to keep a command line with")
		}
		if row.Line, err = g.sealer.Seal(ticketLabel(row.Digest), []byte(t.Line)); err != nil {
			return "", err
		}
	}
	err = g.update(ctx, func(tx *store.Tx) error {
		if err := tx.Tickets.Forget(now.Add(-keepTickets)); err != nil {
			return err
		}
		return tx.Tickets.Insert(&row)
	})
	return secret, err
}

// UseTicket takes a ticket: from then on its line may have run. Where the gate records the
// call, it starts with that very transaction. The error of a ticket that is not valid says
// why, and matches [umpire.ErrState].
func (g *Gate) UseTicket(ctx context.Context, u umpire.TicketUse) (umpire.Ticket, error) {
	var row store.TicketRow
	err := g.view(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.Tickets.Get(digestOf(u.Secret))
		return err
	})
	if errors.Is(err, umpire.ErrNotFound) {
		return umpire.Ticket{}, umpire.Errorf("this ticket is not known: %w", umpire.ErrState)
	}
	if err != nil {
		return umpire.Ticket{}, err
	}
	if err := checkTicket(&row, &u, g.now()); err != nil {
		return umpire.Ticket{}, umpire.Errorf("%w: %w", err, umpire.ErrState)
	}
	t := umpire.Ticket{
		Session: row.Session, Batch: row.Batch, Call: row.Call, Action: row.Action, Line: u.Line, Dir: row.Dir,
		User: row.User, Host: row.Host, Large: row.Line != nil,
	}
	if t.Large {
		line, err := g.sealer.Open(ticketLabel(row.Digest), row.Line)
		if err != nil {
			return umpire.Ticket{}, err
		}
		t.Line = string(line)
	}
	if err := g.takeTicket(ctx, &row, u.Runner); err != nil {
		return umpire.Ticket{}, err
	}
	return t, nil
}

// takeTicket marks a ticket as used, in the transaction that starts its call.
func (g *Gate) takeTicket(ctx context.Context, row *store.TicketRow, runner string) error {
	var err error
	if row.Batch == "" {
		err = g.update(ctx, func(tx *store.Tx) error { return tx.Tickets.Use(row.Digest) })
	} else {
		var started umpire.Started
		started, err = g.startWith(ctx, &umpire.Start{
			Session: row.Session, Batch: row.Batch, Call: row.Call, Runner: runner,
		}, row.Digest)
		if err == nil && !started.Go {
			return umpire.Errorf("the call may not start any more: %w", umpire.ErrState)
		}
	}
	if isConflict(err) {
		return umpire.Errorf("%w: %w", errTicketUsed, umpire.ErrState)
	}
	return err
}

// EndTicket settles what becomes of the effects of a ticket. It reports whether this is the
// first to do so: the process that ran the line, or the host that no longer waits for it.
func (g *Gate) EndTicket(ctx context.Context, secret string) (first bool, err error) {
	err = g.update(ctx, func(tx *store.Tx) error { return tx.Tickets.End(digestOf(secret)) })
	if isConflict(err) {
		return false, nil
	}
	return err == nil, err
}

var errTicketUsed = errors.New("this ticket was used before")

// checkTicket says why a ticket cannot be used like this.
func checkTicket(row *store.TicketRow, u *umpire.TicketUse, now time.Time) error {
	switch {
	case row.State != store.TicketIssued:
		return errTicketUsed
	case !now.Before(row.Expires):
		return umpire.Errorf("this ticket is older than %s", umpire.TicketLife)
	case row.User != u.User:
		return errors.New("this ticket is another user's")
	case row.Line == nil && row.LineDigest != digestOf(u.Line):
		return errors.New("this ticket is for another command line")
	case row.Dir != u.Dir:
		return umpire.Errorf("this ticket is for the folder %s", row.Dir)
	case row.Host != "" && !slices.Contains(u.Above, row.Host):
		return errors.New("the agent that was given this ticket is gone, or has not started this")
	}
	return nil
}

func ticketLabel(digest string) string { return fmt.Sprintf("ticket:%q", digest) }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
