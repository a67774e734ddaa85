package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync"
	"time"
)

// signInChallenges are signed by passkeys to sign a browser in. A challenge carries its expiry and a proof
// that it was made here, because stored challenges would let strangers fill memory or crowd others out.
type signInChallenges struct {
	now func() time.Time
	key [sha256.Size]byte

	mu   sync.Mutex
	used map[string]time.Time // when the challenges that have been used expire
}

func newSignInChallenges(now func() time.Time) *signInChallenges {
	s := &signInChallenges{now: now, used: map[string]time.Time{}}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// The layout of a challenge: random bytes, its expiry in seconds, and the proof.
const (
	challengeEndAt   = 16
	challengeProofAt = challengeEndAt + 8
	challengeSize    = challengeProofAt + sha256.Size
)

// add makes a challenge for one origin.
func (s *signInChallenges) add(o *origin) string {
	var raw [challengeProofAt]byte
	_, _ = rand.Read(raw[:challengeEndAt]) // never fails
	binary.BigEndian.PutUint64(raw[challengeEndAt:], uint64(s.now().Add(codeTime).Unix()))
	return base64.RawURLEncoding.EncodeToString(append(raw[:], s.proof(raw[:], o)...))
}

func (s *signInChallenges) proof(raw []byte, o *origin) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	_, _ = mac.Write(append([]byte(o.url+"\n"), raw...)) // never fails
	return mac.Sum(nil)
}

// expiry returns when a challenge expires, or false if it has expired or was not made here for this origin.
func (s *signInChallenges) expiry(challenge string, o *origin) (expires time.Time, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	if err != nil || len(raw) != challengeSize {
		return time.Time{}, false
	}
	if !hmac.Equal(raw[challengeProofAt:], s.proof(raw[:challengeProofAt], o)) {
		return time.Time{}, false
	}
	expires = time.Unix(int64(binary.BigEndian.Uint64(raw[challengeEndAt:])), 0)
	return expires, !s.now().After(expires)
}

// use consumes a challenge, and reports whether it was valid: not used before, and not expired,
// since expired challenges are removed from the record of used ones.
func (s *signInChallenges) use(challenge string, expires time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, at := range s.used {
		if s.now().After(at) {
			delete(s.used, other)
		}
	}
	if _, used := s.used[challenge]; used || s.now().After(expires) {
		return false
	}
	s.used[challenge] = expires
	return true
}
