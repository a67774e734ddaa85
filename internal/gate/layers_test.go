package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// userFile writes the user's rules.
func (d *testGate) userFile(text string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".umpire")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "permissions.json"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// C-78, C-79: deny rules and built-in rules override allow rules, then come auto mode's memory and
// the person, with a warning about destructive calls.
func TestLayers(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Mode = umpire.ModeAuto
	d.userFile(`{"version": 1, "rules": [
		{"id": "a", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "make build"}},
		{"id": "n", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "make build deploy"}},
		{"id": "wide", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "rm -rf /"}}]}`)
	s := d.session(umpire.Opening{})
	for i, test := range []struct {
		line  string
		state umpire.CallState
		code  umpire.ReasonCode
	}{
		{"make build", umpire.CallApproved, umpire.CodeRule},
		{"make build deploy", umpire.CallDone, umpire.CodeBlocked},
		{"rm -rf /", umpire.CallDone, umpire.CodeCritical},
		{"make remembered", umpire.CallApproved, umpire.CodeRemembered},
		{"make other", umpire.CallAsked, umpire.CodeMode},
	} {
		id := string(rune('a' + i))
		if test.code == umpire.CodeRemembered {
			d.submit(s, "before", command("before", test.line))
			d.run(s, d.approve("before", umpire.ScopeOnce))
		}
		b := d.submit(s, id, command(id, test.line))
		if c := b.Call(umpire.CallID(id)); c.State != test.state || c.Code != test.code {
			t.Errorf("%s is %s (%s), want %s (%s)", test.line, c.State, c.Code, test.state, test.code)
		}
		if test.state != umpire.CallAsked {
			d.run(s, b)
		}
	}
	if d.pending("e").Warning {
		t.Error("what destroys nothing is warned of")
	}
	ask := umpire.ModeAsk
	other := d.session(umpire.Opening{Mode: &ask})
	d.submit(other, "z", command("z", "rm -rf node_modules/"))
	if !d.pending("z").Warning {
		t.Error("what destroys is not warned of")
	}
}

// C-40, C-41, C-42, X-24: granted, or refused with one of four words.
func TestOutcomesOfACall(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.userFile(`{"version": 1, "rules": [{"id": "n", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "make no"}}]}`)
	s, alone := d.session(umpire.Opening{}), d.session(umpire.Opening{Headless: true})
	if b := d.submit(s, "1", command("c1", "ls")); b.Call("c1").Verdict != umpire.Allow || len(d.run(s, b)) != 1 {
		t.Errorf("granted: %+v", b.Call("c1"))
	}
	d.submit(s, "2", command("c2", "make no"))
	d.submit(s, "3", command("c3", "make x"))
	d.refuse("c3", "")
	d.submit(alone, "4", command("c4", "make x"))
	d.submit(s, "5", command("c5", "make y"))
	must(d.Resolve(t.Context(), answerTo(d.pending("c5"), umpire.Cancel)))(t)
	for id, want := range map[umpire.CallID]umpire.ReasonCode{
		"c2": umpire.CodeBlocked, "c3": umpire.CodeDenied, "c4": umpire.CodeAutoDeny, "c5": umpire.CodeCancelled,
	} {
		of := s.ID
		if id == "c4" {
			of = alone.ID
		}
		b := must(d.Batch(t.Context(), of, umpire.BatchID(id[1:])))(t)
		if r := b.Call(id).Result; r == nil || r.Code != want || r.Status == umpire.ResultOK {
			t.Errorf("%s: %+v, want %s", id, r, want)
		}
	}
}

