package gate

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A Masker hides secrets in what is kept for people to read.
type Masker interface {
	Text(text string) string
	JSON(value json.RawMessage) (masked json.RawMessage, changed bool)
	// Echoes masks texts that were made of a value that holds secrets.
	Echoes(texts []string, of json.RawMessage) []string
}

// A Sealer encrypts what runs. Label binds it to its place.
type Sealer interface {
	Seal(label string, plain []byte) ([]byte, error)
	Open(label string, sealed []byte) ([]byte, error)
}

func (g *Gate) maskText(text string) string {
	if g.config.Masker == nil || text == "" {
		return text
	}
	return g.config.Masker.Text(text)
}

func (g *Gate) maskJSON(value json.RawMessage) json.RawMessage {
	if g.config.Masker == nil || len(value) == 0 {
		return value
	}
	masked, _ := g.config.Masker.JSON(value)
	return masked
}

// sealText masks a text, and seals the original if that changed anything.
func (g *Gate) sealText(label, text string) (store.Sealed, error) {
	return g.seal(label, text, g.maskText(text))
}

func (g *Gate) sealJSON(label string, value json.RawMessage) (store.Sealed, error) {
	return g.seal(label, string(value), string(g.maskJSON(value)))
}

func (g *Gate) seal(label, exact, shown string) (store.Sealed, error) {
	if exact == shown {
		return store.Sealed{Shown: shown}, nil
	}
	if g.config.Sealer == nil {
		return store.Sealed{}, errors.New("seal: no key to keep a secret with")
	}
	sealed, err := g.config.Sealer.Seal(label, []byte(exact))
	return store.Sealed{Shown: shown, Exact: sealed}, err
}

// unseal returns the original.
func (g *Gate) unseal(label string, s store.Sealed) (string, error) {
	if s.Exact == nil {
		return s.Shown, nil
	}
	if g.config.Sealer == nil {
		return "", fmt.Errorf("%s: sealed, and there is no key: %w", label, umpire.ErrState)
	}
	plain, err := g.config.Sealer.Open(label, s.Exact)
	return string(plain), err
}

// Labels say where a sealed text belongs.
func callLabel(s umpire.SessionID, c umpire.CallID) string { return fmt.Sprintf("call:%q:%q", s, c) }

func resultLabel(s umpire.SessionID, c umpire.CallID) string {
	return fmt.Sprintf("result:%q:%q", s, c)
}

func messageLabel(s umpire.SessionID) string { return fmt.Sprintf("message:%q", s) }

// masked returns the event with secrets hidden, as it is stored.
func (g *Gate) masked(e umpire.Event) umpire.Event {
	e.Reason = g.maskText(e.Reason)
	if e.Blocked != nil {
		e.Blocked = &umpire.Blocked{Code: e.Blocked.Code, Detail: g.maskText(e.Blocked.Detail)}
	}
	e.Data = g.maskJSON(e.Data)
	e.Accesses = g.maskAccesses(e.Accesses)
	return e
}

func (g *Gate) maskAccesses(accesses []umpire.Access) []umpire.Access {
	if g.config.Masker == nil || len(accesses) == 0 {
		return accesses
	}
	data, err := json.Marshal(accesses)
	if err != nil {
		return nil // nothing is shown rather than a secret
	}
	masked := g.maskJSON(data)
	if bytes.Equal(masked, data) {
		return accesses
	}
	var shown []umpire.Access
	if json.Unmarshal(masked, &shown) != nil {
		return nil
	}
	return shown
}

// shownAccesses are a call's accesses with secrets hidden: those of its input, too,
// where a word of its command shows one without the name that gave it away.
func (g *Gate) shownAccesses(j *judged) []umpire.Access {
	if j.input.Exact == nil {
		return g.maskAccesses(j.decision.Accesses)
	}
	var words []string
	for i := range j.decision.Accesses {
		words = append(words, j.decision.Accesses[i].Args...)
	}
	words = g.config.Masker.Echoes(words, j.call.Input)
	shown := slices.Clone(j.decision.Accesses)
	for i := range shown {
		count := len(shown[i].Args)
		shown[i].Args, words = words[:count:count], words[count:]
	}
	return g.maskAccesses(shown)
}

// sealedPrefix marks the exact form of a grant that is kept encrypted.
const sealedPrefix = "sealed:"

// keepExact is how a grant's exact form is stored: as it is, or encrypted where it
// holds a secret. What only looks encrypted is encrypted too.
func (g *Gate) keepExact(grant, exact string) (string, error) {
	if g.maskText(exact) == exact && !strings.HasPrefix(exact, sealedPrefix) {
		return exact, nil
	}
	if g.config.Sealer == nil {
		return "", errors.New("seal: no key to keep a secret with")
	}
	sealed, err := g.config.Sealer.Seal(grantLabel(grant), []byte(exact))
	return sealedPrefix + base64.StdEncoding.EncodeToString(sealed), err
}

// openGrant returns a grant with its exact form; a grant whose form cannot be read
// covers nothing.
func (g *Gate) openGrant(row *store.GrantRow) umpire.Grant {
	text, isSealed := strings.CutPrefix(row.Grant.Exact, sealedPrefix)
	if !isSealed {
		grant := row.Grant
		grant.Standing = row.By == openedWith
		return grant
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || g.config.Sealer == nil {
		return umpire.Grant{}
	}
	plain, err := g.config.Sealer.Open(grantLabel(row.ID), sealed)
	if err != nil || len(plain) == 0 {
		return umpire.Grant{}
	}
	grant := row.Grant
	grant.Exact = string(plain)
	return grant
}

func grantLabel(id string) string { return fmt.Sprintf("grant:%q", id) }
