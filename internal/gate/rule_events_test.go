package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// A changedRule is a rule as an event tells it.
type changedRule struct {
	Action string `json:"action"`
	Rule   string `json:"rule"`
	Scope  string `json:"scope"`
}

// rulesTold returns the rule changes on the timeline: their authors, and the added and removed rules.
func (d *testGate) rulesTold() (told []string) {
	d.t.Helper()
	for _, e := range must(d.Events(d.t.Context(), umpire.Filter{}))(d.t) {
		if e.Kind != umpire.EventRulesChanged {
			continue
		}
		var changed struct {
			Added   []changedRule `json:"added"`
			Removed []changedRule `json:"removed"`
			By      umpire.Actor  `json:"by"`
		}
		if err := json.Unmarshal(e.Data, &changed); err != nil {
			d.t.Fatal(err)
		}
		text := e.Actor + "/" + changed.By.Client
		for _, r := range changed.Added {
			text += " +" + r.Action + " " + r.Rule + " " + r.Scope
		}
		for _, r := range changed.Removed {
			text += " -" + r.Action + " " + r.Rule + " " + r.Scope
		}
		told = append(told, text)
	}
	return told
}

// One author, one event: a project's timeline has a change once, however often the gate holds it.
// Another project that the file is for also gets it, with its author.
func TestAChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.be.config.Follow = true
	all := []*Project{
		must(d.projects.Project(d.project))(t), must(d.projects.projectOf(d.project, []string{t.TempDir()}))(t), must(d.projects.Project(t.TempDir()))(t),
	}
	read := func() {
		t.Helper()
		for _, p := range all {
			if err := d.projects.recordOutsideChange(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
	}
	ann, bob := umpire.Actor{Name: "ann", Client: "cli"}, umpire.Actor{Name: "bob", Client: "cli"}
	rule := func(prefix string) umpire.Rule {
		return umpire.Rule{ID: umpire.RuleID(prefix), Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: prefix}}
	}
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, rule("one"), ann))(t)
	read()
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, rule("two"), bob))(t)
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, rule("three"), ann))(t)
	read()
	must(d.rules.Add(t.Context(), d.project, umpire.ScopeGlobal, rule("four"), ann))(t)
	read()
	file := filepath.Join(d.project, ".umpire", "permissions.json")
	if err := os.WriteFile(file, []byte(`{"version":1,"rules":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	read()
	read()
	want := []string{
		"ann/cli +deny Bash(one:*) project", "bob/cli +deny Bash(two:*) project", "ann/cli +deny Bash(three:*) project",
		"ann/cli +deny Bash(four:*) global", "ann/cli +deny Bash(four:*) global",
		"/ -deny Bash(one:*) project -deny Bash(two:*) project -deny Bash(three:*) project",
	}
	if diff := cmp.Diff(want, d.rulesTold()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every change of the rules is on the timeline with the rule itself and its author, also
// when the gate follows the files and when it reads them once.
func TestRuleChangesHaveAnAuthor(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string]bool{"read once": false, "followed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			d.be.config.Follow = follow
			ann := umpire.Actor{Name: "ann", Client: "cli"}
			rule := umpire.Rule{ID: "mk", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "make"}}
			must(d.rules.Add(t.Context(), d.project, umpire.ScopeProject, rule, ann))(t)
			if err := d.rules.Remove(t.Context(), d.project, umpire.ScopeProject, "mk", ann); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(d.project, ".umpire", "permissions.json")
			written := `{"version":1,"rules":[{"id":"e","action":"ask","tool":"Edit"}]}`
			if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
				t.Fatal(err)
			}
			p := must(d.projects.Project(d.project))(t)
			p.reload()
			if err := d.projects.recordOutsideChange(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			want := []string{"ann/cli +deny Bash(make:*) project", "ann/cli -deny Bash(make:*) project", "/ +ask Edit project"}
			got := d.rulesTold()
			if len(got) != len(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("change %d: got %q, want %q", i, got[i], want[i])
				}
			}
		})
	}
}
