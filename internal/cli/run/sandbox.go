package run

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// checkSandbox refuses a mode that is not known, and finds out whether it is looser
// than the configured one: that takes a person.
func (f *runFlags) checkSandbox(conf *config.Config) error {
	if f.sandbox == "" {
		return nil
	}
	if !slices.Contains(config.SandboxModes, f.sandbox) {
		return app.Usage("umpire run --help", "--sandbox %q: want one of %s", f.sandbox,
			strings.Join(config.SandboxModes, ", "))
	}
	if most := &conf.Most; !most.PermitsSandbox(umpire.SandboxMode(f.sandbox)) {
		return app.Usage("umpire config",
			"--sandbox %s: the administrator of this machine permits %s or a tighter sandbox", f.sandbox, most.Sandbox)
	}
	f.loosens = conf.Sandbox.Mode.Tighter(umpire.SandboxMode(f.sandbox))
	return nil
}

// confinement returns the state of the sandbox for the gate. It warns a person if the sandbox
// is weaker than requested.
func (s *agentRun) confinement() *umpire.Confinement {
	able := sandbox.Available()
	c := &umpire.Confinement{Level: able.Level, Lacks: able.Lacks, Mode: umpire.SandboxMode(s.flags.sandbox),
		Loosen: s.flags.loosens}
	mode := cmp.Or(c.Mode, s.conf.Sandbox.Mode)
	c.Trials = able.Whole() && mode == umpire.SandboxWorkspaceWrite
	switch {
	case mode == umpire.SandboxFullAccess:
		s.Remark(s.Text.Of("commands run without a sandbox, as configured (full-access)"))
	case !able.Whole():
		s.Remark(fmt.Sprintf(s.Text.Of("no sandbox, or a weaker one, on this machine: %s (umpire doctor)"), able.Lacks))
	}
	return c
}

// place returns the place in which a session's commands run.
func (s *agentRun) place(session *umpire.Session, added []string, scratch string) *sandbox.Place {
	folders := append([]string{session.Root}, added...)
	if session.GitDir != "" {
		folders = append(folders, session.GitDir) // a linked worktree's is elsewhere
	}
	home := s.UserHome()
	if plain, err := filepath.EvalSymlinks(home); err == nil {
		home = plain
	}
	place := &sandbox.Place{
		Workspace: folders, Home: home, State: s.Home(), Scratch: scratch, Cache: sandbox.Caches(home, s.Getenv),
		Show: s.conf.SandboxShow,
	}
	place.Sweep() // or the agent would see a crash's remains as project files
	return place
}
