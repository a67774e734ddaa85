package policy

import (
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// decideLine decides a command line in a Bash call.
func decideLine(t *testing.T, line string, rules ...umpire.Rule) umpire.Decision {
	t.Helper()
	return decideIn(t, umpire.ModeDefault, line, rules...)
}

func decideIn(t *testing.T, mode umpire.Mode, line string, rules ...umpire.Rule) umpire.Decision {
	t.Helper()
	p, err := New(rules, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	q := lineQuery(t, line)
	q.Mode = mode
	return Decide(p, q)
}

// TestRowsSystemInfo: looking up installed packages and system information runs unasked. A registry that
// the project may choose asks, and so does printing the whole environment with its secrets.
func TestRowsSystemInfo(t *testing.T) {
	t.Parallel()
	for want, lines := range map[umpire.Verdict][]string{
		umpire.Allow: {
			"npm list", "yarn list", "yarn why react", "pnpm ls", "pnpm why react", "bun pm ls", "npm view react",
			"npm outdated", "yarn info react",
			"which go", "whoami", "uname -a", "node --version", "npm --version", "python --version", "printenv HOME",
			"env -u A whoami", "env -i",
		},
		umpire.Ask: {
			"npm outdated --all", "yarn info react --registry=https://example.test", "npm view react --registry=https://example.test",
			"env", "env FOO=1", "printenv", "env make x", "env bash -c 'make x'", "env -S 'make x'",
		},
	} {
		for _, line := range lines {
			q := lineQuery(t, line)
			q.Mode, q.Sandbox.Held = umpire.ModeDefault, true // the sandbox confines the project's settings
			if d := Decide(newPolicy(t, testOptions), q); d.Verdict != want {
				t.Errorf("%s: %s (%s), want %s", line, d.Verdict, d.Reason, want)
			}
		}
	}
}

// lineQuery returns the query about a command line, with its paths resolved to themselves.
func lineQuery(t *testing.T, line string) Query {
	t.Helper()
	call := umpire.Call{ID: "c", Tool: "Bash", Input: []byte(`{"command":` + strconv.Quote(line) + `}`), Dir: testRoot}
	facts, err := FactsOf(call, shell.Env{Dir: testRoot, Home: testOptions.Home})
	if err != nil {
		t.Fatal(err)
	}
	for i := range facts.Accesses {
		a := &facts.Accesses[i]
		if !a.Paths() || a.Target == "" {
			continue
		}
		a.Resolved, a.Place = path.Clean(a.Target), umpire.PlaceOutside
		switch {
		case strings.HasPrefix(a.Resolved+"/", testRoot+"/"):
			a.Place = umpire.PlaceInside
		case a.Resolved == "/dev/null":
			a.Place = umpire.PlaceHarmless
		}
	}
	return Query{Call: call, Facts: facts}
}

func allowOf(t *testing.T, short string, limit umpire.Cap) umpire.Rule {
	t.Helper()
	r, err := ParseShort(short)
	if err != nil {
		t.Fatal(err)
	}
	r.Action, r.Cap, r.Source = umpire.Allow, limit, umpire.SourceUser
	return r
}

// A rule for one whole command matches exactly the same words.
func TestWholeCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, line string
		want       umpire.Verdict
	}{
		{"git push origin main", "git push origin main", allow},
		{"git push origin main", `git push "origin" 'main'`, allow},
		{"git push origin main", `git p"u"sh origin main 2>/dev/null`, allow},
		{"git push origin main", "git push origin main --force", ask},
		{"git push origin main", "git push origin main --delete", ask},
		{"git push origin main", "git push --mirror origin main", ask},
		{"git push origin main", "git push upstream main", ask},
		{"git push origin main", "git push origin", ask},
		{"git push origin main", "git -C /q push origin main", ask},
		{"git push origin main", "git push origin main; git push origin dev", ask},
		{"git push origin main", "git push origin $X", ask},
		{"git -C sub push origin main", "git -C sub push origin main", allow},
		{"npm install react", "npm install react evil", ask},
		{"rm -rf node_modules/", "rm -rf node_modules/ src", ask},
		{"mkdir build", "mkdir build", allow},
		{"mkdir '*'", "mkdir *", ask},
		{"gofmt -w *.go", "gofmt -w '*.go'", ask},
	} {
		rule := umpire.Rule{ID: "r", Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{Command: tt.rule}, Source: umpire.SourceUser}
		if d := decideLine(t, tt.line, rule); d.Verdict != tt.want {
			t.Errorf("=%s: %s: %s %q, want %s", tt.rule, tt.line, d.Verdict, d.Reason, tt.want)
		}
	}
	refuse := umpire.Rule{ID: "r", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{Command: "git status"}, Source: umpire.SourceUser}
	for line, want := range map[string]umpire.Verdict{
		"git status": deny, "git -C sub status": deny, "/usr/bin/git status": deny, "true; git status": deny, "git status -s": allow,
	} {
		if d := decideLine(t, line, refuse); d.Verdict != want {
			t.Errorf("deny =git status: %s: %s, want %s", line, d.Verdict, want)
		}
	}
}

