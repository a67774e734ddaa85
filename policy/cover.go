package policy

import "github.com/umpirehq/umpire"

// allowing returns the allow rules that cover the access: rules that match it and, for files
// and hosts used by a program, rules that cover the program. The shell performs redirections,
// so those do not count.
func (j *judge) allowing() []*compiled {
	rules := j.hits.rows[rowAllowRule]
	if len(rules) == 0 {
		rules = j.allowingScript()
	}
	if len(rules) > 0 || !j.followsProgram() {
		return rules
	}
	var covering []*compiled
	for _, h := range programsIn(j, j.access().Part) {
		allowed := commandRules(h.rows[rowAllowRule], j.access())
		if len(allowed) == 0 && !isUnremarkable(h.subject.access) {
			return nil
		}
		for _, c := range allowed {
			covering = insertRule(covering, c)
		}
	}
	return covering
}

// allowingScript returns the allow rules for the command whose script causes this access: a
// rule that allows `npm run build` allows its steps.
func (j *judge) allowingScript() []*compiled {
	a := j.access()
	if a.Via == 0 || !canBeAllowed(a) || !startsCommands(j.tool) {
		return nil
	}
	for _, h := range programsIn(j, a.Via) {
		if rules := commandRules(h.rows[rowAllowRule], a); len(rules) > 0 {
			return rules
		}
	}
	return nil
}

// followsProgram reports whether rules that cover the programs of the access's part cover the
// access too.
func (j *judge) followsProgram() bool {
	a := j.access()
	return a.Kind != umpire.KindExec && !a.Redirect && canBeAllowed(a) && startsCommands(j.tool)
}

// isUnremarkable reports whether a program needs no rule beyond the one for the program that it
// helps.
func isUnremarkable(a *umpire.Access) bool { return a.Doubt == "" && umpire.Low.AtLeast(a.Risk) }

// commandRules returns the rules for a program that also cover one of its accesses.
func commandRules(rules []*compiled, does *umpire.Access) []*compiled {
	var commands []*compiled
	for _, c := range rules {
		if (c.forCommand() || c.bare()) && c.withinCap(does) {
			commands = append(commands, c)
		}
	}
	return commands
}

// ruleCovers is like allowing for a single rule, that of a grant.
func (j *judge) ruleCovers(c *compiled) bool {
	if c.matches(j.subject, &j.policy.opts) {
		return true
	}
	if !j.followsProgram() || !c.forCommand() || !c.withinCap(j.access()) {
		return false
	}
	covered := false
	for _, h := range programsIn(j, j.access().Part) {
		matched := c.matches(h.subject, &j.policy.opts)
		if !matched && !isUnremarkable(h.subject.access) {
			return false
		}
		covered = covered || matched
	}
	return covered
}
