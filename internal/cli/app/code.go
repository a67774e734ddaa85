package app

import "crypto/rand"

// codeLetters make a code: no l, which looks like 1 or I.
const (
	codeLetters = "abcdefghijkmnopqrstuvwxyz"
	codeLength  = 4
)

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
