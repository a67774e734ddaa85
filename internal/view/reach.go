package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// Reach lists the coverage of an approval, line by line; nil means that it cannot be
// given. Its rule, or else its width, decides the coverage.
func (c *Card) Reach(a umpire.Answer) []string {
	if CheckReach(c, &a) != nil {
		return nil
	}
	var lines []string
	switch a.Scope {
	case umpire.ScopeOnce:
		return append([]string{c.text.Of("this call only")}, c.planReach()...)
	case umpire.ScopeSession:
		lines = c.sessionReach(&a)
	case umpire.ScopeProject:
		lines = c.ruleReach(&a, filepath.Join(c.Session.Root, ".umpire", "permissions.json"))
	case umpire.ScopeGlobal:
		lines = c.ruleReach(&a, filepath.Join("~", ".umpire", "permissions.json"))
	}
	if len(lines) > 0 && !a.ExpiresAt.IsZero() {
		lines = append(lines, fmt.Sprintf(c.text.Of("until %s"), a.ExpiresAt.Local().Format("2006-01-02 15:04")))
	}
	return lines
}

// planReach names the files and commands that a plan is about.
func (c *Card) planReach() (lines []string) {
	var files []string
	for i := range c.Pending.Planned {
		if line := c.Pending.Planned[i].Command; line != "" {
			lines = append(lines, c.text.Of("this command may run once without a further question: ")+Visible(line))
		}
		for file := range c.Pending.Planned[i].Files {
			if file = Visible(file); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(files) > 0 {
		slices.Sort(files)
		said := c.text.Of("these files may be changed without a further question: ")
		lines = append([]string{said + strings.Join(files, ", ")}, lines...)
	}
	return lines
}

// sessionReach lists the coverage for the session: the exact command, the shown outside
// paths, or the tool inside the project; or the coverage of the width.
func (c *Card) sessionReach(a *umpire.Answer) []string {
	head := c.text.Of("until this session ends: ")
	if a.Rule != "" {
		return []string{head + Visible(a.Rule)}
	}
	whole := false
	var lines []string
	for _, g := range policy.LastingGrants(&c.Pending, umpire.ScopeSession, a.Width) {
		switch {
		case g.Exact != "":
			lines = append(lines, head+c.text.Of("exactly this command"))
		case a.Width == umpire.WidthDefault && g.Match == (umpire.Match{}):
			whole = true
			lines = append(lines, head+fmt.Sprintf(c.text.Of("every call of %s inside the project"), Visible(g.Tool)))
		case !whole || !filepath.IsLocal(g.Match.PathGlob):
			like := umpire.Suggestion{Tool: g.Tool, Match: g.Match, Cap: g.Cap, Width: a.Width}
			lines = append(lines, head+c.covers(&like))
		}
	}
	return lines
}

// CheckReach returns the reason why the gate would reject a lasting approval, or nil.
func CheckReach(c *Card, a *umpire.Answer) error {
	rules := policy.Suggested(c.Pending.Suggestions, a.Width)
	if a.Rule != "" { // the rule replaces them
		rules = nil
	}
	return policy.CheckScope(a.Scope, c.Pending.Code, rules)
}

// Widths returns the possible widths of an approval for a scope, other than the
// default, the narrowest.
func (c *Card) Widths(scope umpire.Scope) []umpire.Width {
	var widths []umpire.Width
	for _, s := range c.Pending.Suggestions {
		if s.Width == umpire.WidthExact || s.Width == umpire.WidthDefault || slices.Contains(widths, s.Width) ||
			scope == umpire.ScopeOnce || CheckReach(c, &umpire.Answer{Scope: scope, Width: s.Width}) != nil {
			continue
		}
		widths = append(widths, s.Width)
	}
	return widths
}

// covers describes the coverage of a rule, with its cap.
func (c *Card) covers(s *umpire.Suggestion) string {
	short := Visible(middleOut(policy.FormatShort(s.Rule())))
	if s.Width == umpire.WidthTool && s.Match == (umpire.Match{}) {
		short = Bracketed(short, fmt.Sprintf(c.text.Of("every file: every call of %s"), Visible(s.Tool)))
	}
	folder, ok := strings.CutSuffix(s.Match.PathGlob, "/**")
	if ok && policy.FolderOutside(s) {
		short = Bracketed(short, fmt.Sprintf(c.text.Of("read anything below %s"), Visible(middleOut(folder))))
	}
	if s.Cap != (umpire.Cap{}) {
		most := c.text.Word("consequence", s.MaxConsequence.String())
		short = Bracketed(short, fmt.Sprintf(c.text.Of("no option that does more, no consequence beyond: %s"), most))
	}
	return short
}

// ruleReach names the rules that would be written, and the file.
func (c *Card) ruleReach(a *umpire.Answer, file string) []string {
	rules := c.Pending.Rules
	switch {
	case a.Rule != "":
		rules = []string{middleOut(a.Rule)}
	case a.Width != umpire.WidthDefault && a.Width != umpire.WidthExact:
		rules = nil
		for _, s := range policy.Suggested(c.Pending.Suggestions, a.Width) {
			rules = append(rules, c.covers(&s))
		}
	}
	var lines []string
	for _, r := range rules {
		said := c.text.Of("writes the rule \"allow %s\" into %s")
		lines = append(lines, fmt.Sprintf(said, Visible(middleOut(r)), Visible(file)))
	}
	return lines
}

// An Option is one answer that a card offers.
type Option struct {
	Key    string // that is pressed or typed for it
	Text   string // the effect, in one line
	Answer umpire.Answer
}

// A ScopeKey is the key that approves for a scope, with its description: Name as a
// separate line, Menu in a menu of scopes.
type ScopeKey struct {
	Key   string
	Scope umpire.Scope

	Name, Menu string
}

// scopeKeys lists all keys, from the narrowest scope to the widest.
var scopeKeys = []ScopeKey{
	{"y", umpire.ScopeOnce, "allow once", "allow this time"},
	{"s", umpire.ScopeSession, "allow this session", "allow this session"},
	{"p", umpire.ScopeProject, "always allow", "allow this project"},
	{"g", umpire.ScopeGlobal, "always allow, everywhere", "allow everywhere"},
}

// ScopeKeys are those for which the card can be approved. A call that hides something, may have
// run already, or is about the network alone is approved once or not at all.
func (c *Card) ScopeKeys() []ScopeKey {
	if c.hidden || c.Pending.Indeterminate || c.Pending.TrialOffer == umpire.TrialAgain {
		return scopeKeys[:1]
	}
	return scopeKeys
}

// Options returns the card's possible answers with their coverage: for each scope the
// narrowest, then the wider ones.
func (c *Card) Options() []Option {
	var options []Option
	for _, o := range c.ScopeKeys() {
		for i, width := range append([]umpire.Width{umpire.WidthDefault}, c.Widths(o.Scope)...) {
			answer := umpire.Answer{Choice: umpire.Approve, Scope: o.Scope, Width: width}
			lines := c.Reach(answer)
			if len(lines) == 0 {
				continue
			}
			lines = append(lines, DescribeCoverage(c, answer)...)
			key := o.Key
			if i > 0 {
				key += strconv.Itoa(i + 1)
			}
			options = append(options, Option{key, Joined(c.text.Of(o.Name), ": ", List(lines, "; ")), answer})
		}
	}
	if said := DescribeOffer(c.Pending.TrialOffer, c.text); said != "" {
		options = append(options, Option{"t", said, umpire.Answer{Choice: umpire.Try}})
	}
	return append(options,
		Option{"n", c.text.Of("deny; add the reason after it"), umpire.Answer{Choice: umpire.Refuse}},
		Option{"c", c.text.Of("cancel: deny, and stop the turn"), umpire.Answer{Choice: umpire.Cancel}},
	)
}
