package store

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// Inputs above largeInput bytes are stored once per session, compressed. Displays of the
// call contain about maxClip bytes of them.
const (
	largeInput = 64 << 10
	maxClip    = 16 << 10
)

// A packedInput is an input with its own row.
type packedInput struct {
	digest string // the SHA-256 of the input, in hex
	data   []byte // compressed
	clip   json.RawMessage
}

// Pack compresses a large input in advance, because other transactions wait while one
// compresses. Otherwise it is packed when it is stored. Pack returns s.
func (s *Sealed) Pack() *Sealed {
	if s.Packed != nil || len(s.Shown) <= largeInput {
		return s
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = io.WriteString(w, s.Shown)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // the level is valid, and a buffer never fails
	}
	s.Packed = &packedInput{
		digest: DigestOf(s.Shown), data: out.Bytes(), clip: strictjson.Clip(json.RawMessage(s.Shown), maxClip),
	}
	return s
}

// Clip returns the displayed input, and the full size if it is only a part, or else 0.
func (s *Sealed) Clip() (input json.RawMessage, size int) {
	if s.Pack(); s.Packed != nil {
		return s.Packed.clip, len(s.Shown)
	}
	return json.RawMessage(s.Shown), 0
}

// DigestOf returns the key of large inputs and tickets: the SHA-256 of a text, in hex.
func DigestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ShortForm returns the form of a call that a grant stores: the exact form, or for a
// large one its SHA-256 after a blank. No form starts with a blank.
func ShortForm(form string) string {
	if len(form) <= largeInput {
		return form
	}
	return " sha256 " + DigestOf(form)
}

const insertInput = `INSERT INTO inputs (session_id, digest, packed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

// insertInput stores a large input, unless the session already has it, and returns its digest, or else nil.
func (t Batches) insertInput(s umpire.SessionID, input *Sealed) (digest any, err error) {
	p := input.Pack().Packed
	if p == nil {
		return nil, nil
	}
	about := umpire.Errorf("input %s", p.digest)
	return p.digest, t.modify(about, nil, insertInput, string(s), p.digest, p.data)
}

// unpack returns an input of a known size and digest.
func unpack(data string, size int64, digest string) (string, error) {
	var text strings.Builder
	if _, err := io.CopyN(&text, flate.NewReader(strings.NewReader(data)), size); err != nil {
		return "", umpire.Errorf("the input cannot be read: %w", err)
	}
	if DigestOf(text.String()) != digest {
		return "", umpire.Errorf("the input was changed: its digest does not match")
	}
	return text.String(), nil
}
