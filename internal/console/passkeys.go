package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/files"
)

const (
	maxPasskeys     = 16
	maxPasskeyFile  = 256 << 10
	maxPasskeyName  = 60 // characters
	passkeyFileMode = 0o600
)

// A passkey proves that a person approves from another machine.
type passkey struct {
	webcrypto.Key

	Name string `json:"name"`
	// Person is the name of the person who registered it; "" is the user of the gate.
	Person string    `json:"person,omitempty"`
	Host   string    `json:"host"` // of its site
	Added  time.Time `json:"added"`
	Used   time.Time `json:"used,omitzero"`
}

var (
	errNoPasskey   = umpire.Errorf("you have no passkey for this address: add one under Passkeys")
	errFullPasskey = umpire.Errorf("there are %d passkeys already: remove one first", maxPasskeys)
)

// passkeys keeps the registered passkeys in a file.
type passkeys struct {
	path string // "" keeps them in memory only

	mu  sync.Mutex
	all []passkey
	err error // why the file could not be read; all is then empty
}

// loadPasskeys reads the file.
func loadPasskeys(path string) *passkeys {
	p := &passkeys{path: path}
	if path == "" {
		return p
	}
	data, err := files.ReadPrivate(path, maxPasskeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p
	}
	if err == nil {
		err = json.Unmarshal(data, &p.all)
	}
	if err != nil {
		p.all, p.err = nil, umpire.Errorf("passkeys: %w", err)
	}
	return p
}

// forHost returns the passkeys for a host, or all of them for "".
func (p *passkeys) forHost(host string) []passkey {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.all), func(k passkey) bool { return host != "" && k.Host != host })
}

// of returns the passkeys of a person for a host.
func (p *passkeys) of(host, person string) []passkey {
	return slices.DeleteFunc(p.forHost(host), func(k passkey) bool { return k.Person != person })
}

// add keeps a new passkey.
func (p *passkeys) add(k *passkey) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := func(other passkey) bool { return bytes.Equal(other.ID, k.ID) }
	switch {
	case p.err != nil:
		return p.err
	case len(p.all) >= maxPasskeys:
		return errFullPasskey
	case slices.ContainsFunc(p.all, known):
		return umpire.Errorf("this passkey is registered already: %w", umpire.ErrState)
	}
	return p.save(append(slices.Clone(p.all), *k))
}

// remove removes a passkey.
func (p *passkeys) remove(id []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(p.all), func(k passkey) bool { return bytes.Equal(k.ID, id) })
	if len(left) == len(p.all) {
		return umpire.ErrNotFound
	}
	return p.save(left)
}

// verify checks an assertion for a challenge, and stores its passkey's counter before the assertion
// approves anything. It returns the name of the passkey's person.
func (p *passkeys) verify(
	site webcrypto.Party, a *webcrypto.Assertion, challenge string, now time.Time,
) (person string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.all)
	at := slices.IndexFunc(all, func(k passkey) bool { return k.Host == site.ID && bytes.Equal(k.ID, a.ID) })
	if at < 0 {
		return "", errNoPasskey
	}
	count, err := site.Verify(&all[at].Key, a, challenge)
	if err != nil {
		return "", err
	}
	all[at].Count, all[at].Used = count, now
	return all[at].Person, p.save(all)
}

// save writes the file, and then replaces the state in memory.
func (p *passkeys) save(all []passkey) error {
	if p.path != "" {
		data, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			return err
		}
		if err := files.Replace(p.path, append(data, '\n'), passkeyFileMode); err != nil {
			return err
		}
	}
	p.all = all
	return nil
}

// bind returns the challenge for one use of a passkey, made of a random token and the card, scope
// and width of the use.
func (u *codeUse) bind(token string) string {
	text, err := json.Marshal([]any{token, u.request, u.shown, u.scope, u.width})
	if err != nil {
		panic(err) // these types always marshal
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
