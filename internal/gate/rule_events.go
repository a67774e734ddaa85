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

// Every change of the rules in force is an event. It names the rules and, if known, the author; a
// file edited without the gate has no known author.

// signed adds the author to the detail of an event.
func signed(detail map[string]any, by umpire.Actor) map[string]any {
	if by != (umpire.Actor{}) {
		detail["by"] = by
	}
	return detail
}

// A ruleLine is a rule on the timeline.
type ruleLine struct {
	ID     umpire.RuleID  `json:"rule_id,omitempty"`
	Action umpire.Verdict `json:"action"`
	Rule   string         `json:"rule"` // in short form
	Scope  string         `json:"scope"`
}

// describeRules returns the rules of a set in the form used by events.
func describeRules(set *rulefile.Set) []ruleLine {
	detail := []ruleLine{}
	for _, r := range set.Rules {
		scope := r.Source.String()
		if r.Source == umpire.SourceUser {
			scope = umpire.ScopeGlobal.String()
		}
		detail = append(detail, ruleLine{r.ID, r.Action, policy.FormatShort(r), scope})
	}
	return detail
}

// without returns the rules of list that are missing from other, counting duplicates.
func without(list, other []ruleLine) []ruleLine {
	left := map[ruleLine]int{}
	for _, r := range other {
		left[r]++
	}
	missing := []ruleLine{}
	for _, r := range list {
		if left[r]--; left[r] < 0 {
			missing = append(missing, r)
		}
	}
	return missing
}

// changeRules changes rule files or the trust in them on somebody's behalf and records it, with the
// details that change returns. The file watcher waits meanwhile; otherwise it would record the
// change without its author.
func (ps *Projects) changeRules(
	ctx context.Context, p *Project, by umpire.Actor, change func() (map[string]any, error),
) error {
	ps.telling.Lock()
	defer ps.telling.Unlock()
	about, err := change()
	if err != nil {
		return err
	}
	p.reload()
	return ps.recordRules(ctx, p, by, about)
}

// recordOutsideChange records changes made to rule files behind the gate's back. It reads the files
// again because the watcher's view may be older than the last recorded one.
func (ps *Projects) recordOutsideChange(ctx context.Context, p *Project) error {
	ps.telling.Lock()
	defer ps.telling.Unlock()
	p.reload()
	return ps.recordRules(ctx, p, umpire.Actor{}, nil)
}

// recordRules records the changes since the last recorded rules, and anything else known about
// them. It clears the memory of auto mode, whose answers were given under the old rules.
func (ps *Projects) recordRules(ctx context.Context, p *Project, by umpire.Actor, about map[string]any) error {
	set := p.Rules()
	changed := p.known.ChangedTo(set)
	if by == (umpire.Actor{}) {
		changed = ps.telling.News(p.ID, changed)
		by = ps.telling.AuthorOf(changed)
	}
	if ps.store == nil || len(about) == 0 && len(changed) == 0 {
		p.known = set
		return nil
	}
	was, is := describeRules(p.known), describeRules(set)
	detail := map[string]any{"revision": set.Revision(), "rules": len(set.Rules), "added": without(is, was),
		"removed": without(was, is)}
	maps.Copy(detail, about)
	e := umpire.Event{At: ps.now(), Kind: umpire.EventRulesChanged, Project: p.ID, Actor: by.Name}
	if slices.ContainsFunc(set.Files, func(f rulefile.File) bool { return f.Health == rulefile.HealthDegraded }) {
		e.Kind = umpire.EventRulesDegraded
	}
	err := ps.update(ctx, func(tx *store.Tx) error {
		if _, err := tx.Grants.ForgetRemembered(p.ID, cmp.Or(p.GitDir, p.Root), ps.now()); err != nil {
			return err
		}
		return tx.Events.Add(ps.record(e, signed(detail, by)))
	})
	if err == nil {
		p.known = set
		ps.telling.Note(p.ID, changed, by)
	}
	return err
}

// followRules records changes of the rule files on the timeline, until the watcher is closed.
func (ps *Projects) followRules(p *Project) {
	for range p.watcher.Changed() {
		if err := ps.recordOutsideChange(context.Background(), p); err != nil && ps.config.Warn != nil {
			ps.config.Warn(err)
		}
	}
}
