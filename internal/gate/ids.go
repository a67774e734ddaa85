package gate

import (
	"crypto/rand"
	"encoding/base32"
	"strings"

	"github.com/umpirehq/umpire"
)

// idLetters omits letters that are easily confused: i, l, o and u.
var idLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func newID(bytes int) string { return strings.ToLower(idLetters.EncodeToString(randomBytes(bytes))) }

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails: without randomness from the system it ends the program
	return raw
}

// newRequestID returns an id that is short enough to type and long enough not to be guessed.
func newRequestID() umpire.RequestID { return umpire.RequestID(newID(5)) }

func newSessionID() umpire.SessionID { return umpire.SessionID("s" + newID(10)) }

func newTrialID() umpire.TrialID { return umpire.TrialID("t" + newID(5)) }

func newGrantID() string { return "g" + newID(10) }
