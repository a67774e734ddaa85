package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// withinCap reports whether an access stays within the rule's cap. A rule without a cap permits
// any access it matches.
func (c *compiled) withinCap(a *umpire.Access) bool {
	limit := &c.rule.Cap
	if a.Consequence != limit.MaxConsequence && a.Consequence.AtLeast(limit.MaxConsequence) {
		return false
	}
	if limit.Options == umpire.OptionsAny {
		return true
	}
	if a.Kind == umpire.KindNetwork {
		return false // a host is a target, and the rule does not name any
	}
	return a.Kind != umpire.KindExec || c.namesExtras(a)
}

// namesExtras reports whether the rule itself names every option of the access that adds
// effects to the program.
func (c *compiled) namesExtras(a *umpire.Access) bool {
	named := c.words
	if len(c.line) > 0 {
		named = c.line
	}
	return !slices.ContainsFunc(a.Extras, func(option string) bool { return !slices.Contains(named, option) })
}
