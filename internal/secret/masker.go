// Package secret keeps secrets out of what is recorded, and yet able to run: a
// [Masker] hides them in what people read, a [Sealer] encrypts what is started.
//
//	key, err := secret.OpenKey(stateFolder)
//	shown := key.Masker().Text("curl -H 'Authorization: Bearer …' https://x")
//	sealer, err := key.Sealer()
//	sealed, err := sealer.Seal("call:s1:c1", exact)
//
// Tokens are found by the rules of gitleaks, taken from its configuration, and passwords, headers
// and options by rules of our own. Everything else stays readable: programs, verbs, paths,
// hosts, options, hashes.
//
// Masking is for records. It is no boundary: a secret without a name and without a
// shape is not found, nor is one that was encoded or cut in pieces.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A Masker replaces secrets by [masked:RULE:HASH]. The hash is short and keyed:
// it shows that two masks stand for the same secret in one store, and tells
// nothing else. A Masker is safe for concurrent use. A nil one, or one without a
// key, masks as well and leaves the hash out.
type Masker struct{ key []byte }

// hashBytes keeps the hash too short to search for a password with.
const hashBytes = 2

// Text returns a text with its secrets masked; the text itself if there are none.
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

// mask stands for one secret.
func (m *Masker) mask(rule, value string) string {
	if m == nil || len(m.key) == 0 {
		return maskBegin + rule + "]"
	}
	sum := hmac.New(sha256.New, m.key)
	sum.Write([]byte(value))
	return maskBegin + rule + ":" + hex.EncodeToString(sum.Sum(nil)[:hashBytes]) + "]"
}
