package rules

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
)

// The limits of a list of suggestions.
const (
	maxSavings  = 10 // suggestions
	maxRejected = 50 // sets of permissions that save less than they seem to
	minSaved    = 2  // questions that a suggestion saves
	maxExamples = 3  // calls of a suggestion that are named
)

// A question is one or more equal calls that ask by the policy in force.
type question struct {
	past     *pastCall
	call     *umpire.Call
	decision umpire.Decision
	need     history.Need
	settled  bool
}

// A suggester finds the permissions that settle the most questions.
type suggester struct {
	app       *app.App
	all       bool
	found     suggested
	questions []*question
	denied    []*question           // calls that are denied
	known     map[string]permission // by their command lines
	has       map[string]bool       // the commands of the suggestions so far
}

func newSuggester(a *app.App, all bool) *suggester {
	return &suggester{app: a, all: all, known: map[string]permission{}, has: map[string]bool{}}
}

// decideCalls decides the calls by the policy in force, and keeps those that ask or are denied.
func (s *suggester) decideCalls(ctx context.Context, past *pastCalls, batches *batchCache) error {
	decider := app.NewDecider(s.app, nil)
	decider.Suggests = true
	defer decider.Close()
	stopped, gone := make([]*question, len(past.calls)), make([]bool, len(past.calls))
	err := eachCall(ctx, len(past.calls), func(ctx context.Context, at int) error {
		p := past.calls[at]
		call, err := p.loadCall(ctx, batches)
		if gone[at] = call == nil; err != nil || call == nil {
			return err
		}
		d, err := decider.Decide(p.root, *call, p.own)
		if o := history.OutcomeOf(&d); err == nil && (o == history.Asked || o == history.Refused) {
			stopped[at] = &question{past: p, call: call, decision: d}
		}
		return err
	})
	s.found.From, s.found.LeftOut, s.found.since = past.first, past.lost, past.since
	for i, q := range stopped {
		times := past.calls[i].times
		switch {
		case gone[i]:
			s.found.LeftOut += times
			continue
		case q != nil && q.decision.Verdict == umpire.Ask:
			s.addQuestion(q)
		case q != nil:
			s.denied = append(s.denied, q)
		}
		s.found.Calls += times
	}
	return err
}

func (s *suggester) addQuestion(q *question) {
	q.need.Times = q.past.times
	for _, set := range listOptions(&q.decision, q.past.root, s.all) {
		var names []string
		for i := range set {
			name := set[i].commandLine()
			s.known[name] = set[i]
			names = append(names, name)
		}
		q.need.Options = append(q.need.Options, names)
	}
	s.questions = append(s.questions, q)
	s.found.Questions += q.past.times
}

// suggest picks the permissions that settle the most questions, one set after the other. A set counts only if calls
// run when they are decided again with it.
func (s *suggester) suggest(ctx context.Context) (*suggested, error) {
	refused := map[string]bool{}
	for len(s.found.List) < maxSavings && len(refused) < maxRejected {
		var needs []history.Need
		for _, q := range s.questions {
			if !q.settled {
				needs = append(needs, q.need)
			}
		}
		set := history.PickNext(needs, s.has, refused)
		if set == nil {
			break
		}
		settled, err := s.trySet(ctx, set)
		if err != nil {
			return nil, err
		}
		saves := 0
		for _, q := range settled {
			saves += q.past.times
		}
		if saves < minSaved {
			refused[history.SetName(set)] = true
			continue
		}
		if err := s.addSavings(set, settled, saves); err != nil {
			return nil, err
		}
	}
	return &s.found, nil
}

// trySet returns the questions that a set settles together with the suggestions so far, or none if it would also allow
// a guarded call for which it is not offered.
func (s *suggester) trySet(ctx context.Context, set []string) ([]*question, error) {
	decider := s.deciderWith(set...)
	defer decider.Close()
	var open []*question
	for _, q := range s.questions {
		concerns := func(name string) bool { p := s.known[name]; return p.mayConcern(&q.decision) }
		if !q.settled && slices.ContainsFunc(set, concerns) {
			open = append(open, q)
		}
	}
	runs := make([]bool, len(open))
	err := eachCall(ctx, len(open), func(_ context.Context, at int) error {
		d, err := decider.Decide(open[at].past.root, *open[at].call, open[at].past.own)
		runs[at] = d.Verdict == umpire.Allow
		return err
	})
	if err != nil {
		return nil, err
	}
	with := map[string]bool{}
	for name := range s.has {
		with[name] = true
	}
	for _, name := range set {
		with[name] = true
	}
	var settled []*question
	for i, q := range open {
		if !runs[i] {
			continue
		}
		if isGuarded(&q.decision) && !q.need.SettledBy(with) {
			return nil, nil
		}
		settled = append(settled, q)
	}
	return settled, nil
}

