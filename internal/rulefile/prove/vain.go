package prove

import (
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A walk need not follow paths that a deny rule or a guarded place settles for good. Which patterns do so, the policy
// tells: with rules that allow everything, in bypass mode, a path of such a pattern still does not run.

// giveUp finds the hopeless groups of one side of an automaton for a question.
func (w *World) giveUp(m *pathModel, q *Question, side string) {
	strict := m.strict[side]
	if strict == nil || len(w.Given.Grants) > 0 || w.Given.AllowAll {
		return
	}
	var hopeless, guards groupSet
	for group := range strict.keys {
		if strict.rules[group] == nil {
			guards.include(group)
		}
	}
	for group, key := range strict.keys {
		// A pattern ends hope by itself, so worlds with other rules share the answer.
		key = fmt.Sprint(q.Kind, q.Asked, key)
		if _, known := w.Memo.vain[key]; !known {
			var rules []umpire.Rule
			if r := strict.rules[group]; r != nil {
				rules = append(rules, *r)
			}
			w.Memo.vain[key] = w.isVain(m, rules, q, group, &guards)
		}
		if w.Memo.vain[key] {
			hopeless.include(group)
		}
	}
	m.hopeless = hopeless
}

// openRules allow every access to a path.
func openRules() (rules []umpire.Rule) {
	for _, tool := range []string{"Read", "Write", "Delete"} {
		rules = append(rules, umpire.Rule{
			ID: "open", Tool: tool, Action: umpire.Allow, Source: umpire.SourceUser,
			Match: umpire.Match{PathGlob: "/**"},
		})
	}
	return append(rules, umpire.Rule{ID: "open", Tool: "*", Action: umpire.Allow, Source: umpire.SourceUser})
}

// Bounds of the search for a path that only one strict group matches: its classes and its steps.
const (
	maxLooked     = 40
	maxLookedWork = 150_000
)

// isVain reports whether a path that matches this group, and no other built-in pattern, cannot run under the rules of
// the group, though everything else is allowed.
func (w *World) isVain(m *pathModel, rules []umpire.Rule, q *Question, group int, guards *groupSet) bool {
	open, err := policy.New(append(openRules(), rules...), w.Options)
	if err != nil {
		return false
	}
	var others groupSet
	others.join(*guards)
	others[group/64] &^= 1 << (group % 64)
	given := w.Given
	defer func() { w.Given = given }()
	w.Given.Mode, w.Given.AllowAll = umpire.ModeBypass, true
	m.limit = maxLookedWork
	defer func() { m.limit = w.work }()
	vain, looked := false, 0
	m.walk(group, func(target string, matched groupSet) bool {
		if looked++; matched.meets(others) {
			return looked < maxLooked
		}
		vain = true
		for _, s := range w.usualShapes(q.Kind) {
			d := w.verdictOn(open, s.call(target), w.factsOn(&s, target), most)
			vain = vain && !q.permits(&d)
		}
		return false
	})
	return vain
}
