package secret

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// This file converts the scanner's rules for lookup: each pattern is anchored at a
// literal with which it starts. Parsing all of them takes longer than most commands, so
// it is done when scanner_generated.go is generated.

// left are omitted rules.
var left = map[string]string{
	"curl-auth-header":                       "our own rules read headers and options, in bounded time",
	"curl-auth-user":                         "our own rules read headers and options, in bounded time",
	"generic-api-key":                        "our own rules read names with values, and know a path from a secret",
	"hashicorp-tf-password":                  "our own rules read names with values",
	"freemius-secret-key":                    "bound to names of files, which are not known here",
	"nuget-config-password":                  "bound to names of files, which are not known here",
	"pkcs12-file":                            "bound to names of files, which are not known here",
	"kubernetes-secret-yaml":                 "our own rule masks all values, not the first",
	"private-key":                            "our own rule masks a key that has no end, too",
	"sidekiq-sensitive-url":                  "our own rule reads passwords in addresses",
	"facebook-access-token":                  "begins with any number",
	"aws-amazon-bedrock-api-key-short-lived": "matches the beginning that all of them have, and leaves the rest",
}

// changed are patterns cut to the part that can be anchored.
var changed = map[string][2]string{
	"sourcegraph-access-token": {`|[a-fA-F0-9]{40}`, ``}, // any git commit
	"microsoft-teams-webhook":  {`https://[a-z0-9]+\.webhook`, `webhook`},
	"slack-webhook-url":        {`(?:https?://)?hooks`, `hooks`},
}

// leads are patterns whose literal is not at the start: how many bytes may come before
// it.
var leads = map[string]struct {
	literal string
	bytes   int
}{
	"azure-ad-client-secret": {"q~", 5},
	"hashicorp-tf-api-token": {".atlasv1.", 14},
	"maxmind-license-key":    {"_mmk", 36},
}

// The shape of rules that look for the value of a name.
const (
	before   = `[\w.-]{0,50}?`
	operator = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
)

// ends may follow a value. The scanner reads source files; in commands and addresses
// other characters follow as well.
const (
	ends      = `(?:[\x60'"\s;]|\\[nr]|$)`
	moreEnds  = `(?:[\x60'"\s;,&|<>)\]}\\]|$)`
	tokenEnds = `(?:\W|$)`
)

// enoughToKnow is the length from which the shape of a token's literal alone suffices,
// regardless of its entropy: a token in an example is masked as well.
const enoughToKnow = 4

// enoughToGuess is the length from which a literal may be followed by anything.
const enoughToGuess = 3

// A scannerRule is a rule in the form of the scanner's own configuration.
type scannerRule struct {
	ID          string  `toml:"id"`
	Regex       string  `toml:"regex"`
	Entropy     float64 `toml:"entropy"`
	SecretGroup int     `toml:"secretGroup"`
}

// fitAll returns the converted rules, and the errors of the others.
func fitAll(all []scannerRule) (rules []*rule, misfits []error) {
	for _, r := range all {
		if left[r.ID] != "" {
			continue
		}
		fitted, err := r.fit()
		if err != nil {
			misfits = append(misfits, fmt.Errorf("%s: %w", r.ID, err))
			continue
		}
		rules = append(rules, fitted)
	}
	return rules, misfits
}

// fit converts a rule for lookup.
func (r *scannerRule) fit() (*rule, error) {
	pattern, named, err := r.pattern()
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	fitted := &rule{id: r.ID, group: r.SecretGroup, entropy: r.Entropy}
	if value := firstGroup(tree); named && value != nil {
		fitted.plain = slices.Contains(beginningsOf(value.Simplify()), "")
	}
	tree = tree.Simplify()
	if lead, ok := leads[r.ID]; ok {
		fitted.literals, fitted.lead = []string{lead.literal}, lead.bytes
	} else {
		fitted.literals, fitted.word = beginningsOf(tree), isBounded(tree)
		pattern = "^(?:" + pattern + ")"
	}
	shortest := len(slices.MinFunc(fitted.literals, func(a, b string) int { return len(a) - len(b) }))
	if shortest < 2 {
		return nil, fmt.Errorf("%s begins with %q", pattern, fitted.literals)
	}
	if !named && shortest >= enoughToKnow {
		fitted.entropy = 0
	}
	if longest := longestMatch(tree); longest > 0 {
		fitted.longest = longest + 1
	}
	fitted.random = fitted.lead == 0 && shortest < enoughToGuess
	fitted.pattern = pattern
	return fitted, nil
}

