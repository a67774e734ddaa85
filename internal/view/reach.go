package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// Reach says what an approval with a scope covers, line by line; nothing means that it
// cannot be given. Rule is the short form of what it is to stand for instead of the
// narrowest.
func (c *Card) Reach(scope umpire.Scope, rule string) []string {
	switch scope {
	case umpire.ScopeOnce:
		return append([]string{c.text.Of("this call only")}, c.planReach()...)
	case umpire.ScopeSession:
		return c.sessionReach(rule)
	case umpire.ScopeProject:
		return c.ruleReach(rule, filepath.Join(c.Session.Root, ".umpire", "permissions.json"))
	case umpire.ScopeGlobal:
		return c.ruleReach(rule, filepath.Join("~", ".umpire", "permissions.json"))
	}
	return nil
}

// planReach names the files that a plan is about.
func (c *Card) planReach() []string {
	var files []string
	for i := range c.Pending.Planned {
		for file := range c.Pending.Planned[i].Files {
			if file = Visible(file); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	slices.Sort(files)
	return []string{c.text.Of("these files may be changed without a further question: ") + strings.Join(files, ", ")}
}

// sessionReach says it for the session: the very command, the paths outside that
// were shown, or the tool inside the project.
func (c *Card) sessionReach(rule string) []string {
	p := &c.Pending
	head := c.text.Of("until this session ends: ")
	if rule != "" {
		return []string{head + adapter.Visible(rule)}
	}
	if p.Access == "command" {
		return []string{head + c.text.Of("exactly this command")}
	}
	var lines []string
	for _, s := range p.Suggestions {
		if p.Type == umpire.Network && s.Match.Domain != "" && s.Scope == umpire.ScopeSession {
			lines = append(lines, head+adapter.Visible(policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})))
		}
	}
	if len(lines) > 0 {
		return lines
	}
	whole := p.Code != umpire.CodeExternalDirectory && p.Code != umpire.CodeRule
	if whole {
		lines = append(lines, head+fmt.Sprintf(c.text.Of("every call of %s inside the project"), Visible(p.Tool)))
	}
	for _, s := range p.Suggestions {
		if s.Match.PathGlob != "" && s.Scope == umpire.ScopeSession && !(whole && filepath.IsLocal(s.Match.PathGlob)) {
			lines = append(lines, head+adapter.Visible(policy.FormatShort(umpire.Rule{Tool: s.Tool, Match: s.Match})))
		}
	}
	return lines
}

// ruleReach names the rules that would be written, and the file.
func (c *Card) ruleReach(rule, file string) []string {
	rules := c.Pending.Rules
	if rule != "" {
		rules = []string{rule}
	}
	var lines []string
	for _, r := range rules {
		lines = append(lines, fmt.Sprintf(c.text.Of("writes the rule \"allow %s\" into %s"), Visible(middleOut(r)), Visible(file)))
	}
	return lines
}

// An Option is one answer that a card offers.
type Option struct {
	Key    string // that is pressed or typed for it
	Text   string // what it does, in one line
	Answer umpire.Answer
}

// scopeKeys are the keys of the scopes and their names, from the narrowest to the widest.
var scopeKeys = []struct {
	key   string
	scope umpire.Scope
	name  string
}{
	{"y", umpire.ScopeOnce, "allow once"}, {"s", umpire.ScopeSession, "allow this session"},
	{"p", umpire.ScopeProject, "always allow"}, {"g", umpire.ScopeGlobal, "always allow, everywhere"},
}

// Options are the answers that the card offers, with what they cover. What hides
// something, or may have run already, is approved once or not at all.
func (c *Card) Options() []Option {
	var options []Option
	for _, o := range scopeKeys {
		lines := c.Reach(o.scope, "")
		if len(lines) == 0 || o.scope != umpire.ScopeOnce && (c.hidden || c.Pending.Indeterminate) {
			continue
		}
		options = append(options, Option{
			o.key, c.text.Of(o.name) + ": " + strings.Join(lines, "; "), umpire.Answer{Choice: umpire.Approve, Scope: o.scope},
		})
	}
	return append(options,
		Option{"n", c.text.Of("deny; what follows is the reason"), umpire.Answer{Choice: umpire.Refuse}},
		Option{"c", c.text.Of("cancel: deny, and stop the turn"), umpire.Answer{Choice: umpire.Cancel}},
	)
}
