package gate

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// TestP0DDecisions: an outside path asks, a critical call never runs, and a call of high risk waits
// for a person.
func TestP0DDecisions(t *testing.T) {
	t.Parallel()
	t.Run("boundary_external_directory_detected", func(t *testing.T) {
		t.Parallel()
		d := newTestGate(t)
		s := d.session(umpire.Opening{})
		outside := filepath.Join(d.secondProject(), "x")
		for id, c := range map[string]umpire.Call{
			"read":    call("read", "Read", `{"file_path":`+quoted(outside)+`}`),
			"command": command("command", "cat "+outside),
			"dots":    command("dots", "cat ../x"),
		} {
			b := d.submit(s, "m-"+id, c)
			p := d.pending(id)
			if b.State != umpire.BatchWaiting || p.Type != umpire.ExternalDirectory || p.Code != umpire.CodeExternalDirectory {
				t.Errorf("%s: batch is %s, type %s, code %s", id, b.State, p.Type, p.Code)
			}
			d.refuse(id, "")
			d.run(s, must(d.Batch(t.Context(), s.ID, b.ID))(t))
		}
	})
	t.Run("risk_critical_always_denied", func(t *testing.T) {
		t.Parallel()
		root := repository(t)
		grant := umpire.Grant{Tool: "Bash", Exact: "rm -rf /", Scope: umpire.ScopeOnce}
		for mode := umpire.ModeReject; mode <= umpire.ModeBypass; mode++ {
			r := row{call: bash("rm -rf /"), mode: mode, verdict: umpire.Deny, code: umpire.CodeCritical, with: func(r *policy.Query) {
				r.Grants, r.AllowAll = []umpire.Grant{grant}, true
			}}
			r.check(t, gateWith(t, Config{}, "allow Bash"), root)
		}
	})
	t.Run("risk_high_requires_confirmation", func(t *testing.T) {
		t.Parallel()
		d := newTestGate(t)
		s := d.session(umpire.Opening{})
		if b := d.submit(s, "m1", command("push", "git push origin main")); b.State != umpire.BatchWaiting {
			t.Fatalf("the batch is %s", b.State)
		}
		if p := d.pending("push"); p.Risk != "high" {
			t.Errorf("the risk is %s", p.Risk)
		}
		if start := must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: "push", Epoch: s.Epoch}))(t); start.Go {
			t.Error("it ran before a person confirmed it")
		}
		if ran := d.run(s, d.approve("push", umpire.ScopeOnce)); len(ran) != 1 {
			t.Errorf("after the approval %q ran", ran)
		}
	})
}

// TestP0DSessions: a session stays in its project, unless a person says otherwise.
func TestP0DSessions(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) (d *testGate, a, b umpire.Session) {
		t.Helper()
		d = newTestGate(t)
		a = d.session(umpire.Opening{})
		b = d.session(umpire.Opening{Dir: d.secondProject()})
		return d, a, b
	}
	t.Run("continue_only_within_current_project", func(t *testing.T) {
		t.Parallel()
		d, a, b := open(t)
		for dir, want := range map[string]umpire.SessionID{d.project: a.ID, b.Dir: b.ID} {
			if s := must(d.sessions.Continue(t.Context(), umpire.Resumption{Dir: dir}))(t); s.ID != want {
				t.Errorf("in %s session %s goes on, want %s", dir, s.ID, want)
			}
		}
	})
	t.Run("project_a_resume_returns_a_latest_root_session", func(t *testing.T) {
		t.Parallel()
		d, a, b := open(t)
		latest := d.session(umpire.Opening{})
		d.session(umpire.Opening{Parent: latest.ID})
		d.session(umpire.Opening{Dir: b.Dir})
		if s := must(d.sessions.Continue(t.Context(), umpire.Resumption{Dir: d.project}))(t); s.ID != latest.ID || s.ID == a.ID {
			t.Errorf("session %s goes on, want %s", s.ID, latest.ID)
		}
	})
	t.Run("session_cross_project_denied_by_default", func(t *testing.T) {
		t.Parallel()
		d, a, b := open(t)
		_, err := d.sessions.Continue(t.Context(), umpire.Resumption{ID: b.ID, Dir: d.project})
		if !errors.Is(err, umpire.ErrOtherProject) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{string(b.ID), a.Project.Short(), b.Project.Short(), "--allow-cross-project-session"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		}
	})
	t.Run("session_cross_project_allowed_with_explicit_flag", func(t *testing.T) {
		t.Parallel()
		d, _, b := open(t)
		s := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: b.ID, Dir: d.project, AllowCrossProject: true}))(t)
		if s.ID != b.ID || s.Project != b.Project {
			t.Errorf("session %s of %s goes on", s.ID, s.Project)
		}
		events := must(d.Events(t.Context(), umpire.Filter{Session: b.ID}))(t)
		if last := events[len(events)-1]; !strings.Contains(string(last.Data), `"cross_project":true`) {
			t.Errorf("the override is not on record: %s %s", last.Kind, last.Data)
		}
	})
}