// A cap covers only its options and consequences.
func TestCap(t *testing.T) {
	t.Parallel()
	shown := umpire.Cap{Options: umpire.OptionsShown}
	for _, tt := range []struct {
		rule string
		cap  umpire.Cap
		line string
		want umpire.Verdict
	}{
		{"Bash(git commit:*)", shown, "git commit -m x", allow},
		{"Bash(git commit:*)", shown, "git commit -am 'a b' --signoff", allow},
		{"Bash(git commit:*)", shown, "git commit --no-verify -m x", ask},
		{"Bash(git commit:*)", shown, "git commit -nm x", ask},
		{"Bash(git commit:*)", shown, "git commit --amend", ask},
		{"Bash(git commit:*)", shown, "git commit --ame", ask},
		{"Bash(git commit:*)", shown, "git -c core.hooksPath=x commit -m x", ask},
		{"Bash(git push origin:*)", shown, "git push origin dev", allow},
		{"Bash(git push origin:*)", shown, "git push origin dev -f", ask},
		{"Bash(git push origin:*)", shown, "git push origin +dev", ask},
		{"Bash(git push origin:*)", shown, "git push origin :dev", ask},
		{"Bash(git push origin:*)", shown, "git push origin --delete dev", ask},
		{"Bash(git push origin:*)", shown, "git push origin $X", ask},
		{"Bash(git push origin:*)", shown, `git push origin "$(cat x)"`, ask},
		{"Bash(git push origin:*)", shown, `git push origin "release/$X"`, allow},
		{"Bash(git push origin:*)", shown, "git push origin main *", ask},
		{"Bash(git push origin:*)", shown, "read X; git push origin main $X", ask},
		{"Bash(git push origin:*)", shown, `git push origin "${X:---force}"`, ask},
		{"Bash(git push origin:*)", shown, "xargs git push origin", ask},
		{"Bash(git fetch origin:*)", shown, "xargs git fetch origin", ask},
		{"Bash(git fetch origin:*)", shown, "git fetch origin --up$X", ask},
		{"Bash(git add:*)", shown, "git add *.go src/*", allow},
		{"Bash(gofmt -w:*)", shown, "gofmt -w internal", allow},
		{"Bash(gofmt -w:*)", shown, "gofmt -w /q/x", ask},
		{"Bash(chmod:*)", shown, "chmod +x x.sh", allow},
		{"Bash(chmod:*)", shown, "chmod 0755 x.sh", allow},
		{"Bash(chmod:*)", shown, "chmod u+s x.sh", ask},
		{"Bash(chmod:*)", shown, "chmod 4755 x.sh", ask},
		{"Bash(chmod:*)", shown, "chmod 06755 x.sh", ask},
		{"Bash(chmod:*)", shown, "chmod $M x.sh", ask},
		{"Bash(sort:*)", shown, "sort --compress-program=./x a", ask},
	} {
		if d := decideLine(t, tt.line, allowOf(t, tt.rule, tt.cap)); d.Verdict != tt.want {
			t.Errorf("%s %+v: %s: %s %q, want %s", tt.rule, tt.cap, tt.line, d.Verdict, d.Reason, tt.want)
		}
	}
}

// A grant for a folder or for a tool does not cover the secrets there; one for the very file
// does.
func TestGrantsAndSecrets(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions)
	for _, tt := range []struct {
		grant umpire.Grant
		path  string
		want  umpire.Verdict
	}{
		{umpire.Grant{Tool: "Read", Match: umpire.Match{PathGlob: "/q/**"}}, "/q/a", allow},
		{umpire.Grant{Tool: "Read", Match: umpire.Match{PathGlob: "/q/**"}}, "/q/.env", ask},
		{umpire.Grant{Tool: "Read", Match: umpire.Match{PathGlob: "/q/.env"}}, "/q/.env", allow},
		{umpire.Grant{Tool: "Read"}, ".env", ask},
	} {
		tt.grant.Scope = umpire.ScopeSession
		q := query("Read", read(tt.path))
		q.Grants = []umpire.Grant{tt.grant}
		if d := Decide(p, q); d.Verdict != tt.want {
			t.Errorf("%+v: %s: %s %q, want %s", tt.grant.Match, tt.path, d.Verdict, d.Reason, tt.want)
		}
	}
	q := query("Bash", exec("/q/run.sh", umpire.Medium))
	q.Grants = []umpire.Grant{{Scope: umpire.ScopeSession, Tool: "Read", Match: umpire.Match{PathGlob: "/q/**"}}}
	if d := Decide(p, q); d.Verdict != ask {
		t.Errorf("a folder to read runs a program: %s", d.Verdict)
	}
}
