package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// maxSuggestions is the maximum number of rules to settle one call. If a call needs more,
// policy suggests nothing.
const maxSuggestions = 8

// suggestedWidths are the widths to try, narrowest first.
var suggestedWidths = []umpire.Width{
	umpire.WidthExact, umpire.WidthSubcommand, umpire.WidthFolder, umpire.WidthParent, umpire.WidthTool,
}

// suggestRules returns the rules that would settle the same question next time, narrowest
// first. Those of one width settle it together. It suggests a set only if allowed reports that
// the call would be allowed with it.
func suggestRules(
	p *Policy, tool string, d *umpire.Decision, allowed func(tried []*compiled) bool,
) []umpire.Suggestion {
	s := suggester{opts: &p.opts, tool: tool, decision: d, allowed: allowed}
	if !s.findAsking() {
		return nil
	}
	var all, narrower []umpire.Suggestion
	for _, width := range suggestedWidths {
		set := s.set(width)
		if len(set) == 0 || slices.EqualFunc(set, narrower, sameRule) || !s.settles(set) {
			continue
		}
		all, narrower = append(all, set...), set
	}
	return all
}

func sameRule(a, b umpire.Suggestion) bool {
	return a.Rule().Match == b.Rule().Match && a.Tool == b.Tool && a.Cap == b.Cap
}

// A suggester finds the rules for one question.
type suggester struct {
	opts     *Options
	tool     string
	decision *umpire.Decision
	allowed  func(tried []*compiled) bool
	asking   []asking
}

// An asking access has no permission yet.
type asking struct {
	*umpire.Access
	row int
}

// findAsking collects the accesses that a rule has to allow. It returns false if no rule can:
// for doubt, control files, people's ask rules and a missing sandbox.
func (s *suggester) findAsking() bool {
	seen := -1
	for _, r := range s.decision.Reasons {
		if r.Access < 0 || r.Access == seen {
			continue
		}
		seen = r.Access
		if r.Verdict != umpire.Ask {
			continue
		}
		a := &s.decision.Accesses[r.Access]
		if a.Doubt != "" || r.Row != rowExternal && r.Row != rowMode && r.Row != rowCode && !asksForSecret(&r, a) {
			return false
		}
		s.asking = append(s.asking, asking{a, r.Row})
	}
	return len(s.asking) > 0
}

// asksForSecret reports whether a rule that names just this path would settle the question. A
// wildcard or a tree gets no such rule, because it would not name the secret.
func asksForSecret(r *umpire.Reason, a *umpire.Access) bool {
	return r.Row == rowAskRule && r.Rule != nil && r.Rule.Source == umpire.SourceBuiltin && !a.Glob && !a.Tree
}

// set returns rules of a width that may settle the call together. It returns nil if an access
// has no rule, or if the width adds nothing.
func (s *suggester) set(width umpire.Width) []umpire.Suggestion {
	var set []umpire.Suggestion
	own := false
	for _, a := range s.asking {
		rules := s.rulesFor(a, width)
		own = own || len(rules) > 0
		if len(rules) == 0 {
			rules = s.rulesFor(a, umpire.WidthExact)
		}
		if len(rules) == 0 {
			return nil
		}
		for _, r := range rules {
			r.Action, r.Width = umpire.Allow, width
			if !slices.ContainsFunc(set, func(has umpire.Suggestion) bool { return sameRule(has, r) }) {
				set = append(set, r)
			}
		}
	}
	if !own || len(set) > maxSuggestions {
		return nil
	}
	return set
}

// rulesFor returns rules of a width for one access: one, or one for each program that covers
// it.
func (s *suggester) rulesFor(a asking, width umpire.Width) []umpire.Suggestion {
	var r umpire.Suggestion
	ok := false
	switch {
	case (a.row == rowMode || a.row == rowCode) && !a.Redirect && startsCommands(s.tool):
		return s.commandRules(a.Part, width)
	case a.Paths():
		r, ok = s.pathRule(a, width)
	case a.Kind == umpire.KindNetwork && width == umpire.WidthExact:
		tool := "WebFetch"
		if s.tool == umpire.ConnectTool {
			tool = umpire.ConnectTool
		}
		r, ok = umpire.Suggestion{Tool: tool, Match: umpire.Match{Domain: hostName(a.Target)}}, true
	case a.Kind == umpire.KindInvoke && width == umpire.WidthTool:
		r, ok = umpire.Suggestion{Tool: s.tool, Scope: umpire.ScopeProject}, true
	}
	r.Action = umpire.Allow
	if !ok || Validate(r.Rule()) != nil {
		return nil
	}
	if width == umpire.WidthExact {
		r.Scope = umpire.ScopeSession
	}
	return []umpire.Suggestion{r}
}

// settles decides the call again with the rules. A rule that a project's file cannot give, such
// as one for reading a secret, is tried as the person's own with global scope.
func (s *suggester) settles(set []umpire.Suggestion) bool {
	if s.allowedWith(set, umpire.SourceProject) {
		return true
	}
	if !s.allowedWith(set, umpire.SourceUser) {
		return false
	}
	for i := range set {
		set[i].Scope = umpire.ScopeGlobal
	}
	return true
}

func (s *suggester) allowedWith(set []umpire.Suggestion, source umpire.Source) bool {
	var tried []*compiled
	for i := range set {
		rule := set[i].Rule()
		rule.Source = source
		c := compileRule(&rule, s.opts)
		c.order = tighteningOrder - maxSuggestions + i
		tried = append(tried, c)
	}
	return s.allowed(tried)
}
