package rulefile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func TestClaudeYAML(t *testing.T) {
	t.Parallel()
	l := userLayer(t, `# the three lists
always_allow:
  - tool: Read
    paths: ["src/**", ./docs/]
  - tool: LS
  - {tool: Bash, commands: ["go test:*", "make *x"]}
  - {tool: Grep, paths: ["a"], only: weekdays}
always_deny:
  - tool: Bash
    commands: ["rm -rf /"]
  - {tool: Edit, paths: ["*.lock"]}
always_ask:
  - tool: Bash
    commands: ["rm *", "git push*", "git * main", "dd*", "* --force"]
always_warn: []
`)
	l.Format = FormatClaudeYAML
	set := Load([]Layer{l}, nil, testOptions())
	want := []string{
		"allow Read src/**", "allow Read docs/**", "allow LS", "allow Bash go test",
		"deny Bash rm -rf /", "deny Edit *.lock",
		"ask Bash rm", "ask Bash git push", "ask Bash git", "ask Bash git", "ask Bash dd", "ask Bash", "ask Bash",
	}
	if diff := cmp.Diff(want, brief(set.Rules)); diff != "" {
		t.Errorf("C-15 C-16 C-17 C07:\n%s", diff)
	}
	if r := set.Rules[4]; r.Line != 10 || r.Source != umpire.SourceUser {
		t.Errorf("place %d, source %s", r.Line, r.Source)
	}
	if f := set.Files[0]; f.Inert != 1 || len(f.Problems) != 3 || f.Problems[0].Line != 6 {
		t.Errorf("inert %d, problems %v", f.Inert, f.Problems)
	}
}

func TestClaudeYAMLBroken(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"tabs":            "always_deny:\n\t- tool: Bash",
		"a list":          "- tool: Bash",
		"a text":          "always_deny: Bash",
		"twice":           "always_deny: []\nalways_deny: []",
		"aliases":         "a: &a [x]\nalways_deny: [*a]",
		"two documents":   "always_deny: []\n---\nalways_deny: []",
		"too large":       "# " + strings.Repeat("x", maxYAMLSize),
		"invalid UTF-8":   "a: \xff",
		"deep":            "a: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		"exploding alias": "a: &a [1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := userLayer(t, content)
			l.Format = FormatClaudeYAML
			set := Load([]Layer{l}, nil, testOptions())
			if set.Degraded == "" || len(set.Files[0].Problems) != 1 {
				t.Errorf("files %+v", set.Files)
			}
		})
	}
	for _, content := range []string{"", "# nothing\n", "always_deny:\n"} {
		l := userLayer(t, content)
		l.Format = FormatClaudeYAML
		if set := Load([]Layer{l}, nil, testOptions()); set.Degraded != "" || len(set.Rules) != 0 {
			t.Errorf("%q: files %+v", content, set.Files)
		}
	}
}

func TestClaudeSettings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	content := `{"model": "x", "permissions": {
  "allow": ["Bash(npm test:*)", "Bash(npm run *)", "Bash(git status)", "Read(/src/**)", "Read(//opt/x/**)", "WebFetch(domain:pkg.go.dev)", "mcp__github", "Skill(x)"],
  "deny": ["Bash(curl:*)", "Read(./.env)", "Read(./conf/key)", "Read(secrets/)", "Agent(x)"],
  "ask": ["Bash(git push)", 7],
  "defaultMode": "plan"}, "hooks": {}}`
	l := Layer{Source: umpire.SourceProject, Root: root, Format: FormatClaudeSettings, Path: write(t, filepath.Join(root, ".claude", "settings.json"), content)}
	o := testOptions()
	o.Trust = Trust{Path: filepath.Join(t.TempDir(), "trust.json")}
	if err := o.Trust.Grant(root, l.Path, hashOf([]byte(content))); err != nil {
		t.Fatal(err)
	}
	set := Load([]Layer{l}, nil, o)
	want := []string{
		"deny Bash curl", "deny Read .env", "deny Read conf/key", "deny Read conf/key/**", "deny Read secrets/**", "ask Agent",
		"ask Bash git push",
		"allow Bash npm test", "allow Bash npm run", "allow Bash =git status", "allow Read src/**", "allow Read /opt/x/**", "allow WebFetch pkg.go.dev", "allow mcp__github__*",
	}
	if diff := cmp.Diff(want, brief(set.Rules)); diff != "" {
		t.Error(diff)
	}
	if f := set.Files[0]; f.Health != HealthDegraded || set.Degraded == "" || len(f.Problems) != 3 {
		t.Errorf("health %s, degraded %q, problems %v", f.Health, set.Degraded, f.Problems)
	}
	for name, content := range map[string]string{
		"no block": `{"model": "x"}`, "empty block": `{"permissions": {}}`,
	} {
		if doc, problem := parseFile(l, []byte(content), o); problem != nil || len(doc.rules) != 0 {
			t.Errorf("%s: %v", name, problem)
		}
	}
	for _, content := range []string{
		`{"permissions": []}`, `{"permissions": {"deny": "Bash"}}`, `{"permissions": {}, "permissions": {}}`, `{"permissions": {"deny": [], "deny": []}}`,
	} {
		if _, problem := parseFile(l, []byte(content), o); problem == nil {
			t.Errorf("%s is understood", content)
		}
	}
}
