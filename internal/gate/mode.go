package gate

import (
	"cmp"
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// usualMode returns the default mode of a new session: the mode the workspace was last switched to,
// else the configured one. Having been switched to once restores neither bypass nor a mode that the
// configuration forbids.
func (ps *Projects) usualMode(ctx context.Context, p *Project) (umpire.Mode, error) {
	configured := p.settings.Mode
	if ps.store == nil || !switchable(configured) {
		return configured, nil
	}
	w, err := readIn(ctx, ps.view, func(tx *store.Tx) (store.WorkspaceRow, error) {
		return tx.Workspaces.Get(p.ID, cmp.Or(p.GitDir, p.Root))
	})
	if errors.Is(err, umpire.ErrNotFound) || err == nil && (w.Mode == nil || !switchable(*w.Mode)) {
		return configured, nil
	}
	if err != nil {
		return configured, err
	}
	return *w.Mode, nil
}

func switchable(m umpire.Mode) bool {
	return m == umpire.ModeDefault || m == umpire.ModeAuto || m == umpire.ModeAsk
}

// effectiveMode returns the session's mode, but ask once auto has refused too often, and the
// administrator's mode if the session's is looser.
func effectiveMode(s *umpire.Session, settings *config.Settings) umpire.Mode {
	if !settings.Most.Permits(s.Mode) {
		return *settings.Most.Mode
	}
	if s.Mode == umpire.ModeAuto && degraded(s, settings) {
		return umpire.ModeAsk
	}
	return s.Mode
}

// AutoAvailable reports whether auto mode may answer by itself in a session: after too many
// refusals it asks.
func AutoAvailable(s *umpire.Session, settings *config.Settings) bool { return !degraded(s, settings) }

func degraded(s *umpire.Session, settings *config.Settings) bool {
	return settings.MaxDenialsInRow > 0 && s.DenialsInRow >= settings.MaxDenialsInRow ||
		settings.MaxDenials > 0 && s.Denials >= settings.MaxDenials
}

// checkMode rejects a mode that the administrator does not permit.
func checkMode(most *config.Most, mode *umpire.Mode) error {
	if mode == nil || most.Permits(*mode) {
		return nil
	}
	return invalid("mode", "the administrator of this machine permits %s or a tighter mode", most.Mode)
}

// stripped returns the allow rules that auto mode ignores, in short form.
func (ps *Projects) stripped(s *umpire.Session) []string {
	p, err := ps.projectOf(s.Root, s.AddDirs)
	if err != nil {
		return nil // nothing is allowed there
	}
	var short []string
	for _, r := range p.policy().Stripped(umpire.ModeAuto) {
		short = append(short, policy.FormatShort(r))
	}
	return short
}

// noteStripped adds to a mode event the rules that lose their effect, or regain it.
func noteStripped(detail map[string]any, from, to umpire.Mode, broad []string) {
	switch {
	case len(broad) == 0 || from == to:
	case to == umpire.ModeAuto:
		detail["stripped"] = broad
	case from == umpire.ModeAuto:
		detail["restored"] = broad
	}
}
