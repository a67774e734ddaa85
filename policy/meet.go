package policy

import "strings"

// mayMeet reports whether some path could match both a rule's pattern and the wildcards of a
// command. In doubt it returns true. The table says for every pair of tails whether they meet,
// so the time is the product of the two lengths.
func mayMeet(rule, target []segment) bool {
	next := make([]bool, len(target)+1)
	row := make([]bool, len(target)+1)
	for i := len(rule); i >= 0; i-- {
		for j := len(target); j >= 0; j-- {
			row[j] = tailsMeet(rule, target, i, j, row, next)
		}
		row, next = next, row
	}
	return next[0]
}

// tailsMeet fills one cell: row holds the cells (i, >j), next those of i+1.
func tailsMeet(rule, target []segment, i, j int, row, next []bool) bool {
	ruleLeft, targetLeft := i < len(rule), j < len(target)
	switch {
	case ruleLeft && rule[i].sort == deep:
		return next[j] || targetLeft && row[j+1]
	case targetLeft && target[j].sort == deep:
		return row[j+1] || ruleLeft && next[j]
	case ruleLeft && targetLeft:
		return next[j+1] && segmentsMeet(&rule[i], &target[j])
	}
	return !ruleLeft && !targetLeft
}

// segmentsMeet compares one segment of a rule with one of a command. A shell's wildcard at the
// start of a name does not match a dot.
func segmentsMeet(rule, target *segment) bool {
	hidden := strings.HasPrefix(rule.text, ".") && !strings.HasPrefix(target.text, ".")
	switch {
	case hidden && target.sort == wild:
		return false
	case rule.sort == literal && target.sort == wild:
		return target.matches(rule.text)
	case target.sort == literal:
		return rule.matches(target.text)
	case rule.sort == deep || target.sort == deep:
		return true
	}
	return endsMeet(rule.text, target.text)
}

// endsMeet compares the fixed starts and ends of two wildcard segments: no name matches both
// *.lock and *.go.
func endsMeet(a, b string) bool {
	if strings.ContainsRune(a, '\\') || strings.ContainsRune(b, '\\') {
		return true
	}
	startA, startB := a[:strings.IndexAny(a, "*?[")], b[:strings.IndexAny(b, "*?[")]
	endA, endB := a[strings.LastIndexAny(a, "*?]")+1:], b[strings.LastIndexAny(b, "*?]")+1:]
	return (strings.HasPrefix(startA, startB) || strings.HasPrefix(startB, startA)) &&
		(strings.HasSuffix(endA, endB) || strings.HasSuffix(endB, endA))
}
