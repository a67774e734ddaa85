package gate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// Every change of the rules in force is an event that names the rules, and who changed
// them where that is known: a file that somebody wrote past the gate does not tell.

// signed is the detail of an event with who did it.
func signed(told map[string]any, by umpire.Actor) map[string]any {
	if by != (umpire.Actor{}) {
		told["by"] = by
	}
	return told
}

// A ruleTold is a rule on the timeline.
type ruleTold struct {
	ID     umpire.RuleID  `json:"rule_id,omitempty"`
	Action umpire.Verdict `json:"action"`
	Rule   string         `json:"rule"` // in short form
	Scope  string         `json:"scope"`
}

// tellRules are the rules of a set as the timeline tells them.
func tellRules(set *rulefile.Set) []ruleTold {
	told := []ruleTold{}
	for _, r := range set.Rules {
		scope := r.Source.String()
		if r.Source == umpire.SourceUser {
			scope = umpire.ScopeGlobal.String()
		}
		told = append(told, ruleTold{r.ID, r.Action, policy.FormatShort(r), scope})
	}
	return told
}

// without are the rules of one list that are not in the other, each as often as it is
// missing there.
func without(list, other []ruleTold) []ruleTold {
	left := map[ruleTold]int{}
	for _, r := range other {
		left[r]++
	}
	missing := []ruleTold{}
	for _, r := range list {
		if left[r]--; left[r] < 0 {
			missing = append(missing, r)
		}
	}
	return missing
}

// changeRules changes rule files, or the trust in them, for somebody and tells it, with what
// change says of it besides. Whoever follows the files waits meanwhile: the change would be
// told without its author.
func (g *Gate) changeRules(ctx context.Context, p *Project, by umpire.Actor, change func() (map[string]any, error)) error {
	g.telling.Lock()
	defer g.telling.Unlock()
	about, err := change()
	if err != nil {
		return err
	}
	p.reload()
	return g.tellRead(ctx, p, by, about)
}

// rulesRead tells that other rules hold, which somebody wrote past the gate. The files are
// read once more: what was seen of them may be older than what was told.
func (g *Gate) rulesRead(ctx context.Context, p *Project) error {
	g.telling.Lock()
	defer g.telling.Unlock()
	p.reload()
	return g.tellRead(ctx, p, umpire.Actor{}, nil)
}

// tellRead tells how the rules differ from those that were told before, and what else is
// known about the change. It forgets what auto mode remembers: the answers were given under
// the rules before.
func (g *Gate) tellRead(ctx context.Context, p *Project, by umpire.Actor, about map[string]any) error {
	set := p.Rules()
	changed := p.known.ChangedTo(set)
	if by == (umpire.Actor{}) {
		changed = g.telling.News(p.ID, changed)
		by = g.telling.AuthorOf(changed)
	}
	if g.store == nil || len(about) == 0 && len(changed) == 0 {
		p.known = set
		return nil
	}
	was, is := tellRules(p.known), tellRules(set)
	told := map[string]any{"revision": set.Revision(), "rules": len(set.Rules), "added": without(is, was), "removed": without(was, is)}
	maps.Copy(told, about)
	e := umpire.Event{At: g.now(), Kind: umpire.EventRulesChanged, Project: p.ID, Actor: by.Name}
	if slices.ContainsFunc(set.Files, func(f rulefile.File) bool { return f.Health == rulefile.HealthDegraded }) {
		e.Kind = umpire.EventRulesDegraded
	}
	err := g.update(ctx, func(tx *store.Tx) error {
		if _, err := tx.Append(g.record(e, signed(told, by))); err != nil {
			return err
		}
		_, err := tx.ForgetRemembered(p.ID, cmp.Or(p.GitDir, p.Root), g.now())
		return err
	})
	if err == nil {
		p.known = set
		g.telling.Note(p.ID, changed, by)
	}
	return err
}