// deciderWith returns a decider with the suggestions so far and those of a set.
func (s *suggester) deciderWith(set ...string) *app.Decider {
	names := append(slices.Collect(maps.Keys(s.has)), set...)
	return app.NewDecider(s.app, func(root string, c *gate.Config) {
		for _, name := range names {
			p := s.known[name]
			p.apply(root, c)
		}
	})
}

// findWorst returns the worst call that the rules of a set allow beyond the suggestions so far, or nil.
func (s *suggester) findWorst(set []string, root string) (worst *worstCall, err error) {
	before, after := s.deciderWith(), s.deciderWith(set...)
	defer before.Close()
	defer after.Close()
	for _, name := range set {
		p := s.known[name]
		if p.level != "" {
			continue
		}
		found, err := findWorst(p.rule.Tool, p.rule.Match, func(call umpire.Call) (umpire.Decision, bool, error) {
			call.Dir = root
			d, err := after.Decide(root, call, false)
			if err != nil || d.Verdict != umpire.Allow || worst != nil && !isWorse(&d, &worst.decision) {
				return d, false, err
			}
			was, err := before.Decide(root, call, false)
			return d, was.Verdict != umpire.Allow, err
		})
		if err != nil {
			return nil, err
		}
		if found != nil {
			worst = found
		}
	}
	return worst, nil
}

// isGuarded reports whether only a rule that is offered for this very question may settle it.
func isGuarded(d *umpire.Decision) bool {
	guarded := []umpire.ReasonCode{
		umpire.CodeSecret, umpire.CodeControlFile, umpire.CodeCritical, umpire.CodeForbiddenPath, umpire.CodeDotFolder,
	}
	return d.Consequence.AtLeast(umpire.Outward) || d.Risk.AtLeast(umpire.Critical) ||
		slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool {
			return r.Verdict != umpire.Allow && slices.Contains(guarded, r.Code)
		})
}

// addSavings adds a suggestion and the questions that it settles.
func (s *suggester) addSavings(set []string, settled []*question, saves int) error {
	added := savings{Saving: history.Saving{Saves: saves, Kinds: len(settled), Worst: umpire.Harmless}}
	slices.SortStableFunc(settled, func(a, b *question) int { return cmp.Compare(b.past.times, a.past.times) })
	worst := settled[0]
	for i, q := range settled {
		q.settled = true
		if i < maxExamples {
			added.Calls = append(added.Calls, view.Clip(view.SubjectOf(q.call.Input), maxSubject))
		}
		if d := &q.decision; cmp.Or(cmp.Compare(d.Consequence, worst.decision.Consequence),
			cmp.Compare(d.Risk, worst.decision.Risk)) < 0 {
			worst = q
		}
	}
	added.Worst, added.Call = worst.decision.Consequence, view.Clip(view.SubjectOf(worst.call.Input), maxSubject)
	in := view.Folders{Root: worst.past.root, Home: s.app.UserHome()}
	added.Headline = view.Headline(&worst.decision, in, s.app.Text)
	could, err := s.findWorst(set, worst.past.root)
	if err != nil {
		return err
	}
	if could != nil {
		added.Could = view.Clip(view.SubjectOf(could.call.Input), maxSubject)
		added.CouldSay = view.Headline(&could.decision, in, s.app.Text)
	}
	added.Most = umpire.Harmless
	for _, name := range set {
		p := s.known[name]
		s.has[name] = true
		added.Commands, added.permissions = append(added.Commands, name), append(added.permissions, &p)
		added.Most = umpire.WorseConsequence(added.Most, p.most(added.Worst))
	}
	s.found.List = append(s.found.List, added)
	s.found.Saved += saves
	return nil
}
