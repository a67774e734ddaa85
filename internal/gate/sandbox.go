package gate

import (
	"cmp"
	"os/exec"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// sandboxOf combines the configured sandbox with the runner's abilities.
func sandboxOf(settings *config.Settings, c *umpire.Confinement) policy.Sandbox {
	s := settings.Sandbox
	s.Mode = cmp.Or(s.Mode, umpire.SandboxWorkspaceWrite)
	if c == nil {
		return s
	}
	if c.Mode != "" && (c.Loosen || c.Mode.Tighter(s.Mode)) {
		s.Mode = c.Mode
	}
	if !settings.Most.PermitsSandbox(s.Mode) {
		s.Mode = settings.Most.Sandbox
	}
	if s.Mode == umpire.SandboxFullAccess {
		s.Absent = c.Level == umpire.SandboxNone
		return s
	}
	switch {
	case c.Level == umpire.SandboxFull,
		c.Level == umpire.SandboxWeaker && settings.SandboxRequire == config.RequireWeaker:
		s.Held = true
	case settings.SandboxRequire == config.RequireNone:
		s.Mode, s.Absent = umpire.SandboxFullAccess, true
	case c.Level == umpire.SandboxWeaker:
		s.Missing = umpire.Say("this machine has only a weaker one: %s", c.Lacks)
	default:
		s.Missing = cmp.Or(umpire.Verbatim(c.Lacks), "this machine has none")
	}
	return s
}

// Holds reports whether this machine's sandbox would confine the commands of the built-in agent.
func Holds(s *config.Settings, able sandbox.Ability) bool {
	box := sandboxOf(s, &umpire.Confinement{Level: able.Level, Lacks: able.Lacks})
	return box.Holds()
}

// confine sandboxes a hook that came with the project: trusting it covered its readable text, not
// the programs it starts. The user's own hooks run without a sandbox.
func (p *Project) confine(h *rulefile.Hook) func(*exec.Cmd) (func(error) error, error) {
	if h.Source != umpire.SourceProject {
		return nil
	}
	able := sandbox.Available()
	if p.settings.Sandbox.Mode == umpire.SandboxFullAccess ||
		!able.Whole() && p.settings.SandboxRequire == config.RequireNone {
		return nil
	}
	place := &sandbox.Place{Workspace: []string{p.Root}, Home: p.config.UserHome, State: p.config.Home}
	limits := sandbox.Limits{
		Mode: umpire.SandboxWorkspaceWrite, Network: p.settings.Sandbox.Network,
		Weaker: p.settings.SandboxRequire == config.RequireWeaker,
	}
	return func(cmd *exec.Cmd) (func(error) error, error) {
		box, err := place.Wrap(cmd, limits)
		if err != nil {
			return nil, err
		}
		return box.Close, nil
	}
}
