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
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Masker hides secrets in text kept for people to read.
type Masker interface {
	Text(text string) string
	JSON(value json.RawMessage) (masked json.RawMessage, changed bool)
	// Echoes masks texts derived from a value that holds secrets.
	Echoes(texts []string, of json.RawMessage) []string
}

// A Sealer encrypts the originals of masked text. The label binds a ciphertext to its place.
type Sealer interface {
	Seal(label string, plain []byte) ([]byte, error)
	Open(label string, sealed []byte) ([]byte, error)
}

// secrets masks and seals sensitive text. The zero value hides nothing.
type secrets struct {
	masker Masker // if nil, nothing is masked
	sealer Sealer // if nil, originals are not kept
}

func (sec secrets) maskText(text string) string {
	if sec.masker == nil || text == "" {
		return text
	}
	return sec.masker.Text(text)
}

// maskPhrase masks a phrase. A phrase with a secret is replaced by its masked text in every
// language, because a secret may begin in one argument and end in the next.
func (sec secrets) maskPhrase(said umpire.Phrase) umpire.Phrase {
	text := catalogue.English.Text(said)
	if masked := sec.maskText(text); masked != text {
		return umpire.Verbatim(masked)
	}
	return said
}

func (sec secrets) maskJSON(value json.RawMessage) json.RawMessage {
	if sec.masker == nil || len(value) == 0 {
		return value
	}
	masked, _ := sec.masker.JSON(value)
	return masked
}

// sealText masks a text, and seals the original if that changed anything.
func (sec secrets) sealText(label, text string) (store.Sealed, error) {
	return sec.seal(label, text, sec.maskText(text))
}

func (sec secrets) sealJSON(label string, value json.RawMessage) (store.Sealed, error) {
	return sec.seal(label, string(value), string(sec.maskJSON(value)))
}

func (sec secrets) seal(label, exact, shown string) (store.Sealed, error) {
	if exact == shown {
		return store.Sealed{Shown: shown}, nil
	}
	if sec.sealer == nil {
		return store.Sealed{}, errors.New("seal: no key to keep a secret with")
	}
	sealed, err := sec.sealer.Seal(label, []byte(exact))
	return store.Sealed{Shown: shown, Exact: sealed}, err
}

// unseal returns the original.
func (sec secrets) unseal(label string, s store.Sealed) (string, error) {
	if s.Exact == nil {
		return s.Shown, nil
	}
	if sec.sealer == nil {
		return "", umpire.Errorf("%s: sealed, and the key is missing: %w", label, umpire.ErrState)
	}
	plain, err := sec.sealer.Open(label, s.Exact)
	return string(plain), err
}

// Labels name the place that a sealed text belongs to.
func callLabel(s umpire.SessionID, c umpire.CallID) string { return fmt.Sprintf("call:%q:%q", s, c) }

func resultLabel(s umpire.SessionID, c umpire.CallID) string {
	return fmt.Sprintf("result:%q:%q", s, c)
}

func messageLabel(s umpire.SessionID) string { return fmt.Sprintf("message:%q", s) }

// masked returns the event with secrets hidden, for storing.
func (sec secrets) masked(e umpire.Event) umpire.Event {
	e.Reason = sec.maskPhrase(e.Reason)
	if e.Blocked != nil {
		e.Blocked = &umpire.Blocked{Code: e.Blocked.Code, Detail: sec.maskPhrase(e.Blocked.Detail)}
	}
	e.Data = sec.maskJSON(e.Data)
	e.Accesses = sec.maskAccesses(e.Accesses)
	return e
}

func (sec secrets) maskAccesses(accesses []umpire.Access) []umpire.Access {
	if sec.masker == nil || len(accesses) == 0 {
		return accesses
	}
	accesses = slices.Clone(accesses)
	for i := range accesses {
		a := &accesses[i]
		a.Reason, a.Doubt = sec.maskPhrase(a.Reason), sec.maskPhrase(a.Doubt)
	}
	data, err := json.Marshal(accesses)
	if err != nil {
		return nil // better nothing than a secret
	}
	masked := sec.maskJSON(data)
	if bytes.Equal(masked, data) {
		return accesses
	}
	var shown []umpire.Access
	if json.Unmarshal(masked, &shown) != nil {
		return nil
	}
	return shown
}

// sealedPrefix marks the encrypted exact form of a grant.
const sealedPrefix = "sealed:"

// keepExact returns a grant's exact form for storing: shortened, and encrypted if it contains a
// secret. A form that only looks encrypted is encrypted too.
func (sec secrets) keepExact(grant, exact string) (string, error) {
	exact = store.ShortForm(exact)
	if sec.maskText(exact) == exact && !strings.HasPrefix(exact, sealedPrefix) {
		return exact, nil
	}
	if sec.sealer == nil {
		return "", errors.New("seal: no key to keep a secret with")
	}
	sealed, err := sec.sealer.Seal(grantLabel(grant), []byte(exact))
	return sealedPrefix + base64.StdEncoding.EncodeToString(sealed), err
}

// openGrant returns a grant with its exact form; a grant with an unreadable form covers nothing.
func (sec secrets) openGrant(row *store.GrantRow) umpire.Grant {
	text, isSealed := strings.CutPrefix(row.Grant.Exact, sealedPrefix)
	if !isSealed {
		grant := row.Grant
		grant.Standing = row.By == openedWith
		return grant
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || sec.sealer == nil {
		return umpire.Grant{}
	}
	plain, err := sec.sealer.Open(grantLabel(row.ID), sealed)
	if err != nil || len(plain) == 0 {
		return umpire.Grant{}
	}
	grant := row.Grant
	grant.Exact = string(plain)
	return grant
}

func grantLabel(id string) string { return fmt.Sprintf("grant:%q", id) }

// exactCall returns a call with its exact original input.
func (sec secrets) exactCall(row *store.CallRow) (umpire.Call, error) {
	input, err := sec.unseal(callLabel(row.Session, row.ID), row.Input)
	if err != nil {
		return umpire.Call{}, err
	}
	return umpire.Call{
		ID: row.ID, Tool: row.Tool, Input: json.RawMessage(input), Dir: row.Dir, Agent: row.Agent,
		Session: row.Session, Batch: row.Batch, Background: row.Background,
	}, nil
}

// record encodes the detail of an event as JSON, and masks all secrets.
func (sec secrets) record(e umpire.Event, detail any) umpire.Event {
	if detail != nil {
		e.Data = data(detail)
	}
	return sec.masked(e)
}

// data returns the data of an event as JSON. Its types always marshal.
func data(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("event data %T: %v", v, err))
	}
	return text
}
