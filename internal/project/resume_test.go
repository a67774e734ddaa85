package project

import (
	"errors"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

const (
	here   = umpire.ProjectID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	there  = umpire.ProjectID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
	former = umpire.ProjectID("cccccccccccccccccccccccccccccccccccccccc")
)

// N-22 to N-24, N-74: which sessions may be continued, and from where.
func TestGuards(t *testing.T) {
	t.Parallel()
	place := &Project{ID: here, Former: former}
	place.Root = "/here"
	for _, tt := range []struct {
		name    string
		session umpire.Session
		leave   bool
		resume  error
		crossed bool
		fork    error
	}{
		{name: "of this project", session: umpire.Session{Project: here}},
		{name: "of this project before its first commit", session: umpire.Session{Project: former}},
		{name: "of this folder by another id", session: umpire.Session{Project: there, Root: "/here"}},
		{name: "of no project", session: umpire.Session{}},
		{name: "of another project", session: umpire.Session{Project: there}, resume: umpire.ErrOtherProject, fork: umpire.ErrOtherProject},
		{name: "of another project, with leave", session: umpire.Session{Project: there}, leave: true, crossed: true, fork: umpire.ErrOtherProject},
		{name: "ended", session: umpire.Session{Project: here, State: umpire.SessionOver}, resume: umpire.ErrState},
		{name: "ended, of another project, with leave", session: umpire.Session{Project: there, State: umpire.SessionOver}, leave: true, resume: umpire.ErrState, fork: umpire.ErrOtherProject},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.session.ID = "s1"
			crossed, err := place.CheckResume(&tt.session, tt.leave)
			if crossed != tt.crossed || !errors.Is(err, tt.resume) {
				t.Errorf("Resume gave %t, %v", crossed, err)
			}
			if err := place.CheckFork(&tt.session); !errors.Is(err, tt.fork) {
				t.Errorf("Fork gave %v", err)
			}
		})
	}
}

// N-25 to N-27, N-67: the refusal names the session, both projects and the next step.
func TestRefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := (&Project{ID: here}).CheckResume(&umpire.Session{ID: "b1", Project: there}, false)
	for _, want := range []string{"b1", "aaaaaaaaaaaa", "bbbbbbbbbbbb", "--allow-cross-project-session"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if strings.Contains(err.Error(), string(here)) {
		t.Errorf("%q has the whole id", err)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for id, want := range map[umpire.SessionID]string{
		"s-1_a.b:c":   "s-1_a.b:c",
		"":            "",
		"two words":   `"two words"`,
		"line\nbreak": `"line\nbreak"`,
		"\x1b[2J":     `"\x1b[2J"`,
		"\u202egnp":   `"\u202egnp"`,
		umpire.SessionID(strings.Repeat("x", 300)): strings.Repeat("x", 100),
	} {
		if got := PrintableID(id); got != want {
			t.Errorf("Printable(%q) is %s, want %s", id, got, want)
		}
	}
}
