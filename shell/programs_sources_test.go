package shell

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Every entry states the version and text it was checked against. An entry without such a
// statement must always ask.
func TestEveryEntrySaysWhatItWasCheckedAgainst(t *testing.T) {
	t.Parallel()
	firsts := map[string]*program{}
	for _, family := range families {
		for i := range *family {
			firsts[(*family)[i].name()] = &(*family)[i]
		}
	}
	seen := map[string]string{}
	for _, s := range scan.Sources {
		if !strings.ContainsAny(s.Checked, "0123456789") {
			t.Errorf("%q names no version", s.Checked)
		}
		for name := range strings.FieldsSeq(s.Names) {
			if firsts[name] == nil {
				t.Errorf("%q: %s is not the first name of an entry", s.Checked, name)
			}
			if seen[name] != "" && name != "cmp" {
				t.Errorf("%s was checked against %q and %q", name, seen[name], s.Checked)
			}
			seen[name] = s.Checked
		}
	}
	for name, p := range firsts {
		if seen[name] == "" {
			asksAlways(t, name, p)
		}
	}
}

// asksAlways checks that no use of an entry is harmless.
func asksAlways(t *testing.T, path string, p *program) {
	t.Helper()
	lines := []string{path, path + " x", path + " -x", path + " status", path + " list", path + " show x"}
	for opt := range p.options {
		if opt.does&shows == 0 {
			lines = append(lines, path+" "+opt.names()[0]+" x")
		}
	}
	for _, line := range lines {
		if risk, doubt := worst(line); !risk.AtLeast(umpire.Medium) && !doubt {
			t.Errorf("%s says no version, and %q is %s", path, line, risk)
		}
	}
	for sub := range p.subcommands {
		asksAlways(t, path+" "+sub.name(), sub)
	}
}

func TestDescriptionSaysWhatItWasCheckedAgainst(t *testing.T) {
	t.Parallel()
	git, _ := Describe("git", nil)
	if !strings.HasPrefix(git.Checked, "git 2.") {
		t.Errorf("git was checked against %q", git.Checked)
	}
	own, err := NewKnowledge([]Program{
		{Names: []string{"deployctl"}, Risk: umpire.Low, Why: "x", Checked: "deployctl 3.2, its manual"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := Describe("deployctl", own); p.Checked != "deployctl 3.2, its manual" {
		t.Errorf("%+v", p)
	}
	if _, err := NewKnowledge([]Program{
		{Names: []string{"x"}, Risk: umpire.Low, Why: "x",
			Subs: []Program{{Names: []string{"y"}, Risk: umpire.Low, Why: "y", Checked: "1"}}},
	}); err == nil {
		t.Error("a subcommand says a version of its own")
	}
}
