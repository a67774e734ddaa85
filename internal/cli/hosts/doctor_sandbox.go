package hosts

import (
	"cmp"
	"context"
	"os"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// sandbox tries everything that the sandbox should stop, and reports which layer does.
func (d *doctor) sandbox(ctx context.Context, c *config.Config) {
	if c.Sandbox.Mode == umpire.SandboxFullAccess {
		d.warn("sandbox", "set sandbox.mode to workspace-write in config.yaml",
			"commands run without a sandbox: sandbox.mode is full-access")
	}
	r, err := sandbox.Examine(ctx, cmp.Or(d.UserHome(), d.Dir))
	if err != nil {
		d.fail("sandbox", "", "%v", err)
		return
	}
	switch r.Level {
	case umpire.SandboxFull:
	case umpire.SandboxWeaker:
		d.warn("sandbox", app.AllowTrials(os.DirFS("/")), "only a weaker one, see docs/sandbox.md: %s", r.Lacks)
	case umpire.SandboxNone:
		d.warn("sandbox", app.AllowTrials(os.DirFS("/")), "none on this machine: %s", r.Lacks)
	}
	d.withoutSandbox(c, &r)
	d.probes(&r)
}

// withoutSandbox describes the effect of a weaker or missing sandbox.
func (d *doctor) withoutSandbox(c *config.Config, r *sandbox.Report) {
	switch {
	case r.Whole():
	case c.SandboxRequire == config.RequireNone:
		d.warn("sandbox", "set sandbox.require to strict in config.yaml",
			"commands run anyway: sandbox.require is off")
	case c.SandboxRequire == config.RequireWeaker && r.Level == umpire.SandboxWeaker:
		d.warn("sandbox", "set sandbox.require to strict in config.yaml",
			"a weaker one is accepted: sandbox.require is degraded-ok")
	default:
		d.ok("sandbox", "so every command asks, and is denied if nobody can answer")
	}
}

// probes lists the attempts by the layer that refused them first.
func (d *doctor) probes(r *sandbox.Report) {
	if len(r.Probes) == 0 {
		return
	}
	landlock, filter, namespaces := r.By()
	if !d.verbose {
		d.ok("sandbox", "%d attempts refused: %d by Landlock, %d by the filter of system calls, "+
			"%d by namespaces and mounts (--verbose names them)",
			len(landlock)+len(filter)+len(namespaces), len(landlock), len(filter), len(namespaces))
	}
	for _, by := range []struct {
		format string
		names  []string
	}{
		{"%d refused by Landlock: %s", landlock},
		{"%d refused by the filter of system calls: %s", filter},
		{"%d refused by namespaces and mounts: %s", namespaces},
	} {
		if len(by.names) > 0 && d.verbose {
			d.ok("sandbox", by.format, len(by.names), names(by.names))
		}
	}
	if holes := r.Holes(); len(holes) > 0 && r.Whole() {
		d.fail("sandbox", "", "%d not refused: %s", len(holes), names(holes))
	} else if len(holes) > 0 {
		d.warn("sandbox", "", "%d not refused: %s", len(holes), names(holes))
	}
}
