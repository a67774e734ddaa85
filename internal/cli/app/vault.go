package app

import (
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/policy"
)

// A Vault encrypts undo's copies of files that the built-in rules treat as secrets, with
// the key that also encrypts arguments. It is safe for concurrent use.
type Vault struct {
	rules func() (*policy.Policy, error)
	key   func() (*secret.Sealer, error)
}

// NewVault returns the vault of this user. Neither rules nor key are read before they are needed.
func NewVault(a *App) *Vault {
	return &Vault{
		rules: sync.OnceValues(func() (*policy.Policy, error) {
			return policy.New(nil, policy.Options{Home: a.UserHome(), StateDir: a.Home()})
		}),
		key: sync.OnceValues(func() (*secret.Sealer, error) {
			key, err := secret.OpenKey(a.StateDir())
			if err != nil {
				return nil, umpire.Errorf("open the key that seals secrets: %w", err)
			}
			return key.Sealer()
		}),
	}
}

// IsSecret reports whether a rule about secrets names a file, or that cannot be told.
func (v *Vault) IsSecret(path string) bool {
	rules, err := v.rules()
	return err != nil || rules.NamesSecret(path)
}

// Seal encrypts a text for a place.
func (v *Vault) Seal(label string, plain []byte) ([]byte, error) {
	sealer, err := v.key()
	if err != nil {
		return nil, err
	}
	return sealer.Seal(label, plain)
}

// Open returns a text that was sealed for a place.
func (v *Vault) Open(label string, sealed []byte) ([]byte, error) {
	sealer, err := v.key()
	if err != nil {
		return nil, err
	}
	return sealer.Open(label, sealed)
}
