package secret

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"

	"github.com/umpirehq/umpire"
)

// errNoKey is matched when there is no key to seal or open with.
var errNoKey = errors.New("there is no key")

// errSealed is matched when a sealed text cannot be opened: it was made with
// another key, was changed, or belongs to another place.
var errSealed = errors.New("the sealed text cannot be opened")

// A sealed text begins with its format and with which key made it; the nonce, the
// text and its proof follow.
const (
	sealFormat = 1
	idSize     = 4
	headSize   = 1 + idSize
)

// A Sealer encrypts texts that hold secrets, with AES-256 in GCM. The label says
// where a text belongs; it opens only under the same one, so that no row can take
// the place of another. A Sealer is safe for concurrent use. A nil one opens
// nothing and seals nothing.
type Sealer struct {
	aead cipher.AEAD
	head []byte
}

// Sealer seals with the key. A nil key gives a nil sealer.
func (k *Key) Sealer() (*Sealer, error) {
	if k == nil {
		return nil, nil //nolint:nilnil // a nil sealer is one that refuses
	}
	block, err := aes.NewCipher(k.seal)
	if err != nil {
		return nil, umpire.Errorf("sealer: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, umpire.Errorf("sealer: %w", err)
	}
	return &Sealer{aead: aead, head: append([]byte{sealFormat}, k.id...)}, nil
}

// Seal encrypts a text for a place. Sealing twice gives two different results.
func (s *Sealer) Seal(label string, plain []byte) ([]byte, error) {
	if s == nil {
		return nil, umpire.Errorf("seal %s: %w", label, errNoKey)
	}
	sealed := bytes.Clone(s.head)
	return s.aead.Seal(sealed, nil, plain, s.bound(label)), nil
}

// Open returns the text that was sealed for a place. On failure it returns no part of the
// text.
func (s *Sealer) Open(label string, sealed []byte) ([]byte, error) {
	if s == nil {
		return nil, umpire.Errorf("open %s: %w", label, errNoKey)
	}
	switch {
	case len(sealed) < headSize || sealed[0] != sealFormat:
		return nil, umpire.Errorf("open %s: it is no sealed text: %w", label, errSealed)
	case !bytes.Equal(sealed[:headSize], s.head):
		return nil, umpire.Errorf("open %s: it was sealed with another key: %w", label, errSealed)
	}
	plain, err := s.aead.Open(nil, nil, sealed[headSize:], s.bound(label))
	if err != nil {
		return nil, umpire.Errorf("open %s: it was changed, or belongs to another place: %w", label, errSealed)
	}
	return plain, nil
}

// bound is what a sealed text is bound to beside the key.
func (s *Sealer) bound(label string) []byte { return append(bytes.Clone(s.head), label...) }
