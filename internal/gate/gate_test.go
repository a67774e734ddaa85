package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A place is a gate with a home and a project of a test's own.
type place struct {
	*Gate

	home, project string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{home: t.TempDir(), project: t.TempDir()}
	p.Gate = New(Config{UserHome: p.home, Home: filepath.Join(p.home, ".umpire")})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *place) call(tool, input string) policy.Query {
	return policy.Query{Call: umpire.Call{Tool: tool, Input: json.RawMessage(input), Dir: p.project}, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
}

func (p *place) userRules(t *testing.T, rules string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(p.home, ".umpire"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".umpire", "permissions.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheckGrants(t *testing.T) {
	t.Parallel()
	once := umpire.Grant{Scope: umpire.ScopeOnce, Tool: "Write"}
	session := umpire.Grant{Scope: umpire.ScopeSession, Tool: "Edit"}
	for _, tt := range []struct {
		name, tool, input string
		grants            []umpire.Grant
		allowAll          bool
		want              umpire.Verdict
		reason            string
	}{
		{"M-04 once", "Write", `{"path":"test.ts"}`, []umpire.Grant{once}, false, umpire.Allow, "Allowed once by user"},
		{"M-04 session", "Edit", `{"path":"test.ts"}`, []umpire.Grant{session}, false, umpire.Allow, "Allowed for this session"},
		{"M-04 allowAll", "GitPush", `{}`, nil, true, umpire.Allow, "All tools allowed (allowAll)"},
		{"M-04 all three, once", "Write", `{}`, []umpire.Grant{once, session}, true, umpire.Allow, "Allowed once by user"},
		{"M-04 all three, session", "Edit", `{}`, []umpire.Grant{once, session}, true, umpire.Allow, "Allowed for this session"},
		{"M-04 all three, the rest", "GitPush", `{}`, []umpire.Grant{once, session}, true, umpire.Allow, "All tools allowed (allowAll)"},
		{"a grant is for its tool", "Edit", `{"path":"test.ts"}`, []umpire.Grant{once}, false, umpire.Ask, `Tool "Edit" requires approval (moderate)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			r := p.call(tt.tool, tt.input)
			r.Grants, r.AllowAll = tt.grants, tt.allowAll
			if d := p.projects.Decide("", r); d.Verdict != tt.want || catalogue.English.Text(d.Reason) != tt.reason {
				t.Errorf("%v %q, want %v %q", d.Verdict, d.Reason, tt.want, tt.reason)
			}
		})
	}
}

func TestCheckDenyBeatsGrants(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.userRules(t, `{"version": 1, "rules": [{"id": "d1", "action": "deny", "tool": "Write"}]}`)
	r := p.call("Write", `{"path":"test.ts"}`)
	r.Grants = []umpire.Grant{{Scope: umpire.ScopeOnce, Tool: "Write"}, {Scope: umpire.ScopeSession, Tool: "Write"}}
	r.AllowAll = true
	d := p.projects.Decide("", r)
	if d.Verdict != umpire.Deny || d.Reason != umpire.Say("Denied by rule: %s", "d1") || d.Rule == nil ||
		d.Rule.ID != "d1" {
		t.Errorf("M-06: %v %q %v", d.Verdict, d.Reason, d.Rule)
	}
}

// TestCheckFailsClosed: if anything is missing or broken, no call that changes something is
// allowed.
func TestCheckFailsClosed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	nowhere := p.call("Bash", `{"command":"ls"}`)
	nowhere.Call.Dir = ""
	for name, r := range map[string]policy.Query{
		"zero": {}, "no folder": nowhere, "input of another type": p.call("Bash", `[]`),
		"input is not JSON": p.call("Bash", `{`),
	} {
		if d := p.projects.Decide("", r); d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodeInvalid {
			t.Errorf("%s: %v %s %q", name, d.Verdict, d.ReasonCode, d.Reason)
		}
	}
	t.Run("a broken rule file turns allowAll off", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.userRules(t, `{"version": 1, "rules": [`)
		r := p.call("Write", `{"path":"test.ts"}`)
		r.AllowAll = true
		if d := p.projects.Decide("", r); d.Verdict == umpire.Allow {
			t.Errorf("allowed: %q", d.Reason)
		}
	})
}

// TestFaultDenies: a fault of umpire's own denies the call, in every mode, and
// the gate decides the next one.
func TestFaultDenies(t *testing.T) {
	t.Parallel()
	faulty := true
	g := New(Config{Now: func() time.Time {
		if faulty {
			panic("no clock")
		}
		return time.Time{}
	}})
	request := policy.Query{Call: umpire.Call{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Dir: t.TempDir()}, Conditions: policy.Conditions{Mode: umpire.ModeBypass}}
	d := g.projects.Decide("", request)
	if d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodeInvalid || !strings.Contains(fmt.Sprint(d.Reasons), "internal error: no clock") {
		t.Errorf("got %s %s %+v", d.Verdict, d.ReasonCode, d.Reasons)
	}
	faulty = false
	if d := g.projects.Decide("", request); d.Verdict != umpire.Allow {
		t.Errorf("the next call: %s %s", d.Verdict, d.Reason)
	}
}
