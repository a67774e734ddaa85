package server

import (
	"testing"
	"time"
)

func TestInbox(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	b := &inbox{now: func() time.Time { return now }}
	want := func(attended bool, when string) {
		t.Helper()
		if b.attended() != attended {
			t.Errorf("%s: attended %t, want %t", when, !attended, attended)
		}
	}
	want(false, "at first")
	for name, leave := range map[string]func(){
		"an agent":           b.enter(&exchange{role: roleAgent}, ""),
		"one session's":      b.enter(&exchange{role: rolePerson}, "s1"),
		"a collector's":      b.enter(&exchange{role: rolePerson, claim: figures}, ""),
		"nobody's, that is:": b.enter(&exchange{}, ""),
	} {
		want(false, name)
		leave()
		want(false, name+" after it left")
	}
	first, second := b.enter(&exchange{role: rolePerson}, ""), b.enter(&exchange{role: rolePerson, claim: "console"}, "")
	first()
	first()
	want(true, "while one of two is open")
	second()
	now = now.Add(inboxGrace - time.Second)
	want(true, "shortly after")
	now = now.Add(time.Second)
	want(false, "a minute after")
}
