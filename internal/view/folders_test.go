package view

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A path in the home begins with "~/", and no other path does.
func TestFoldersShortenTargets(t *testing.T) {
	t.Parallel()
	inside, outside := umpire.PlaceInside, umpire.PlaceOutside
	for _, tt := range []struct {
		root, home, target string
		place              umpire.Place
		want               string
	}{
		{"/home/me/p", "/home/me", "/home/me/p/a/b", inside, "a/b"},
		{"/home/me/p", "/home/me", "/home/me/notes", outside, "~/notes"},
		{"/home/me/p", "/home/me/", "/home/me", outside, "~"},
		{"/home/me/p", "/home/me", "/home/meg/notes", outside, "/home/meg/notes"},
		{"/p", "/home/me", "/p/~/notes", inside, "/p/~/notes"},
		{"/home/me/p", "/home/me", "/home/me/p/~/notes", inside, "~/p/~/notes"},
		{"/home/me/p", "/home/me", "~/notes", outside, `"~/notes"`},
		{"/p", "/", "/etc/hosts", outside, "/etc/hosts"},
		{"/p", "", "/etc/hosts", outside, "/etc/hosts"},
	} {
		a := &umpire.Access{Kind: umpire.KindRead, Target: tt.target, Place: tt.place}
		if got := (Folders{tt.root, tt.home}).Target(a); got != tt.want {
			t.Errorf("%s in %s of %s: %s, want %s", tt.target, tt.root, tt.home, got, tt.want)
		}
	}
	f := Folders{Home: "/home/me"}
	for text, want := range map[string]string{
		"/home/me/a: no such file":      "~/a: no such file",
		"runs the code of /home/me/a/b": "runs the code of ~/a/b",
		"reads /mnt/home/me/a":          "reads /mnt/home/me/a",
		"在项目之外：/home/me/a":              "在项目之外：~/a",
	} {
		if got := f.shorten(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The reason does not repeat that a path lies outside if the headline says so, and shortens paths like the headline.
func TestExplainShortensBoth(t *testing.T) {
	t.Parallel()
	read := umpire.Access{
		Kind: umpire.KindRead, Target: "/home/me/notes", Resolved: "/home/me/notes", Verdict: umpire.Ask,
		Place: umpire.PlaceOutside,
	}
	in := Folders{"/home/me/p", "/home/me"}
	d := umpire.Decision{
		Verdict: umpire.Ask, Reason: umpire.Say(policy.OutsideProject, "/home/me/notes"),
		ReasonCode: umpire.CodeExternalDirectory, Accesses: []umpire.Access{read},
	}
	said, why := Explain(&d, in, catalogue.English)
	if want := "reads ~/notes, outside the project"; said != want || why != "" {
		t.Errorf("%q because %q, want %q", said, why, want)
	}
	d.Reason, d.ReasonCode = umpire.Say("No rule covers %s yet", "/home/me/notes"), umpire.CodeRule
	if _, why = Explain(&d, in, catalogue.English); why != "No rule covers ~/notes yet" {
		t.Errorf("because %q", why)
	}
}
