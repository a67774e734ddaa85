package view

import (
	"crypto/rand"

	"github.com/umpirehq/umpire"
)

// codeLetters make a code: no l, which looks like 1 or I.
const (
	codeLetters = "abcdefghijkmnopqrstuvwxyz"
	codeLength  = 4
)

// NeedsCode reports whether an answer to a question is confirmed with a code that is new
// each time: an approval that does much, or that lasts. It holds wherever the answer is given.
func NeedsCode(answer *umpire.Answer, p *umpire.Pending) bool {
	harmless := p.Risk == umpire.Low.String() || p.Risk == umpire.Medium.String()
	passing := answer.Scope == umpire.ScopeOnce || answer.Scope == umpire.ScopeSession
	return answer.Choice == umpire.Approve && (!harmless || !passing || p.Warning || p.Indeterminate)
}

// NewCode makes up a code to be typed back.
func NewCode() string {
	code := make([]byte, 0, codeLength)
	for random := make([]byte, 1); len(code) < codeLength; {
		_, _ = rand.Read(random) // never fails
		if at := int(random[0]); at < 256-256%len(codeLetters) {
			code = append(code, codeLetters[at%len(codeLetters)])
		}
	}
	return string(code)
}
