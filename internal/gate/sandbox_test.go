package gate

import (
	"errors"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/policy"
)

func confined(level umpire.SandboxLevel) *umpire.Confinement {
	c := &umpire.Confinement{Level: level}
	if level != umpire.SandboxFull {
		c.Lacks = "mounts: operation not permitted"
	}
	return c
}

// A runner's abilities and the requirements on it decide together: if the sandbox is unavailable a
// command asks, and never runs without it unasked.
func TestSandboxRequired(t *testing.T) {
	t.Parallel()
	none, weaker, full := umpire.SandboxNone, umpire.SandboxWeaker, umpire.SandboxFull
	for _, tt := range []struct {
		name     string
		settings config.Settings
		runner   *umpire.Confinement
		want     umpire.Verdict
		mode     umpire.SandboxMode
	}{
		{"full", config.Settings{}, confined(full), umpire.Allow, "workspace-write"},
		{"an agent that runs its calls itself", config.Settings{}, nil, umpire.Ask, "workspace-write"},
		{"strict without", config.Settings{}, confined(none), umpire.Ask, "full-access"},
		{"strict with a weaker one", config.Settings{}, confined(weaker), umpire.Ask, "full-access"},
		{"weaker will do", config.Settings{SandboxRequire: config.RequireWeaker}, confined(weaker), umpire.Allow, "workspace-write"},
		{"weaker would do, and there is none", config.Settings{SandboxRequire: config.RequireWeaker}, confined(none), umpire.Ask, "full-access"},
		{"off without", config.Settings{SandboxRequire: config.RequireNone}, confined(none), umpire.Ask, "full-access"},
		{"off with a weaker one", config.Settings{SandboxRequire: config.RequireNone}, confined(weaker), umpire.Ask, "full-access"},
		{"off with a full one", config.Settings{SandboxRequire: config.RequireNone}, confined(full), umpire.Allow, "workspace-write"},
		{"full access", config.Settings{Settings: policy.Settings{Sandbox: policy.Sandbox{Mode: umpire.SandboxFullAccess}}}, confined(none), umpire.Ask, "full-access"},
		{"tighter", config.Settings{}, &umpire.Confinement{Level: full, Mode: umpire.SandboxReadOnly}, umpire.Allow, "read-only"},
		{"looser without a person", config.Settings{}, &umpire.Confinement{Level: full, Mode: umpire.SandboxFullAccess}, umpire.Allow, "workspace-write"},
		{"looser by a person", config.Settings{}, &umpire.Confinement{Level: full, Mode: umpire.SandboxFullAccess, Loosen: true}, umpire.Ask, "full-access"},
	} {
		s := sandboxOf(&tt.settings, tt.runner)
		d := newTestGate(t)
		got := d.projects.Decide("", policy.Query{Call: umpire.Call{Tool: "Bash", Input: []byte(`{"command":"go test ./..."}`), Dir: d.project}, Conditions: policy.Conditions{Mode: umpire.ModeDefault, Sandbox: s}})
		if got.Verdict != tt.want || got.Obligations.Sandbox != tt.mode {
			t.Errorf("%s: %v in %s, want %v in %s (%s)", tt.name, got.Verdict, got.Obligations.Sandbox, tt.want, tt.mode, got.Reason)
		}
	}
}

// The card says it, an approval is for this call, and a runner that has less when it
// starts than when it asked is asked about again.
func TestNoSandboxIsOnTheCard(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	submit := func(id string, c *umpire.Confinement) umpire.Batch {
		return must(d.Submit(t.Context(), umpire.Submission{
			Session: s.ID, Batch: umpire.BatchID(id), Calls: []umpire.Call{command("c"+id, "ls")}, Epoch: s.Epoch, Sandbox: c,
		}))(t)
	}
	start := func(b umpire.Batch, c *umpire.Confinement) umpire.Started {
		return must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: b.ID, Call: b.Next().ID, Epoch: s.Epoch, Runner: "r", Sandbox: c}))(t)
	}

	submit("1", confined(umpire.SandboxNone))
	if p := d.pending("c1"); p.Code != umpire.CodeNoSandbox || p.NoSandbox != umpire.Verbatim("mounts: operation not permitted") {
		t.Errorf("the card says %q, %q", p.Code, p.NoSandbox)
	}
	b := d.approve("c1", umpire.ScopeOnce)
	if got := start(b, confined(umpire.SandboxNone)); !got.Go || got.Decision.Obligations.Sandbox != umpire.SandboxFullAccess {
		t.Errorf("approved: %+v", got.Decision)
	}
	must(d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: "1", Call: "c1", Status: umpire.ResultOK, Epoch: s.Epoch}))(t)

	b = submit("2", confined(umpire.SandboxFull))
	if got := start(b, confined(umpire.SandboxNone)); got.Go || got.Batch.State != umpire.BatchWaiting {
		t.Errorf("it started with less than it was decided for: %+v", got)
	}
	d.pending("c2")
}

func TestConfinementIsChecked(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	for _, c := range []umpire.Confinement{{}, {Level: "some"}, {Level: umpire.SandboxFull, Mode: "free"}} {
		_, err := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "1", Calls: []umpire.Call{command("c1", "ls")}, Epoch: s.Epoch, Sandbox: &c})
		if !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("%+v: %v, want it refused", c, err)
		}
	}
}

// What the administrator set holds for sessions that were opened before, and no mode
// that changes nothing is loosened by it.
func TestAdministratorsModes(t *testing.T) {
	t.Parallel()
	settings := config.Settings{Most: config.Most{Mode: new(umpire.ModeAsk), Sandbox: umpire.SandboxReadOnly}}
	for mode, want := range map[umpire.Mode]umpire.Mode{
		umpire.ModeBypass: umpire.ModeAsk, umpire.ModeDefault: umpire.ModeAsk, umpire.ModeAuto: umpire.ModeAsk,
		umpire.ModeAsk: umpire.ModeAsk, umpire.ModePlan: umpire.ModePlan, umpire.ModeReject: umpire.ModeReject,
	} {
		if got := effectiveMode(&umpire.Session{Mode: mode}, &settings); got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
		if got := effectiveMode(&umpire.Session{Mode: mode}, &config.Settings{}); got != mode {
			t.Errorf("%s without an administrator: %s", mode, got)
		}
	}
	person := &umpire.Confinement{Level: umpire.SandboxFull, Mode: umpire.SandboxFullAccess, Loosen: true}
	if got := sandboxOf(&settings, person).Mode; got != umpire.SandboxReadOnly {
		t.Errorf("sandbox %s", got)
	}
}
