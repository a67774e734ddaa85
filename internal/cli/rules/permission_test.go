package rules

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/policy"
)

func suggestion(width umpire.Width, tool string, m umpire.Match, scope umpire.Scope) umpire.Suggestion {
	return umpire.Suggestion{Action: umpire.Allow, Tool: tool, Match: m, Width: width, Scope: scope}
}

func TestListOptions(t *testing.T) {
	t.Parallel()
	exact := suggestion(umpire.WidthExact, "Bash", umpire.Match{Command: "git add a"}, umpire.ScopeSession)
	path := suggestion(umpire.WidthExact, "Edit", umpire.Match{PathGlob: "src/a"}, umpire.ScopeSession)
	secret := suggestion(umpire.WidthExact, "Read", umpire.Match{PathGlob: ".env"}, umpire.ScopeGlobal)
	wide := suggestion(umpire.WidthSubcommand, "Bash", umpire.Match{CommandPrefix: "git add"}, umpire.ScopeProject)
	wide.Cap = umpire.Cap{MaxConsequence: umpire.Reversible, Options: umpire.OptionsShown}
	const add = "umpire rules add allow "
	for _, tt := range []struct {
		name     string
		decision umpire.Decision
		all      bool
		want     [][]string
	}{
		{"no rule settles it", umpire.Decision{}, false, nil},
		{
			"rules of one width go together, and each width is an option",
			umpire.Decision{Suggestions: []umpire.Suggestion{exact, path, wide}}, false,
			[][]string{{add + "'Bash(=git add a)'", add + "'Edit(src/a)'"},
				{add + "'Bash(git add:*)' --max-consequence reversible --options shown"}},
		},
		{
			"a level that lets it run",
			umpire.Decision{RaiseTo: "medium", Suggestions: []umpire.Suggestion{path}}, false,
			[][]string{{"umpire autonomy medium"}, {add + "'Edit(src/a)'"}},
		},
		{"a level that tries it", umpire.Decision{RaiseTo: "medium", RaiseTries: true}, false, nil},
		{
			"a rule that only the person's own file can give",
			umpire.Decision{Suggestions: []umpire.Suggestion{secret}}, false,
			[][]string{{add + "'Read(.env)' --scope global"}},
		},
		{
			"a control file can be approved only once",
			umpire.Decision{ReasonCode: umpire.CodeControlFile, Suggestions: []umpire.Suggestion{path}}, false, nil,
		},
		{
			"all projects: commands for all, paths for one",
			umpire.Decision{Suggestions: []umpire.Suggestion{exact, path}}, true,
			[][]string{{add + "'Bash(=git add a)' --scope global", "cd /p && " + add + "'Edit(src/a)'"}},
		},
	} {
		var got [][]string
		for _, set := range listOptions(&tt.decision, "/p", tt.all) {
			var names []string
			for i := range set {
				names = append(names, set[i].commandLine())
			}
			got = append(got, names)
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMostOfAPermission(t *testing.T) {
	t.Parallel()
	rule := func(tool string, m umpire.Match) permission {
		return permission{rule: suggestion(umpire.WidthDefault, tool, m, umpire.ScopeProject)}
	}
	capped := rule("Bash", umpire.Match{CommandPrefix: "git add"})
	capped.rule.MaxConsequence = umpire.Reversible
	for name, tt := range map[string]struct {
		permission permission
		want       umpire.Consequence
	}{
		"the zero value":         {permission{}, umpire.Lost},
		"a cap":                  {capped, umpire.Reversible},
		"one command":            {rule("Bash", umpire.Match{Command: "npm publish"}), umpire.Harmless},
		"commands without a cap": {rule("Bash", umpire.Match{CommandPrefix: "npm"}), umpire.Lost},
		"a host":                 {rule("WebFetch", umpire.Match{Domain: "example.com"}), umpire.Outward},
		"reads":                  {rule("Read", umpire.Match{PathGlob: "/etc/**"}), umpire.Harmless},
		"edits inside":           {rule("Edit", umpire.Match{PathGlob: "src/**"}), umpire.Reversible},
		"edits outside":          {rule("Edit", umpire.Match{PathGlob: "/srv/**"}), umpire.Lost},
		"deletions":              {rule("Delete", umpire.Match{PathGlob: "src/**"}), umpire.Lost},
		"a tool of a server":     {rule("mcp__a__b", umpire.Match{}), umpire.Lost},
		"medium":                 {permission{level: policy.AutonomyMedium}, umpire.Reversible},
		"high":                   {permission{level: policy.AutonomyHigh}, umpire.Outward},
	} {
		if got := tt.permission.most(umpire.Harmless); got != tt.want {
			t.Errorf("%s could allow %s, want %s", name, got, tt.want)
		}
	}
}

func TestApplyOnlyInItsProject(t *testing.T) {
	t.Parallel()
	p := permission{rule: suggestion(umpire.WidthDefault, "Edit", umpire.Match{PathGlob: "a"}, 0), root: "/p"}
	for root, want := range map[string]int{"/p": 1, "/q": 0} {
		var c gate.Config
		if p.apply(root, &c); len(c.Rules) != want {
			t.Errorf("%d rules in %s, want %d", len(c.Rules), root, want)
		}
	}
}