// pattern returns the rule's pattern without its optional prefix, and whether it looks
// for the value of a name.
func (r *scannerRule) pattern() (pattern string, named bool, err error) {
	pattern = r.Regex
	if c, ok := changed[r.ID]; ok {
		if !strings.Contains(pattern, c[0]) {
			return "", false, fmt.Errorf("%s is not in %s", c[0], pattern)
		}
		pattern = strings.Replace(pattern, c[0], c[1], 1)
	}
	pattern = strings.ReplaceAll(pattern, before, "")
	named = strings.Contains(pattern, operator) || strings.HasPrefix(pattern, "(?i:")
	if named {
		return strings.ReplaceAll(pattern, ends, moreEnds), named, nil
	}
	return strings.ReplaceAll(pattern, ends, tokenEnds), named, nil
}

// firstGroup returns the first group of a pattern.
func firstGroup(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re.Sub[0]
	}
	for _, sub := range re.Sub {
		if found := firstGroup(sub); found != nil {
			return found
		}
	}
	return nil
}

// isBounded reports whether every match starts at a word boundary.
func isBounded(re *syntax.Regexp) bool {
	if re.Op == syntax.OpCapture || re.Op == syntax.OpConcat {
		return isBounded(re.Sub[0])
	}
	return re.Op == syntax.OpWordBoundary
}

// beginningsOf returns the literals with which matches may start, in lower case, as long
// as they are known and few.
func beginningsOf(re *syntax.Regexp) []string {
	all, _ := beginsWith(re)
	slices.Sort(all)
	return slices.Compact(all)
}

const (
	mostBeginnings   = 24
	longestBeginning = 24
)

// beginsWith returns the starts of re's matches, and whether they are complete matches.
func beginsWith(re *syntax.Regexp) (all []string, whole bool) {
	switch re.Op { //nolint:exhaustive // the others may start with anything
	case syntax.OpLiteral:
		text := strings.Map(unicode.ToLower, string(re.Rune))
		return []string{text[:min(len(text), longestBeginning)]}, len(text) <= longestBeginning
	case syntax.OpCharClass:
		return classMembers(re)
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine:
		return []string{""}, true
	case syntax.OpCapture:
		return beginsWith(re.Sub[0])
	case syntax.OpQuest:
		all, whole = beginsWith(re.Sub[0])
		return append(all, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			some, all1 := beginsWith(sub)
			all, whole = append(all, some...), whole && all1
		}
		return all, whole
	case syntax.OpConcat:
		return beginAll(re.Sub)
	}
	return []string{""}, false
}

func beginAll(subs []*syntax.Regexp) (all []string, whole bool) {
	all = []string{""}
	for _, sub := range subs {
		some, rest := beginsWith(sub)
		if len(all)*len(some) > mostBeginnings || slices.Contains(some, "") && !rest {
			return all, false
		}
		var longer []string
		for _, a := range all {
			for _, s := range some {
				longer = append(longer, a+s)
			}
		}
		if all = longer; !rest || len(all[0]) > longestBeginning {
			return all, false
		}
	}
	return all, true
}

// classMembers returns the characters of a small class; both cases of a letter count as one.
func classMembers(re *syntax.Regexp) (all []string, whole bool) {
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i+1]-re.Rune[i] > 3 || len(re.Rune) > 8 {
			return []string{""}, false
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if r < unicode.MaxASCII { // K and S fold to letters beyond ASCII
				all = append(all, string(unicode.ToLower(r)))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// longestMatch returns the maximum length of a match in bytes, or 0 if it is unlimited.
func longestMatch(re *syntax.Regexp) int {
	switch re.Op { //nolint:exhaustive // the others match only a position
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1 // tokens are ASCII
	case syntax.OpStar, syntax.OpPlus:
		return -1 << 20
	case syntax.OpCapture, syntax.OpQuest:
		return longestMatch(re.Sub[0])
	case syntax.OpRepeat:
		if re.Max < 0 {
			return -1 << 20
		}
		return re.Max * longestMatch(re.Sub[0])
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			sum += longestMatch(sub)
		}
		return sum
	case syntax.OpAlternate:
		longest := 0
		for _, sub := range re.Sub {
			n := longestMatch(sub)
			if n < 0 {
				return n
			}
			longest = max(longest, n)
		}
		return longest
	}
	return 0
}
