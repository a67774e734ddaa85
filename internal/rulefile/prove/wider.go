package prove

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// Wider answers whether the other world allows a call that this one does not. Both need the same options and
// conditions; only their rules differ. The example is such a call, with the decision of the other world.
func (w *World) Wider(other *World) Answer {
	c := &comparison{one: w, other: other, begun: w.decisions + other.decisions}
	stopped := c.commands()
	for _, step := range []func() umpire.Phrase{c.hosts, c.tools, c.paths} {
		if c.found != nil {
			break
		}
		if why := step(); why != "" {
			stopped = why
		}
	}
	a := Answer{}
	switch {
	case c.found != nil:
		a.Result, a.Example = Yes, c.found
		if other.Check != nil {
			a.Example.Checked = other.Check(a.Example.Call)
			a.Example.Confirmed = a.Example.Checked.Verdict == umpire.Allow
		}
	case c.maybe != nil:
		a.Example, a.Why = c.maybe, "it depends on the files on this machine, or on the options of the command"
	case stopped != "":
		a.Why = stopped
	case slices.ContainsFunc(slices.Concat(w.Rules, other.Rules), isAboutOwn):
		a.Why = ownCommands
	default:
		a.Result = No
	}
	return a
}

// A comparison looks for a call that one world does not allow, and the other does.
type comparison struct {
	one, other   *World
	found, maybe *Example
	begun        int
}

// offer compares the decisions of a call. It returns false once a call is found.
func (c *comparison) offer(e Example, facts *umpire.Facts, supposed bool) bool {
	if c.found != nil {
		return false
	}
	for _, v := range []view{least, most} {
		e.Decision = c.other.verdictOn(c.other.policy, e.Call, *facts, v)
		if e.Decision.Verdict != umpire.Allow {
			continue
		}
		if d := c.one.verdictOn(c.one.policy, e.Call, *facts, v); d.Verdict == umpire.Allow {
			continue
		}
		shown := e
		if v == least && !supposed {
			c.found = &shown
			return false
		}
		if c.maybe == nil {
			c.maybe = &shown
		}
	}
	return true
}

// commands compares a command of every class that the rules of both worlds tell apart.
func (c *comparison) commands() umpire.Phrase {
	lines := [][]string{{freshWord}}
	for _, w := range []*World{c.one, c.other} {
		for i := range w.Rules {
			r := &w.Rules[i]
			words := wordsOf(r)
			for n := 1; n <= len(words); n++ {
				lines = append(lines, words[:n], append(slices.Clone(words[:n]), freshWord))
			}
			if r.Match.Command != "" && !c.one.visitLine(r.Match.Command, c.offer) {
				return ""
			}
		}
	}
	slices.SortFunc(lines, func(a, b []string) int {
		if len(joinWords(a)) != len(joinWords(b)) {
			return len(joinWords(a)) - len(joinWords(b))
		}
		return slices.Compare(a, b)
	})
	lines = slices.CompactFunc(lines, slices.Equal)
	for _, words := range lines {
		if !c.one.visitLine(joinWords(words), c.offer) {
			return ""
		}
	}
	for _, words := range lines {
		if c.one.supposeLine(joinWords(words), c.offer); c.overspent() {
			return umpire.Say("the question needs more than %s decisions", maxDecisions)
		}
	}
	return ""
}

func (c *comparison) overspent() bool {
	return c.one.decisions+c.other.decisions-c.begun > maxDecisions
}

func (c *comparison) hosts() umpire.Phrase {
	both := World{Setting: c.one.Setting}
	both.Rules = slices.Concat(c.one.Rules, c.other.Rules)
	both.matchingHosts("*", c.offer)
	return ""
}

func (c *comparison) tools() umpire.Phrase {
	for _, w := range []*World{c.one, c.other} {
		for i := range w.Rules {
			if w.Rules[i].Match == (umpire.Match{}) {
				w.matchingTools(w.Rules[i].Tool, c.offer)
			}
		}
	}
	return ""
}

