package server

import (
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

func TestInbox(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	b := newInbox(func() time.Time { return now })
	wantIn := func(project umpire.ProjectID, attended bool, when string) {
		t.Helper()
		if b.attended(func() umpire.ProjectID { return project }) != attended {
			t.Errorf("%s: attended %t, want %t", when, !attended, attended)
		}
	}
	want := func(attended bool, when string) {
		t.Helper()
		wantIn("p", attended, when)
	}
	want(false, "at first")
	for name, leave := range map[string]func(){
		"an agent":           b.enter(&exchange{role: roleAgent}, umpire.Filter{}),
		"one session's":      b.enter(&exchange{role: rolePerson}, umpire.Filter{Session: "s1"}),
		"nobody's, that is:": b.enter(&exchange{}, umpire.Filter{}),
	} {
		want(false, name)
		leave()
		want(false, name+" after it left")
	}
	first, second := b.enter(&exchange{role: rolePerson}, umpire.Filter{}), b.enter(&exchange{role: rolePerson, claim: "console"}, umpire.Filter{})
	first()
	first()
	want(true, "while one of two is open")
	second()
	now = now.Add(inboxGrace - time.Second)
	want(true, "shortly after")
	now = now.Add(time.Second)
	want(false, "a minute after")

	chat := b.enter(&exchange{role: rolePerson}, umpire.Filter{Project: "a"})
	wantIn("a", true, "in the project of a chat")
	wantIn("b", false, "in another project than the chat's")
	chat()
	wantIn("a", true, "shortly after the chat")
	now = now.Add(inboxGrace)
	wantIn("a", false, "a minute after the chat")
}
