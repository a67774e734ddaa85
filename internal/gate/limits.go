package gate

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// An agent opens sessions by itself, and must not escape its limits by opening one: anything beyond
// its project and the configured mode needs a person. A sub-agent always gets its parent's limits.

// Limits per runner, to keep an agent from flooding people or the store. All sessions without a
// named runner share one account.
const (
	maxOpenSessions = 256
	maxOpenPending  = 2000
)

// maxRunningTrials bounds the concurrent trials of one session.
const maxRunningTrials = 16

func needsPerson(field, format string, args ...any) error {
	return umpire.Errorf("%s: %s: %w", field, fmt.Sprintf(format, args...), umpire.ErrNeedsPerson)
}

// limitOpening rejects an agent's opening that reaches further than its project. usual is the mode
// of a session there if the opening does not ask for one.
func (ss *sessions) limitOpening(o *umpire.Opening, p *Project, usual umpire.Mode) error {
	if !o.Limited || o.Parent != "" {
		return nil
	}
	if o.Mode != nil && !o.Mode.Tightens(usual) {
		return needsPerson("mode", "%s is looser than %s, the mode here", *o.Mode, usual)
	}
	if policy.HoldsSystem(p.Root, p.Home) || overlaps(p.Root, ss.config.Home) {
		return needsPerson("working_dir", "%s is more than one project", p.Root)
	}
	own, err := ss.Project(o.Dir)
	if err != nil {
		return err
	}
	for i, dir := range o.AddDirs {
		if !filepath.IsAbs(dir) || !own.Contains(dir) {
			return needsPerson(fmt.Sprintf("add_dirs[%d]", i), "%q lies outside the project", dir)
		}
	}
	return nil
}

// overlaps reports whether one of two folders lies in the other.
func overlaps(a, b string) bool {
	if b == "" {
		return false
	}
	a, b = filepath.Clean(a), filepath.Clean(b)
	return files.Within(a, b) || files.Within(b, a)
}

// limitMode rejects an agent's request for a mode looser than the current one.
func limitMode(r *umpire.Resumption, now umpire.Mode) error {
	if r.Limited && r.Mode != nil && !r.Mode.Tightens(now) {
		return needsPerson("mode", "%s is looser than %s, the mode of the session", *r.Mode, now)
	}
	return nil
}

// roomForSession fails if a runner has too many open sessions.
func roomForSession(tx *store.Tx, runner string) error {
	open, _, err := tx.Sessions.CountOpen(runner)
	if err == nil && open >= maxOpenSessions {
		return umpire.Errorf("%s has %d sessions open: end one first: %w",
			cmp.Or(runner, "this account of agents without a runner"), open, umpire.ErrLimit)
	}
	return err
}

// roomForQuestions fails if a runner has too many waiting questions.
func roomForQuestions(tx *store.Tx, runner string, more int) error {
	_, pending, err := tx.Sessions.CountOpen(runner)
	if err == nil && pending+more > maxOpenPending {
		return umpire.Errorf("%d questions of this agent wait, and %d more would exceed the limit of %d: "+
			"%w", pending, more,
			maxOpenPending, umpire.ErrLimit)
	}
	return err
}