// paths compares a path of every class for every kind of access.
func (c *comparison) paths() (stopped umpire.Phrase) {
	for _, kind := range pathKinds {
		m := newPathModel(c.one.Options, c.one.Memo.names, c.one.work)
		if !c.addChanged(m, kind) {
			continue
		}
		c.one.addTo(m, kind, "", c.one.unlike(c.other, " one"))
		c.other.addTo(m, kind, "other", c.other.unlike(c.one, " other"))
		c.other.giveUp(m, &Question{Kind: kind}, "other")
		shapes := slices.Clone(c.one.shapes(kind))
		for _, s := range c.other.shapes(kind) {
			if !slices.ContainsFunc(shapes, func(o shape) bool { return o.tool == s.tool && o.line == s.line }) {
				shapes = append(shapes, s)
			}
		}
		why := m.walk(m.group(subject), func(target string, _ groupSet) bool {
			for i := range shapes {
				s := &shapes[i]
				if s.rule != nil {
					continue // no such command is known
				}
				facts := c.one.factsOn(s, target)
				e := Example{Call: s.call(target), Command: s.lineOn(target), Target: target}
				if !c.offer(e, &facts, false) {
					return false
				}
			}
			return !c.overspent()
		})
		if c.overspent() {
			why = umpire.Say("the question needs more than %s decisions", maxDecisions)
		}
		if why == "" && m.leftOut != "" {
			why = umpire.Say("the model has no paths with a colon or a backslash: %s", m.leftOut)
		}
		if why != "" {
			stopped = why
		}
	}
	return stopped
}

// addChanged adds the patterns as the subject by which the other world may allow more. It allows no path that matches
// none of them, unless this world does. It returns false without any.
func (c *comparison) addChanged(m *pathModel, kind umpire.AccessKind) (differ bool) {
	for _, pair := range [][2]*World{{c.one, c.other}, {c.other, c.one}} {
		w := pair[0]
		_, apart := c.one.lifting(kind)
		for i := range w.Rules {
			r := &w.Rules[i]
			switch {
			case pair[1].has(r) || !apart && (r.Action == umpire.Allow) == (w == c.one):
				// Nothing becomes allowed by a rule that allows and goes, or by one that denies or asks and comes.
			case r.Match.PathGlob == "" || r.Match.Command+r.Match.CommandPrefix != "":
				// It may be about any path, by the program that touches it.
				if differ = true; r.Match.Domain == "" {
					m.addPattern(subject, "/**", umpire.Allow, false)
				}
			case w.judges(r.Tool, r.Action, kind):
				differ = true
				m.addPattern(subject, r.Match.PathGlob, r.Action, false)
			}
		}
	}
	return differ
}

// has reports whether a world has the same rule, wherever it stands.
func (w *World) has(r *umpire.Rule) bool {
	return slices.ContainsFunc(w.Rules, func(o umpire.Rule) bool {
		return o.Action == r.Action && o.Tool == r.Tool && o.Match == r.Match && o.Cap == r.Cap &&
			o.Source == r.Source && o.ExpiresAt.Equal(r.ExpiresAt)
	})
}

// unlike keeps the rules apart that another world does not have.
func (w *World) unlike(other *World, side string) marking {
	return func(at int) string {
		if other.has(&w.Rules[at]) {
			return ""
		}
		return side
	}
}

// A Finding is a rule that decides nothing.
type Finding struct {
	Rule umpire.Rule
	// By are rules that always settle its accesses before it. Without any, the rule matches nothing.
	By []umpire.RuleRef
}

// Lint returns the rules that match nothing, and those whose accesses other rules always settle. A rule that
// only repeats the default is no finding. It stops after maxLinted steps, and says whether it saw every rule.
func (w *World) Lint() (findings []Finding, whole bool) {
	begun := w.spent
	for i := range w.Rules {
		if w.spent-begun > maxLinted {
			return findings, false
		}
		a := w.Applies(i)
		if a.Result == No && (a.Dead || len(a.Rules) > 0 && a.Why == "") {
			findings = append(findings, Finding{Rule: w.Rules[i], By: a.Rules})
		}
	}
	return findings, true
}

// maxLinted bounds the steps of Lint: a few seconds. workOfGlob are those that a pattern takes before the walk.
const (
	maxLinted  = 3_000_000
	workOfGlob = 20
)
