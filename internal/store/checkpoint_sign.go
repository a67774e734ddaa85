package store

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret"
)

// keyFile is the name of the key file.
const keyFile = "timeline.key"

// header identifies the format of a signed checkpoint.
const header = "umpire-timeline-1"

// ErrCheckpoint is matched if a text is not a signed checkpoint or its signature does not
// match.
var ErrCheckpoint = errors.New("not a signed checkpoint")

var encoding = base64.RawURLEncoding.Strict()

// A SigningKey signs checkpoints.
type SigningKey struct{ private ed25519.PrivateKey }

// OpenKey reads the key in a folder, and makes one if the file is missing.
func OpenKey(folder string) (*SigningKey, error) { return keyFrom(secret.OpenSeed(folder, keyFile)) }

// ReadKey is OpenKey for an existing key. Its error matches fs.ErrNotExist if the key is
// missing.
func ReadKey(folder string) (*SigningKey, error) { return keyFrom(secret.ReadSeed(folder, keyFile)) }

func keyFrom(seed []byte, err error) (*SigningKey, error) {
	if err != nil {
		return nil, umpire.Errorf("the key of the timeline: %w", err)
	}
	return &SigningKey{private: ed25519.NewKeyFromSeed(seed)}, nil
}

// ID returns a short name of the key, equal to [Signed.KeyID] for its signatures. For a
// nil key it is "".
func (k *SigningKey) ID() string {
	if k == nil {
		return ""
	}
	return keyID(k.public())
}

func (k *SigningKey) public() ed25519.PublicKey {
	return ed25519.PublicKey(k.private[ed25519.SeedSize:])
}

func keyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// Sign encodes a checkpoint as one line of text without blanks.
func (k *SigningKey) Sign(c *Checkpoint) (string, error) { return k.sign(header, c) }

func (k *SigningKey) sign(header string, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", umpire.Errorf("checkpoint: %w", err)
	}
	said := header + "." + encoding.EncodeToString(text)
	signature := ed25519.Sign(k.private, []byte(said))
	return strings.Join(
		[]string{said, encoding.EncodeToString(k.public()), encoding.EncodeToString(signature)}, ".",
	), nil
}

// SignedCheckpoint is a checkpoint with a verified signature.
type SignedCheckpoint struct {
	Checkpoint
	key ed25519.PublicKey
}

// KeyID returns the name of the key that signed it.
func (s *SignedCheckpoint) KeyID() string { return keyID(s.key) }

// ParseCheckpoint decodes a signed checkpoint and verifies its signature. The caller must decide
// whether to trust the key. The error matches ErrFormat.
func ParseCheckpoint(line string) (*SignedCheckpoint, error) {
	s := &SignedCheckpoint{}
	var err error
	s.key, err = parse(line, header, &s.Checkpoint)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// parse decodes a text signed under a header into v, and returns the key.
func parse(line, header string, v any) (ed25519.PublicKey, error) {
	parts := strings.Split(strings.TrimSpace(line), ".")
	if len(parts) != 4 || parts[0] != header {
		return nil, umpire.Errorf("%w: want one line that begins with %s and a dot", ErrCheckpoint, header)
	}
	var decoded [3][]byte
	for i := range decoded {
		var err error
		if decoded[i], err = encoding.DecodeString(parts[i+1]); err != nil {
			return nil, umpire.Errorf("%w: %w", ErrCheckpoint, err)
		}
	}
	if len(decoded[1]) != ed25519.PublicKeySize ||
		!ed25519.Verify(decoded[1], []byte(parts[0]+"."+parts[1]), decoded[2]) {
		return nil, umpire.Errorf("%w: the signature is not over this text", ErrCheckpoint)
	}
	if err := json.Unmarshal(decoded[0], v); err != nil {
		return nil, umpire.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return decoded[1], nil
}
