package gate

import (
	"cmp"
	"context"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// Hooks run outside of transactions because the store's writer must not wait for a program. A
// hook's verdict on a call becomes a rule for this call alone that denies or asks: a hook cannot
// loosen anything, and the policy still decides. Hooks run before a person is asked, and are
// skipped for calls already denied.

// hooksOf returns the project's hooks for an event that apply to a tool.
func (p *Project) hooksOf(event rulefile.HookEvent, tool string) []*rulefile.Hook {
	var about []*rulefile.Hook
	set := p.rules().set
	for _, list := range [][]rulefile.Hook{set.Hooks, p.settings.Hooks} {
		for i := range list {
			h := &list[i]
			named := func(pattern string) bool { return policy.ToolNamed(pattern, tool) }
			if h.Event == event && slices.ContainsFunc(h.Tools(), named) {
				about = append(about, h)
			}
		}
	}
	return about
}

// before runs the hooks for a call until one of them denies it.
func (p *Project) before(ctx context.Context, call umpire.Call) []userhook.Ran {
	var all []userhook.Ran
	for _, h := range p.hooksOf(rulefile.PreToolUse, call.Tool) {
		ran := userhook.Run(ctx, h, &userhook.Occasion{Call: call, Root: p.Root, Confine: p.confine(h)})
		all = append(all, ran)
		if ran.Verdict() == umpire.Deny {
			break
		}
	}
	return all
}

// after runs the hooks for a call that has run.
func (p *Project) after(ctx context.Context, call umpire.Call, output string) []userhook.Ran {
	var all []userhook.Ran
	for _, h := range p.hooksOf(rulefile.PostToolUse, call.Tool) {
		all = append(all, userhook.Run(ctx, h, &userhook.Occasion{Call: call, Root: p.Root, Output: output,
			Confine: p.confine(h)}))
	}
	return all
}

// askHooks runs the hooks for a call of a submission.
func (ps *Projects) askHooks(ctx context.Context, cond *conditions, j *judged) error {
	if j.decision.Verdict == umpire.Deny {
		return nil
	}
	p, err := ps.projectOf(cond.session.Root, cond.session.AddDirs)
	if err != nil {
		return err
	}
	j.hooks = p.before(ctx, j.call)
	if err := ctx.Err(); err != nil {
		return err // the hooks were interrupted, which is not a verdict
	}
	said := objections(j.hooks)
	if len(said) == 0 {
		return nil
	}
	tighter := *cond
	tighter.tighten = append(slices.Clip(cond.tighten), said...)
	ps.decideCall(&tighter, j)
	return nil
}

// Judge decides one call like Decide, and also runs its PreToolUse hooks unless it is denied
// without them.
func (ps *Projects) Judge(ctx context.Context, project string, q policy.Query) umpire.Decision {
	d := ps.Decide(project, q)
	if d.Verdict == umpire.Deny {
		return d
	}
	p, err := ps.projectOf(cmp.Or(project, q.Call.Dir), nil)
	if err != nil {
		return d // nothing was decided without the project, so this denies
	}
	said := objections(p.before(ctx, q.Call))
	if len(said) == 0 {
		return d
	}
	q.Tighten = append(slices.Clip(q.Tighten), said...)
	return ps.Decide(project, q)
}

// Ended runs the PostToolUse hooks for a call that has run in a folder's project, for an agent whose
// results are not stored here.
func (ps *Projects) Ended(ctx context.Context, dir string, call umpire.Call, output string) error {
	p, err := ps.Project(dir)
	if err != nil {
		return err
	}
	p.after(ctx, call, output)
	return nil
}

// runAfterHooks runs the hooks for a call whose result was just stored. They can no longer change the
// result; their verdicts are recorded separately.
func (g *Gate) runAfterHooks(ctx context.Context, s *umpire.Session, tool string, r *umpire.Result) error {
	p, err := g.projects.projectOf(s.Root, s.AddDirs)
	if err != nil || len(p.hooksOf(rulefile.PostToolUse, tool)) == 0 {
		return err
	}
	row, err := readIn(ctx, g.be.view, func(tx *store.Tx) (store.CallRow, error) {
		return tx.Calls.Get(r.Session, r.Call)
	})
	if err != nil {
		return err
	}
	call, err := g.be.exactCall(&row)
	if err != nil {
		return err
	}
	all := p.after(context.WithoutCancel(ctx), call, r.Output)
	return g.be.step(context.WithoutCancel(ctx), r.Session, 0, func(t *transaction) error {
		t.quiet = true
		t.addHookEvents(r.Batch, &call, all)
		return nil
	})
}
