package webcrypto

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// A Subscription is a browser's address and keys for messages to it.
type Subscription struct {
	Endpoint string `json:"endpoint"` // the push service's address for them
	Key      []byte `json:"key"`      // the browser's public key, p256dh
	Secret   []byte `json:"secret"`   // auth, known only to the browser and the sender
}

const (
	maxEndpoint = 2048
	secretSize  = 16
	// SaltSize is the length of the salt of a message.
	SaltSize = 16
	// MaxText is the longest message that every push service takes: 4,096 bytes with the overhead.
	MaxText    = recordSize - SaltSize - 4 - 1 - keySize - 1 - tagSize
	recordSize = 4096
	keySize    = 65 // of a point of P-256
	tagSize    = 16
)

// Host returns the host of the push service, for display.
func (s *Subscription) Host() string {
	at, err := url.Parse(s.Endpoint)
	if err != nil {
		return ""
	}
	return at.Host
}

// Check returns an error for a subscription that cannot receive messages. It resolves no names: the
// dialer must ensure that the address is on the public web.
func (s *Subscription) Check() error {
	at, err := url.Parse(s.Endpoint)
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case err != nil || len(s.Endpoint) > maxEndpoint || strings.ContainsFunc(s.Endpoint, unprintable):
		return umpire.Errorf("the address of the push service cannot be read: %w", umpire.ErrInvalid)
	case at.Scheme != "https" || at.Hostname() == "" || at.User != nil || at.Fragment != "":
		return umpire.Errorf("the address of the push service is not one of https: %w", umpire.ErrInvalid)
	case len(s.Secret) != secretSize:
		return umpire.Errorf("the key of the browser cannot be read: %w", umpire.ErrInvalid)
	}
	if _, err := ecdh.P256().NewPublicKey(s.Key); err != nil {
		return umpire.Errorf("the key of the browser cannot be read: %w", umpire.ErrInvalid)
	}
	return nil
}

// Encrypt returns the body of a message. The sender's key and the salt must be random, and used for
// this message only.
func (s *Subscription) Encrypt(text []byte, sender *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > MaxText {
		return nil, umpire.Errorf("the message is too long: %w", umpire.ErrInvalid)
	}
	receiver, err := ecdh.P256().NewPublicKey(s.Key)
	if err != nil {
		return nil, err
	}
	shared, err := sender.ECDH(receiver)
	if err != nil {
		return nil, err
	}
	public := sender.PublicKey().Bytes()
	seal, nonce, err := deriveKeys(shared, s, public, salt)
	if err != nil {
		return nil, err
	}
	header := binary.BigEndian.AppendUint32(append([]byte{}, salt...), recordSize)
	header = append(append(header, byte(len(public))), public...)
	const lastRecord = 2
	return seal.Seal(header, nonce, append(append([]byte{}, text...), lastRecord), nil), nil
}

// deriveKeys returns the cipher and the nonce of the only record of a message.
func deriveKeys(shared []byte, s *Subscription, sender, salt []byte) (cipher.AEAD, []byte, error) {
	expand := func(secret, salt []byte, info string, size int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, size)
		if err != nil {
			panic(err) // the sizes are constants
		}
		return key
	}
	input := expand(shared, s.Secret, "WebPush: info\x00"+string(s.Key)+string(sender), 32)
	block, err := aes.NewCipher(expand(input, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, nil, err
	}
	seal, err := cipher.NewGCM(block)
	return seal, expand(input, salt, "Content-Encoding: nonce\x00", 12), err
}

// PublicKey returns the sender's public key in the form that browsers accept.
func PublicKey(key *ecdsa.PrivateKey) (string, error) {
	public, err := key.PublicKey.ECDH()
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(public.Bytes()), nil
}

// Authorize returns the Authorization header for messages to a push service, valid until expires.
// The subject is an address at which the sender can be reached.
func (s *Subscription) Authorize(key *ecdsa.PrivateKey, subject string, expires time.Time) (string, error) {
	at, err := url.Parse(s.Endpoint)
	if err != nil {
		return "", err
	}
	public, err := PublicKey(key)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"aud": at.Scheme + "://" + at.Host, "exp": expires.Unix(), "sub": subject,
	})
	if err != nil {
		return "", err
	}
	token := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	signature, err := sign(key, token)
	if err != nil {
		return "", err
	}
	return "vapid t=" + token + "." + encode(signature) + ", k=" + public, nil
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// sign signs a text as required by RFC 7518: both numbers of the signature at full length. Without
// a source of randomness the signature follows RFC 6979.
func sign(key *ecdsa.PrivateKey, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	der, err := key.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return nil, err
	}
	const size = 32
	out := make([]byte, 2*size)
	numbers.R.FillBytes(out[:size])
	numbers.S.FillBytes(out[size:])
	return out, nil
}
