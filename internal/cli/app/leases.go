package app

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/secret"
)

// Leases are the secrets that a person leased to commands.
func Leases(a *App) *secret.Leases {
	leases := &secret.Leases{Folder: filepath.Join(a.StateDir(), "leases"), Vault: NewVault(a), Now: a.Now}
	if a.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" { // no other service of secrets can be asked without a person
		leases.Keyring = systemKeyring{}
	}
	return leases
}

// A systemKeyring is the keyring of the desktop, by the Secret Service of freedesktop.org.
type systemKeyring struct{}

// The name of umpire's items, and the time that a keyring has for an answer: a locked one asks for a password.
const (
	keyringService = "umpire"
	keyringWait    = 3 * time.Second
)

var errKeyring = errors.New("it does not answer; is it locked?")

// Keep implements [secret.Keyring].
func (k systemKeyring) Keep(name, text string) error {
	_, err := k.inTime(func() (string, error) { return "", keyring.Set(keyringService, name, text) })
	return err
}

// Read implements [secret.Keyring].
func (k systemKeyring) Read(name string) (string, error) {
	return k.inTime(func() (string, error) { return keyring.Get(keyringService, name) })
}

// Drop implements [secret.Keyring].
func (k systemKeyring) Drop(name string) error {
	_, err := k.inTime(func() (string, error) { return "", keyring.Delete(keyringService, name) })
	return err
}

// inTime returns the result of f, unless it takes too long.
func (systemKeyring) inTime(f func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := f()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(keyringWait):
		return "", errKeyring
	}
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
