package gate

import (
	"crypto/rand"
	"encoding/base32"
	"strings"

	"github.com/umpirehq/umpire"
)

// idLetters leave out what people mistake for each other: i, l, o and u.
var idLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func newID(bytes int) string { return strings.ToLower(idLetters.EncodeToString(randomBytes(bytes))) }

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // does not fail: it ends the program when the system has no randomness
	return raw
}

// newRequestID is short enough to be typed and long enough not to be guessed.
func newRequestID() umpire.RequestID { return umpire.RequestID(newID(5)) }

func newSessionID() umpire.SessionID { return umpire.SessionID("s" + newID(10)) }

func newTrialID() umpire.TrialID { return umpire.TrialID("t" + newID(5)) }

func newGrantID() string { return "g" + newID(10) }
