package policy

import (
	"slices"
	"time"
)

// maxHitsPerRow is the maximum number of rules of one row that a decision names for one access.
// It keeps the decision on a tree above thousands of protected files readable.
const maxHitsPerRow = 8

// hits are the rules that match one access, best first within each row.
type hits struct {
	subject *subject
	opts    *Options
	now     time.Time
	// narrow leaves out allow rules that are broad enough for auto mode to strip.
	narrow bool
	rows   [rowAllowRule + 1][]*compiled
}

// offer adds the candidates that match.
func (h *hits) offer(candidates []*compiled) {
	for _, c := range candidates {
		if !c.speaks(h.now, h.narrow) || !c.matches(h.subject, h.opts) {
			continue
		}
		h.rows[c.row] = insertRule(h.rows[c.row], c)
	}
}

// speaks reports whether the rule is in force.
func (c *compiled) speaks(now time.Time, narrow bool) bool {
	if c.allows() && (c.rule.Source == 0 || narrow && c.broad) {
		return false
	}
	return c.rule.ExpiresAt.IsZero() || c.rule.ExpiresAt.After(now)
}

// insertRule keeps the rules sorted, unique and few.
func insertRule(rules []*compiled, c *compiled) []*compiled {
	at, found := slices.BinarySearchFunc(rules, c, func(a, b *compiled) int { return a.order - b.order })
	if found || at >= maxHitsPerRow {
		return rules
	}
	rules = slices.Insert(rules, at, c)
	return rules[:min(len(rules), maxHitsPerRow)]
}