// MP-33: what allowAll was set to outlives the process that set it. MP-37, X-09: it lifts no
// deny rule, and reaches no path outside.
func TestAllowAllStays(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.userFile(`{"version": 1, "rules": [{"id": "n", "action": "deny", "tool": "Write", "match": {"pathGlob": "*.lock"}}]}`)
	before := d.session(umpire.Opening{})
	must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: before.ID, AllowAll: new(true)}))(t)
	d.shut()
	d.open()
	s := d.session(umpire.Opening{})
	b := d.submit(s, "1", write("w1", d.file("a")), write("w2", d.file("yarn.lock")), write("w3", filepath.Join(t.TempDir(), "x")))
	for id, want := range map[umpire.CallID]umpire.Verdict{"w1": umpire.Allow, "w2": umpire.Deny, "w3": umpire.Ask} {
		if got := b.Call(id).Verdict; got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// MP-34: without any file, writing asks. MP-35: the list of older clients is still there.
// MP-36: deny rules, allow rules, the session, allowAll, and then the person. MP-38: the
// project's rule is named before the user's, and a deny wins from either.
func TestInheritedFlow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	decide := func(with func(*policy.Query)) umpire.Decision {
		r := p.call("Write", `{"path":"test.ts"}`)
		with(&r)
		return p.projects.Decide("", r)
	}
	if d := decide(func(*policy.Query) {}); d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeMode {
		t.Errorf("MP-34: %s %s", d.Verdict, d.ReasonCode)
	}
	for _, name := range []string{"Bash", "Write", "Edit", "GitCommit", "GitPush", "GitCheckout"} {
		if !slices.Contains(policy.LegacyDangerous, name) { //nolint:staticcheck // tests that it still exists
			t.Errorf("MP-35: %s is missing", name)
		}
	}
	session := []umpire.Grant{{Scope: umpire.ScopeSession, Tool: "Write"}}
	rule := func(action umpire.Verdict, source umpire.Source, id umpire.RuleID) umpire.Rule {
		return umpire.Rule{ID: id, Action: action, Tool: "Write", Source: source}
	}
	deny, allow := rule(umpire.Deny, umpire.SourceUser, "d"), rule(umpire.Allow, umpire.SourceUser, "a")
	for _, test := range []struct {
		name     string
		rules    []umpire.Rule
		grants   []umpire.Grant
		allowAll bool
		want     umpire.ReasonCode
		rule     umpire.RuleID
	}{
		{"deny before allow", []umpire.Rule{allow, deny}, session, true, umpire.CodeBlocked, "d"},
		{"allow before the session", []umpire.Rule{allow}, session, true, umpire.CodeRule, "a"},
		{"the session before allowAll", nil, session, true, umpire.CodeSession, ""},
		{"allowAll before asking", nil, nil, true, umpire.CodeAllowAll, ""},
		{"MP-38 the project's first", []umpire.Rule{allow, rule(umpire.Allow, umpire.SourceProject, "p")}, nil, false, umpire.CodeRule, "p"},
		{"MP-38 a deny from anywhere", []umpire.Rule{rule(umpire.Allow, umpire.SourceProject, "p"), deny}, nil, false, umpire.CodeBlocked, "d"},
	} {
		g := New(Config{UserHome: p.home, Home: filepath.Join(p.home, ".umpire"), Rules: test.rules})
		r := p.call("Write", `{"path":"test.ts"}`)
		r.Grants, r.AllowAll = test.grants, test.allowAll
		d := g.projects.Decide("", r)
		if d.ReasonCode != test.want || test.rule != "" && (d.Rule == nil || d.Rule.ID != test.rule) {
			t.Errorf("MP-36 %s: %s, rule %+v", test.name, d.ReasonCode, d.Rule)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A host has its own tools, which the built-in agent's list does not cover; one rule for all limits
// the files that edit tools may change, S-67.
func TestProfilesOfHosts(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Profiles = map[string]policy.Profile{
		"main": {Tools: []string{"Read", "filesystem-edit"}, EditableSuffixes: []string{".md"}}, "other": {Tools: []string{"Read"}},
	}
	ls, edit := command("ls", "ls"), call("edit", "filesystem-edit", `{"filePath":"a.py","startLine":1,"endLine":1,"newContent":"x"}`)
	for _, row := range []struct {
		opening  umpire.Opening
		ls, edit umpire.ReasonCode
	}{
		{umpire.Opening{}, umpire.CodeProfile, umpire.CodeSuffix},
		{umpire.Opening{Profile: "other"}, umpire.CodeProfile, umpire.CodeProfile},
		{umpire.Opening{ID: "host", External: true}, umpire.CodeSafe, umpire.CodeSuffix},
		{umpire.Opening{ID: "named", External: true, Profile: "other"}, umpire.CodeProfile, umpire.CodeProfile},
	} {
		b := d.submit(d.session(row.opening), "m1", ls, edit)
		if b.Calls[0].Code != row.ls || b.Calls[1].Code != row.edit {
			t.Errorf("%+v: %s and %s, want %s and %s", row.opening, b.Calls[0].Code, b.Calls[1].Code, row.ls, row.edit)
		}
	}
}
