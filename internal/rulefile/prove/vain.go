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
	open, err := policy.New(append(w.openRules(), w.Rules...), w.Options)
	if err != nil {
		return // nothing is given up
	}
	var hopeless groupSet
	for group, key := range strict.keys {
		key = fmt.Sprint(q.Kind, q.Asked, key)
		vain, known := w.vain[key]
		if !known {
			vain = w.isVain(m, open, q, group, &strict.set)
			w.vain[key] = vain
		}
		if vain {
			hopeless.add(group)
		}
	}
	m.hopeless = hopeless
}

// openRules allow every access to a path.
func (w *World) openRules() (rules []umpire.Rule) {
	for _, tool := range []string{"Read", "Write", "Delete"} {
		rules = append(rules, umpire.Rule{
			ID: "open", Tool: tool, Action: umpire.Allow, Source: umpire.SourceUser,
			Match: umpire.Match{PathGlob: "/**"},
		})
	}
	return append(rules, umpire.Rule{ID: "open", Tool: "*", Action: umpire.Allow, Source: umpire.SourceUser})
}

// maxLooked bounds the search for a path that only one strict group matches.
const maxLooked = 40

// isVain reports whether a path that matches this strict group and no other cannot run, whatever else is allowed.
func (w *World) isVain(m *pathModel, open *policy.Policy, q *Question, group int, strict *groupSet) bool {
	var others groupSet
	others.join(*strict)
	others[group/64] &^= 1 << (group % 64)
	given := w.Given
	defer func() { w.Given = given }()
	w.Given.Mode, w.Given.AllowAll = umpire.ModeBypass, true
	vain, looked := false, 0
	m.walk(group, func(target string, matched groupSet) bool {
		if looked++; matched.meets(others) {
			return looked < maxLooked
		}
		vain = true
		for _, s := range w.usualShapes(q.Kind) {
			d := w.decide(open, s.call(target), w.factsOn(&s, target), most)
			vain = vain && !q.permits(&d)
		}
		return false
	})
	return vain
}
