package console

import (
	"testing"
	"time"
)

// A challenge that was used is forgotten when it expires, and does not count again by then: the check of an assertion
// may take longer.
func TestChallengeExpiresWhileItIsChecked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	o := &origin{url: "https://umpire.example", remote: true}
	s := newSignInChallenges(func() time.Time { return now })
	challenge := s.add(o)
	expires, ok := s.expiry(challenge, o)
	if !ok || !s.use(challenge, expires) || s.use(challenge, expires) {
		t.Fatal("a challenge does not count once")
	}
	now = expires.Add(time.Nanosecond)
	if s.use(challenge, expires) {
		t.Error("it counts again")
	}
}
