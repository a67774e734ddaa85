package secret

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"

	"github.com/umpirehq/umpire"
)

// errNoKey is matched if there is no key to seal or open with.
var errNoKey = errors.New("the key is missing")

// errSealed is matched if a sealed text cannot be opened: it was sealed with another key
// or label, or was changed.
var errSealed = errors.New("the sealed text cannot be opened")

// A sealed text starts with its format and its key's id; the nonce, the ciphertext and
// the tag follow.
const (
	sealFormat = 1
	idSize     = 4
	headSize   = 1 + idSize
)

// A Sealer encrypts texts with secrets, using AES-256-GCM. The label identifies a text's
// place; it opens only with the same label, so rows cannot be swapped. A Sealer is safe
// for concurrent use. A nil Sealer refuses to open and to seal.
type Sealer struct {
	aead cipher.AEAD
	head []byte
}

// Sealer returns a sealer with the key. A nil key returns a nil sealer.
func (k *Key) Sealer() (*Sealer, error) {
	if k == nil {
		return nil, nil //nolint:nilnil // a nil sealer refuses everything
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

// Seal encrypts a text for a label. Sealing twice gives two different results.
func (s *Sealer) Seal(label string, plain []byte) ([]byte, error) {
	if s == nil {
		return nil, umpire.Errorf("seal %s: %w", label, errNoKey)
	}
	sealed := bytes.Clone(s.head)
	return s.aead.Seal(sealed, nil, plain, s.bound(label)), nil
}

// Open decrypts a text sealed for a label. On failure it returns no part of the text.
func (s *Sealer) Open(label string, sealed []byte) ([]byte, error) {
	if s == nil {
		return nil, umpire.Errorf("open %s: %w", label, errNoKey)
	}
	switch {
	case len(sealed) < headSize || sealed[0] != sealFormat:
		return nil, umpire.Errorf("open %s: not a sealed text: %w", label, errSealed)
	case !bytes.Equal(sealed[:headSize], s.head):
		return nil, umpire.Errorf("open %s: it was sealed with another key: %w", label, errSealed)
	}
	plain, err := s.aead.Open(nil, nil, sealed[headSize:], s.bound(label))
	if err != nil {
		return nil, umpire.Errorf("open %s: it was changed, or belongs elsewhere: %w", label, errSealed)
	}
	return plain, nil
}

// bound returns the additional data to which a sealed text is bound.
func (s *Sealer) bound(label string) []byte { return append(bytes.Clone(s.head), label...) }
