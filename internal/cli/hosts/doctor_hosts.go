package hosts

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// agents checks the agent of that name, or all agents that are installed or registered
// here. If it finds none of them, it reports Claude Code as missing.
func (d *doctor) agents(ctx context.Context, only string) {
	d.readTimeline(ctx)
	examined := false
	for _, h := range host.Hosts {
		s, ok := setup.Find(h.Name)
		if !ok || only != "" && only != h.Name {
			continue
		}
		found := findProgram(ctx, d.App, h)
		asks := len(registeredFiles(d.App, s)) > 0
		if only == "" && !asks && (found.Path == "" || h.Evidence == host.Documented) {
			continue
		}
		examined = true
		d.running(h)
		d.unasked(h)
		if h.Name == setup.Claude.Host {
			d.claude(ctx)
		} else {
			d.host(ctx, h, s, found)
		}
		if d.runs {
			checkLive(ctx, d, h, found)
		}
	}
	written := func(f claudeFile) bool {
		_, err := os.Stat(f.Path)
		return err == nil
	}
	switch {
	case examined:
	case slices.ContainsFunc(claudeFiles(d.App), written):
		d.claude(ctx)
	default:
		d.ok("agents", "no agent was found; umpire looked for %s", strings.Join(registrable(), ", "))
	}
}

// host checks one agent: whether it asks umpire, whether anything could keep it from
// asking, and whether it gets answers.
func (d *doctor) host(ctx context.Context, h *host.Host, s setup.Settings, found hostProgram) {
	again := "umpire setup " + h.Name
	d.hostVersion(h, found)
	path, err := s.Place.Path(d.UserHome(), d.Getenv)
	if err != nil {
		d.fail(h.Name, again, "%v", err)
		return
	}
	text, _, err := readSettings(path)
	if err != nil {
		d.fail(h.Name, again, "%v", err)
		return
	}
	hooks, err := s.Registered(text)
	switch {
	case err != nil:
		d.fail(h.Name, again, "%s: %v", path, err)
		return
	case len(hooks) == 0:
		d.warn(h.Name, again, "%s does not ask umpire: nothing is registered in %s", h.Title, path)
		return
	}
	for _, event := range s.Missing(hooks) {
		d.fail(h.Name, again, "%s: umpire's hook is not registered for %s", path, event)
	}
	d.switches(h)
	if h.Name == setup.Codex.Host {
		d.codexTrust(ctx, path)
	}
	d.limits(h)
	d.trials(ctx, h)
	r := registered{hooks[0], claudeFile{Scope: "user", Path: path}}
	if d.handler(h, r) {
		d.canary(ctx, h, r)
	}
}

// limits names the calls that umpire cannot see or stop in an agent.
func (d *doctor) limits(h *host.Host) {
	if len(h.Holes) > 0 {
		d.ok(h.Name, "known limits: %s", holes(h.Holes))
	}
}

// hostVersion compares the installed version with the one that umpire was tested with.
func (d *doctor) hostVersion(h *host.Host, found hostProgram) {
	switch {
	case found.Version == "":
		d.ok(h.Name, "%s: %s", h.Title, found)
	case minorOf(found.Version) == minorOf(h.Version):
		d.ok(h.Name, "%s %s", h.Title, found)
	default:
		remedy := "umpire doctor " + h.Name
		if d.runs {
			remedy = "" // the agent is run below
		}
		d.warn(h.Name, remedy, "%s %s: umpire was checked with %s", h.Title, found, h.Version)
	}
}

// minorOf returns the major and minor parts of a version.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// switches reports the settings of an agent or the project that turn its hooks off.
func (d *doctor) switches(h *host.Host) {
	roots := []string{d.UserHome()}
	if p, err := d.FindProject(d.Dir); err == nil {
		roots = append(roots, p.Root)
	}
	for _, s := range setup.Switches {
		if s.Host != h.Name {
			continue
		}
		for i, root := range roots {
			path := filepath.Join(root, filepath.FromSlash(s.File))
			text, err := os.ReadFile(path)
			if err != nil || !s.Off(text) {
				continue
			}
			if i == 0 {
				d.fail(h.Name, "take it out of "+path, "%s: %s turns every hook off, umpire's too", path, s.Key)
			} else {
				d.fail(h.Name, s.Remedy, "%s: %s turns every hook off, umpire's too", path, s.Key)
			}
		}
	}
}

// running names the settings that turn hooks off in agents that are running with this home.
func (d *doctor) running(h *host.Host) {
	for _, name := range process.Running() {
		args, alive := process.ArgumentsOf(name)
		getenv, readable := process.EnvironmentOf(name)
		if !alive || !readable || !setup.StartsHost(args, h) || getenv("HOME") != d.UserHome() {
			continue
		}
		for _, s := range setup.StartSwitches {
			switch {
			case s.Host != h.Name || !s.Given(&setup.Start{Args: args, Getenv: getenv}):
			case s.Alone:
				d.warn(h.Name, "", "%s runs with %s, so it never asks by itself", h.Title, s.Option)
			default:
				d.fail(h.Name, "start it again without "+s.Option,
					"%s runs with %s: umpire is not asked", h.Title, s.Option)
			}
		}
	}
}

// codexTrust asks Codex whether it trusts the hooks: it skips the others without a word.
func (d *doctor) codexTrust(ctx context.Context, path string) {
	hooks, err := askCodexHooks(ctx, d.App)
	if err != nil {
		d.warn(setup.Codex.Host, "umpire setup codex", "Codex cannot say whether it trusts the hook: %v", err)
		return
	}
	own := 0
	for _, hook := range hooks {
		if !hook.Own(path) {
			continue
		}
		own++
		if hook.Trust != "trusted" && hook.Trust != "managed" || !hook.Enabled {
			d.fail(setup.Codex.Host, "umpire setup codex", "Codex skips the hook for %s: it is %s", hook.Event,
				cmp.Or(hook.Trust, "switched off"))
			return
		}
	}
	if own == 0 {
		d.fail(setup.Codex.Host, "umpire setup codex", "Codex does not know umpire's hooks in %s", path)
		return
	}
	d.ok(setup.Codex.Host, "Codex trusts the hooks")
}

// holes are the calls that umpire cannot see somewhere, in the person's language.
type holes []umpire.Phrase

// String lists the holes in English.
func (h holes) String() string { return h.in(catalogue.English) }

func (h holes) in(text *catalogue.Language) string {
	said := make([]string, len(h))
	for i, hole := range h {
		said[i] = text.Text(hole)
	}
	return strings.Join(said, text.Of("; "))
}
