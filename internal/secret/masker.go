// Package secret keeps secrets out of records without losing the commands that need them:
// a [Masker] hides them in displayed text, and a [Sealer] encrypts the original.
//
//	key, err := secret.OpenKey(stateFolder)
//	shown := key.Masker().Text("curl -H 'Authorization: Bearer …' https://x")
//	sealer, err := key.Sealer()
//	sealed, err := sealer.Seal("call:s1:c1", exact)
//
// The rules of gitleaks, taken from its configuration, find tokens; our own rules find
// passwords, headers and options. Everything else stays readable: programs, verbs, paths,
// hosts, options, hashes.
//
// Masking is for records and is not a security boundary: it misses secrets without a
// known name or shape, and secrets that are encoded or split.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Masker replaces secrets by [masked:RULE:HASH]. The hash is short and keyed: it only
// shows that two masks in one store stand for the same secret. A Masker is safe for
// concurrent use. A nil Masker, or one without a key, masks without the hash.
type Masker struct{ key []byte }

// hashBytes keeps the hash too short for a password search.
const hashBytes = 2

// Text returns a text with its secrets masked, or the text itself if it has none.
func (m *Masker) Text(text string) string {
	found := findSecrets(text)
	if len(found) == 0 {
		return text
	}
	return m.replace(text, found)
}

func (m *Masker) replace(text string, found []span) string {
	var out strings.Builder
	at := 0
	for _, s := range found {
		out.WriteString(text[at:s.start])
		out.WriteString(m.mask(s.rule, text[s.start:s.end]))
		at = s.end
	}
	out.WriteString(text[at:])
	return out.String()
}

const maskBegin = "[masked:"

// mask returns the mask of one secret.
func (m *Masker) mask(rule, value string) string {
	if m == nil || len(m.key) == 0 {
		return maskBegin + rule + "]"
	}
	sum := hmac.New(sha256.New, m.key)
	sum.Write([]byte(value))
	return maskBegin + rule + ":" + hex.EncodeToString(sum.Sum(nil)[:hashBytes]) + "]"
}
