package prove

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A visitor gets an example with its facts, and returns false to end the walk. supposed says that the facts are not
// those of a known command.
type visitor func(e Example, facts *umpire.Facts, supposed bool) bool

// pathKinds are the kinds of accesses to paths.
var pathKinds = []umpire.AccessKind{umpire.KindRead, umpire.KindWrite, umpire.KindDelete}

// A scope limits a walk over the accesses that a rule matches.
type scope struct {
	with int // another rule that has to match too, or -1
	// settled leaves out paths that a stricter pattern settles for good.
	settled bool
}

// matching visits an example of every class that a rule may match. It returns why it gave up, or "".
func (w *World) matching(at int, in scope, visit visitor) umpire.Phrase {
	r, ended := &w.Rules[at], false
	visit = ending(visit, &ended)
	switch {
	case r.Match.Command+r.Match.CommandPrefix != "":
		if r.Match.PathGlob != "" {
			return "the rule is about both a command and its files"
		}
		w.matchingLines(r, visit)
		return ""
	case r.Match.Domain != "":
		w.matchingHosts(r.Match.Domain, visit)
		return ""
	case r.Match.PathGlob == "":
		if w.matchingTools(r.Tool, visit); ended {
			return ""
		}
	}
	for _, kind := range pathKinds {
		if !w.judges(r.Tool, r.Action, kind) {
			continue
		}
		if stopped := w.matchingPaths(at, kind, in, visit); stopped != "" || ended {
			return stopped
		}
	}
	if strings.Contains(r.Match.PathGlob, ":") || strings.Contains(r.Match.PathGlob, `\`) {
		return umpire.Say("the model has no paths with a colon or a backslash: %s", r.Match.PathGlob)
	}
	return ""
}

// ending returns a visitor that is not called any more after it has returned false.
func ending(visit visitor, ended *bool) visitor {
	return func(e Example, facts *umpire.Facts, supposed bool) bool {
		*ended = *ended || !visit(e, facts, supposed)
		return !*ended
	}
}

func (w *World) matchingPaths(at int, kind umpire.AccessKind, in scope, visit visitor) umpire.Phrase {
	m := w.model(kind, func(i int) string {
		switch {
		case i == at:
			return subject
		case i == in.with:
			return beside
		case i < at:
			return " before"
		}
		return " after"
	})
	if w.Rules[at].Match.PathGlob == "" {
		m.addPattern(subject, "/**", umpire.Allow, false)
	}
	if in.with >= 0 && isAboutPaths(&w.Rules[in.with]) {
		if !w.judges(w.Rules[in.with].Tool, w.Rules[in.with].Action, kind) {
			return ""
		}
		m.also = []int{m.group(beside)}
	}
	if action := w.Rules[at].Action; in.settled && action != umpire.Deny {
		w.giveUp(m, &Question{Kind: kind, Asked: action == umpire.Ask}, "")
	}
	return w.visitPaths(m, kind, visit)
}

// shortest visits a shortest path that a rule matches, and one in the project. Most rules decide one of these.
func (w *World) shortest(at int, visit visitor) {
	r, ended := &w.Rules[at], false
	visit = ending(visit, &ended)
	for _, kind := range pathKinds {
		if !isAboutPaths(r) || ended || !w.judges(r.Tool, r.Action, kind) {
			continue
		}
		m := newPathModel(w.Options, w.Memo.names, w.work)
		m.addPattern(subject, r.Match.PathGlob, r.Action, false)
		w.visitPaths(m, kind, visit)
	}
}

// visitPaths visits the usual calls on a path of every class of the subject.
func (w *World) visitPaths(m *pathModel, kind umpire.AccessKind, visit visitor) umpire.Phrase {
	shapes, begun := w.usualShapes(kind), w.decisions
	overspent := false
	stopped := m.walk(m.group(subject), func(target string, _ groupSet) bool {
		for i := range shapes {
			facts := w.factsOn(&shapes[i], target)
			e := Example{Call: shapes[i].call(target), Command: shapes[i].lineOn(target), Target: target}
			if !visit(e, &facts, false) {
				return false
			}
		}
		overspent = w.decisions-begun > maxDecisions
		return !overspent
	})
	w.spent += m.work + workOfGlob*len(m.globs)
	if overspent {
		return umpire.Say("the question needs more than %s decisions", maxDecisions)
	}
	return stopped
}

// isAboutPaths reports whether a rule matches paths by any command.
func isAboutPaths(r *umpire.Rule) bool {
	return r.Match.PathGlob != "" && r.Match.Command+r.Match.CommandPrefix == ""
}

// matchingLines visits the commands of a rule: its own words, and those with one more word.
func (w *World) matchingLines(r *umpire.Rule, visit visitor) {
	words := wordsOf(r)
	lines := []string{r.Match.Command}
	if r.Match.Command == "" {
		lines = []string{joinWords(words), joinWords(append(slices.Clone(words), freshWord))}
	}
	for _, line := range lines {
		w.visitLine(line, visit)
	}
	for _, line := range lines {
		w.supposeLine(line, visit)
	}
}

// visitLine visits a command line with its own facts.
func (w *World) visitLine(line string, visit visitor) bool {
	facts, err := w.factsOf(line)
	return err != nil || visit(Example{Call: commandCall(line), Command: line, Target: line}, &facts, false)
}

// supposeLine visits a command as if it were harmless, and as if it were dangerous.
func (w *World) supposeLine(line string, visit visitor) bool {
	words, err := policy.SplitPrefix(line)
	if err != nil || len(words) == 0 {
		return true
	}
	for _, risk := range []umpire.Risk{umpire.Safe, umpire.Medium, umpire.High} {
		facts := mildest(words)
		facts.Accesses[0].Risk = risk
		if !visit(Example{Call: commandCall(line), Command: line, Target: line}, &facts, true) {
			return false
		}
	}
	return true
}

func (w *World) matchingHosts(domain string, visit visitor) {
	for _, host := range w.hosts(domain) {
		for _, e := range reaching(host) {
			facts, err := policy.FactsOf(e.Call, w.env())
			w.putInPlace(&facts)
			if err == nil && !visit(e, &facts, false) {
				return
			}
		}
	}
}

// matchingTools visits a call of every tool that a name or pattern stands for, other than those for paths.
func (w *World) matchingTools(pattern string, visit visitor) {
	if policy.ToolNamed(pattern, "Bash") && !(w.visitLine(freshWord, visit) && w.supposeLine(freshWord, visit)) {
		return
	}
	for _, name := range toolNames(pattern) {
		verb, isGit := strings.CutPrefix(name, "Git")
		if isGit && !w.visitLine("git "+strings.ToLower(verb), visit) {
			return
		}
		e := Example{Call: umpire.Call{Tool: name, Input: []byte("{}")}, Target: name}
		facts, err := policy.FactsOf(e.Call, w.env())
		w.putInPlace(&facts)
		if err == nil && !visit(e, &facts, false) {
			return
		}
	}
	if policy.ToolNamed(pattern, "WebFetch") || policy.ToolNamed(pattern, "WebSearch") {
		w.matchingHosts("*", visit)
	}
}

// toolNames returns the tools that a name or pattern stands for, with made-up ones of MCP servers.
func toolNames(pattern string) (names []string) {
	made := []string{
		pattern, pattern + "__" + freshWord, "mcp__" + freshWord + "__" + freshWord,
		strings.ReplaceAll(pattern, "*", freshWord), strings.ReplaceAll(pattern, "*", ""),
		strings.NewReplacer("*", "", "?", "x").Replace(pattern),
	}
	for _, name := range append(policy.ToolNames(), made...) {
		if name != "Bash" && !strings.ContainsAny(name, "*?[{") && policy.ToolNamed(pattern, name) &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// settles reports whether a rule settles an access, and returns the rules and the text that settle accesses that it
// matches.
func settles(d *umpire.Decision, ref umpire.RuleRef) (does bool, others []umpire.RuleRef, rows umpire.Phrase) {
	for i := range d.Accesses {
		var first *umpire.Reason
		matched := false
		for k := range d.Reasons {
			r := &d.Reasons[k]
			if r.Access != i {
				continue
			}
			if first == nil {
				first = r
			}
			matched = matched || r.Rule != nil && *r.Rule == ref
		}
		switch {
		case !matched || first == nil:
		case first.Rule == nil:
			rows = first.Text
		case *first.Rule == ref:
			does = true
		default:
			others = append(others, *first.Rule)
		}
	}
	return does, others, rows
}

// Applies answers whether a rule ever settles an access. If it does not, the answer names the rules that always do so
// before it, or says that it matches nothing.
func (w *World) Applies(at int) Answer {
	ref := w.Rules[at].Ref()
	a := Answer{Dead: true}
	var rows umpire.Phrase
	var maybe *Example
	until := w.decisions + maxBetter
	look := func(e Example, facts *umpire.Facts, supposed bool) bool {
		for _, v := range []view{least, most} {
			e.Decision = w.verdictOn(w.policy, e.Call, *facts, v)
			does, others, row := settles(&e.Decision, ref)
			for _, o := range others {
				if len(a.Rules) < maxNamed && !slices.Contains(a.Rules, o) {
					a.Rules = append(a.Rules, o)
				}
			}
			if a.Dead = a.Dead && !does && len(others) == 0 && row == ""; row != "" {
				rows = row
			}
			switch {
			case does && !supposed && v == least:
				// A call that the rule decides as a whole is a better example than one of its accesses.
				if whole := e.Decision.Rule != nil && *e.Decision.Rule == ref; whole || a.Example == nil {
					shown := e
					a.Result, a.Example = Yes, &shown
					return !whole && w.decisions < until
				}
				return w.decisions < until
			case does && maybe == nil:
				shown := e
				maybe = &shown
			}
		}
		return true
	}
	stopped := umpire.Phrase("")
	if w.shortest(at, look); a.Result != Yes {
		a.Dead, until = true, w.decisions+maxBetter
		stopped = w.matching(at, scope{with: -1, settled: true}, look)
	}
	if a.Dead && a.Result != Yes && stopped == "" {
		// Nothing is left of its paths: a few of them tell why.
		until = w.decisions + maxBetter
		stopped = w.matching(at, scope{with: -1}, func(e Example, facts *umpire.Facts, supposed bool) bool {
			return look(e, facts, supposed) && w.decisions < until
		})
	}
	if stopped == "" && isOwn(wordsOf(&w.Rules[at])) {
		stopped = ownCommands
	}
	switch {
	case a.Result == Yes:
		a.Rules = nil
		if w.Check != nil {
			a.Example.Checked = w.Check(a.Example.Call)
			a.Example.Confirmed, _, _ = settles(&a.Example.Checked, ref)
		}
	case stopped != "":
		a.Why, a.Dead = stopped, false
	case maybe != nil:
		a.Example, a.Dead = maybe, false
		a.Why = "it depends on the files on this machine, or on the options of the command"
	default:
		if a.Result = No; rows != "" {
			a.Why = umpire.Say("the order of decision settles such calls before it: %s", rows)
		}
	}
	return a
}

// maxBetter bounds the search for a better example.
const maxBetter = 60

// ownCommands explains why words alone do not tell how umpire's own commands are decided.
const ownCommands = "umpire finds the verb of its own commands among their options, which the model does not follow"

// isAboutOwn reports whether a rule names a command of umpire itself.
func isAboutOwn(r umpire.Rule) bool { return isOwn(wordsOf(&r)) }

// isOwn reports whether words name umpire itself.
func isOwn(words []string) bool {
	return len(words) > 0 && strings.EqualFold(strings.TrimSuffix(baseName(words[0]), ".exe"), "umpire")
}

// maxNamed is the maximum number of rules in an answer.
const maxNamed = 4

// Conflicts answers whether two rules with different actions match one access. The example's decision tells which one
// prevails.
func (w *World) Conflicts(at, with int) Answer {
	one, other := w.Rules[at], w.Rules[with]
	if one.Action == other.Action {
		return Answer{Result: No, Why: umpire.Say("both rules say %s", umpire.Phrase(one.Action.String()))}
	}
	setting := w.Setting
	setting.Rules = []umpire.Rule{one, other}
	pair, err := New(setting)
	if err != nil {
		return Answer{Why: umpire.Say("a rule is malformed: %s", err)}
	}
	first := slices.IndexFunc(pair.Rules, func(r umpire.Rule) bool { return r.Ref() == one.Ref() })
	a := Answer{}
	var maybe *Example
	both := func(e Example, facts *umpire.Facts, supposed bool) bool {
		for i := range facts.Accesses {
			alone := *facts
			alone.Accesses = facts.Accesses[i : i+1]
			d := pair.verdictOn(pair.policy, e.Call, alone, most)
			if !mentions(&d, one.Ref()) || !mentions(&d, other.Ref()) {
				continue
			}
			e.Decision = w.verdictOn(w.policy, e.Call, *facts, most)
			if !supposed {
				a.Result, a.Example = Yes, &e
				return false
			}
			maybe = &e
		}
		return true
	}
	stopped := pair.matching(first, scope{with: 1 - first}, both)
	if a.Result == Undecided {
		stopped = pair.joined(&one, &other, both, stopped)
	}
	switch {
	case a.Result == Yes:
		if w.Check != nil {
			a.Example.Checked = w.Check(a.Example.Call)
			a.Example.Confirmed = mentions(&a.Example.Checked, one.Ref()) && mentions(&a.Example.Checked, other.Ref())
		}
	case maybe != nil:
		a.Example, a.Why = maybe, "umpire knows of no such command without doubt"
	case stopped != "":
		a.Why = stopped
	default:
		a.Result = No
	}
	return a
}

// joined visits the command lines that begin like one rule and go on like the other. It returns why other lines may
// match both, or what it was given.
func (w *World) joined(one, other *umpire.Rule, visit visitor, stopped umpire.Phrase) umpire.Phrase {
	x, y := wordsOf(one), wordsOf(other)
	if len(x) == 0 || len(y) == 0 {
		if len(x)+len(y) == 0 || one.Match != (umpire.Match{}) && other.Match != (umpire.Match{}) {
			return stopped
		}
		rule := one // the other is about a whole tool
		if len(x) == 0 {
			rule = other
		}
		w.matchingLines(rule, visit)
		return stopped
	}
	for _, words := range [][2][]string{{x, y}, {y, x}} {
		for k := range len(words[1]) + 1 {
			line := joinWords(append(slices.Clone(words[0]), words[1][k:]...))
			if !w.visitLine(line, visit) || !w.supposeLine(line, visit) {
				return stopped
			}
		}
	}
	if stopped != "" || baseName(x[0]) != baseName(y[0]) || differ(x, y) {
		return stopped
	}
	return "options and operands of the two commands may be combined in more ways than were tried"
}

// differ reports whether two commands name different things at one place, so that no command begins like both in any
// order of its options.
func differ(x, y []string) bool {
	for i := range min(len(x), len(y)) {
		if strings.HasPrefix(x[i], "-") || strings.HasPrefix(y[i], "-") {
			return false
		}
		if x[i] != y[i] && !shell.Covers(x[:i+1], y[:i+1]) && !shell.Covers(y[:i+1], x[:i+1]) {
			return true
		}
	}
	return false
}
