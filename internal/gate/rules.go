package gate

import (
	"cmp"
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// rules manages the rule files of projects, and the trust in them.
type rules struct{ *Projects }

// writeRules writes the rules of an approval for the project or for good. The answer is already
// stored: the rules are written even if the client disconnects. A rule that cannot be written is
// only a notice, and the call still runs.
func (g *Gate) writeRules(ctx context.Context, r *resolution) error {
	for _, rule := range r.rules {
		rule.Description = "approved by " + cmp.Or(r.answer.Actor, "a person")
		by := r.answer.By
		by.Name = r.answer.Actor
		id, err := g.rules.Add(ctx, r.conditions.session.Root, r.answer.Scope, rule, by)
		detail := map[string]any{"rule": policy.FormatShort(rule)}
		note := umpire.Event{
			Kind: umpire.EventGrantCreated, Batch: r.ask.Batch, Call: r.ask.Call, Request: r.ask.Request,
			Tool: rule.Tool, Rule: id, Scope: new(r.answer.Scope), Actor: r.answer.Actor,
		}
		if err != nil {
			note.Kind = umpire.EventNotice
			note.Reason = umpire.Say("The call was approved, but the rule %s could not be written: %s",
				policy.FormatShort(rule), err)
		}
		if err := g.be.step(ctx, r.ask.Session, 0, func(t *transaction) error {
			t.append(note, detail)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// List returns the rules in force in a folder's project, its own first.
func (rs *rules) List(_ context.Context, dir string) ([]umpire.Rule, error) {
	p, err := rs.Project(dir)
	if err != nil {
		return nil, err
	}
	return p.Rules().Rules, nil
}

// Add writes a rule into the project's or the user's own file.
func (rs *rules) Add(
	ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule, by umpire.Actor,
) (umpire.RuleID, error) {
	p, layer, err := rs.ruleFile(dir, scope)
	if err != nil {
		return "", err
	}
	if err := p.options.Check(r); err != nil {
		return "", umpire.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
	}
	var id umpire.RuleID
	err = rs.changeRules(ctx, p, by, func() (_ map[string]any, err error) {
		id, err = rulefile.Writer{Check: p.options.Check, Trust: p.options.Trust}.Add(layer, r)
		return nil, err
	})
	return id, err
}

// Remove takes a rule out of the project's or the user's own file.
func (rs *rules) Remove(
	ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID, by umpire.Actor,
) error {
	p, layer, err := rs.ruleFile(dir, scope)
	if err != nil {
		return err
	}
	return rs.changeRules(ctx, p, by, func() (map[string]any, error) {
		err := rulefile.Writer{Check: p.options.Check, Trust: p.options.Trust}.Remove(layer, id)
		if errors.Is(err, rulefile.ErrNoRule) {
			return nil, umpire.Errorf("rule %q: %w", id, umpire.ErrNotFound)
		}
		return nil, err
	})
}

// ruleFile returns umpire's own file of a scope.
func (rs *rules) ruleFile(dir string, scope umpire.Scope) (*Project, rulefile.Layer, error) {
	source := umpire.SourceProject
	switch scope {
	case umpire.ScopeProject:
	case umpire.ScopeGlobal:
		source = umpire.SourceUser
	case umpire.ScopeOnce, umpire.ScopeSession:
		return nil, rulefile.Layer{}, invalid("scope", "want project or global, got %s", scope)
	}
	p, err := rs.Project(dir)
	if err != nil {
		return nil, rulefile.Layer{}, err
	}
	for _, l := range p.layers {
		if l.Source == source && l.Format == rulefile.FormatUmpire {
			return p, l, nil
		}
	}
	return nil, rulefile.Layer{}, umpire.Errorf("there is no file for rules of scope %s: %w", scope, umpire.ErrState)
}

// Status returns the rule files in force in a folder's project and their state, under the current
// configuration.
func (rs *rules) Status(_ context.Context, dir string) (umpire.RuleStatus, error) {
	if err := rs.refresh(dir); err != nil {
		return umpire.RuleStatus{}, err
	}
	p, err := rs.Project(dir)
	if err != nil {
		return umpire.RuleStatus{}, err
	}
	set := p.Rules()
	s := umpire.RuleStatus{Files: []umpire.RuleFile{}, Cautious: set.Degraded != "", Revision: set.Revision()}
	for _, f := range set.Files {
		s.Files = append(s.Files, ruleFileOf(f))
	}
	return s, nil
}

// ruleFileOf describes a rule file in the words that clients see.
func ruleFileOf(f rulefile.File) umpire.RuleFile {
	s := umpire.RuleFile{
		Source: f.Source, Path: f.Path, Format: f.Format.String(), Health: f.Health.String(),
		Rules: f.Rules, Asleep: f.Inert, Problems: []umpire.RuleProblem{},
	}
	if f.Source == umpire.SourceProject && (f.Rules+f.Inert+f.Hooks > 0 || f.Untrusted()) {
		trusted := f.Health != rulefile.HealthUntrusted && !f.Untrusted()
		s.Trusted = &trusted
	}
	for _, problem := range f.Problems {
		s.Problems = append(s.Problems, umpire.RuleProblem(problem))
	}
	return s
}

// revision returns the revision of the rules that decide a session's calls.
func (ps *Projects) revision(cond *conditions) string {
	p, err := ps.projectOf(cond.session.Root, cond.session.AddDirs)
	if err != nil {
		return ""
	}
	return p.rules().set.Revision()
}
