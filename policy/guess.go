package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// What a tool of an MCP server does is not known. But one that is handed a command line
// or a path will hardly do something else with it, so that what nobody may do is refused
// there as well: destroying the system, reading a forbidden file, what a deny rule names.
// It is a guess: it asks nobody, and it permits nothing.

// guesses are what the input of such a tool seems to mean. What it cannot mean is no
// error: the tool may have other words than ours.
func guesses(in input, env shell.Env) []umpire.Access {
	var all []umpire.Access
	if line, err := in.text("command", "cmd"); err == nil && line != "" {
		all = shell.Parse(line, env)
	}
	paths, err := in.paths()
	if err != nil {
		return all
	}
	for _, p := range paths {
		if target := fromDir(p, env); target != "" {
			all = append(all, umpire.Access{Kind: umpire.KindRead, Target: target, Risk: umpire.Low, Reason: "a path that a tool is given"})
		}
	}
	return all
}

// judgeGuesses adds the guesses that are refused to the decision.
func judgeGuesses(p *Policy, q *Query, d *umpire.Decision) {
	if len(q.Facts.Guesses) == 0 {
		return
	}
	guessed := slices.Clone(q.Facts.Guesses)
	for i := range guessed {
		weigh(&guessed[i])
	}
	for i, h := range p.findHits(q, guessed) {
		j := judge{policy: p, query: q, subject: h.subject, hits: &h, class: d.Risk.Class()}
		reasons := append(j.hardStop(), j.denyRuleByMatch()...)
		if len(reasons) == 0 {
			continue
		}
		a := guessed[i]
		a.Verdict = umpire.Deny
		harden(&a, &reasons[0])
		for r := range reasons {
			reasons[r].Access = len(d.Accesses)
		}
		d.Accesses, d.Reasons = append(d.Accesses, a), append(d.Reasons, reasons...)
	}
}

// denyRuleByMatch: a rule without a match is about its tool, and this is another one.
func (j *judge) denyRuleByMatch() []umpire.Reason {
	rules := slices.DeleteFunc(slices.Clone(j.hits.rows[rowDenyRule]), func(c *compiled) bool { return c.rule.Match == umpire.Match{} })
	return reasonsOf(rules, rowDenyRule, umpire.Deny)
}
