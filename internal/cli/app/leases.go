package app

import (
	"context"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/secret"
)

// Leases are the secrets that a person leased to commands.
func Leases(a *App) *secret.Leases {
	return &secret.Leases{Folder: filepath.Join(a.StateDir(), "leases"), Vault: NewVault(a), Now: a.Now}
}

// LeasesIn returns the leases for the commands of a project, in a session or, if it is "", outside of any.
func LeasesIn(
	a *App, project umpire.ProjectID, session umpire.SessionID,
) (all []egress.Lease, err error) {
	leases := Leases(a)
	stored, err := leases.List(project)
	for i := range stored {
		l := &stored[i]
		if l.Session == "" || l.Session == session {
			all = append(all, egress.Lease{
				Name: l.Name, Host: l.Host, Methods: l.Methods, Paths: l.Paths,
				Value: func() (string, error) { return leases.Value(l) },
			})
		}
	}
	return all, err
}

// RecordUses adds to the timeline how a command used leased secrets, if it did. At most maxUses places are named.
func RecordUses(ctx context.Context, a *App, u umpire.SecretUses, e *trial.Effects) {
	for _, r := range e.Reached {
		if len(r.Secrets) > 0 && len(u.Reached) < maxUses {
			u.Reached = append(u.Reached, r)
		}
	}
	for _, r := range e.Refused {
		if r.Kind == umpire.AttemptSecret && len(u.Refused) < maxUses {
			u.Refused = append(u.Refused, r.Target)
		}
	}
	if len(u.Reached)+len(u.Refused) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	record := func(g umpire.Gate) error { return g.Grants().RecordUse(ctx, u) }
	if err := a.WithGate(ctx, AgentCredential, record); err != nil {
		a.RemarkError(err)
	}
}

const maxUses = 20
