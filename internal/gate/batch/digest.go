package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// ArgsHash returns the hash to which an answer is bound: the SHA-256, in hex, of the
// tool's name and its input in canonical form. The order of keys and whitespace do not
// matter; every value does.
func ArgsHash(tool string, input json.RawMessage) (string, error) {
	canonical, err := Canonical(input)
	if err != nil {
		return "", err
	}
	return CanonicalHash(tool, canonical), nil
}

// CanonicalHash is ArgsHash of an input returned by Canonical.
func CanonicalHash(tool string, canonical json.RawMessage) string {
	sum := sha256.New()
	sum.Write([]byte(tool))
	sum.Write([]byte{0}) // canonical input never contains a NUL byte
	sum.Write(canonical)
	return hex.EncodeToString(sum.Sum(nil))
}

// Canonical returns the canonical form of a call's input: see strictjson.Canonical. The
// error wraps umpire.ErrInvalid.
func Canonical(input json.RawMessage) (json.RawMessage, error) {
	canonical, err := strictjson.Canonical(input)
	if err != nil {
		return nil, umpire.Errorf("input: %w: %w", err, umpire.ErrInvalid)
	}
	return canonical, nil
}
