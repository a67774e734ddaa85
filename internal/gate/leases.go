package gate

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// RecordLease records that a person leased a secret, or ended the lease.
func (gs *grants) RecordLease(ctx context.Context, l umpire.SecretLease) error {
	if l.Name == "" || l.Host == "" {
		return invalid("name", "want a name and a host")
	}
	e := umpire.Event{
		Kind: umpire.EventSecretLeased, Session: l.Session, Actor: l.By.Name,
		Reason: umpire.Say("%s for %s", l.Name, l.Host),
	}
	if l.Revoked {
		e.Kind = umpire.EventSecretRevoked
	}
	return gs.recordSecret(ctx, l.Dir, e, signed(map[string]any{
		"name": l.Name, "host": l.Host, "methods": l.Methods, "paths": l.Paths, "expires_at": l.ExpiresAt,
	}, l.By))
}

// RecordUse records uses of leased secrets.
func (gs *grants) RecordUse(ctx context.Context, u umpire.SecretUses) error {
	if len(u.Reached) > maxListedPaths || len(u.Refused) > maxListedPaths {
		return invalid("reached", "longer than %d", maxListedPaths)
	}
	e := umpire.Event{
		Kind: umpire.EventSecretUsed, Session: u.Session, Batch: u.Batch, Call: u.Call, Actor: u.By.Name,
		Reason: umpire.Verbatim(u.Command),
	}
	detail := map[string]any{"command": u.Command, "reached": u.Reached, "refused": u.Refused}
	return gs.recordSecret(ctx, u.Dir, e, signed(detail, u.By))
}

func (gs *grants) recordSecret(ctx context.Context, dir string, e umpire.Event, detail any) error {
	p, err := gs.Project(dir)
	if err != nil {
		return err
	}
	e.At, e.Project = gs.now(), p.ID
	return gs.update(ctx, func(tx *store.Tx) error {
		if e.Session != "" {
			if _, err := tx.Sessions.Get(e.Session); err != nil {
				return err
			}
		}
		return tx.Events.Add(gs.record(e, detail))
	})
}
