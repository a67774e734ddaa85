package policy

import (
	"cmp"
	"errors"
	"path"
	"slices"

	"github.com/umpirehq/umpire"
)

// CheckScope returns why a scope's approval cannot apply to a call, or nil. code is the
// reason for asking, and rules are the rules to be written. Views and the gate both use
// it, so a card never offers an answer that the gate would refuse.
func CheckScope(scope umpire.Scope, code umpire.ReasonCode, rules []umpire.Suggestion) error {
	if scope != umpire.ScopeOnce && code == umpire.CodeControlFile {
		return errors.New("a control file can be approved only once at a time")
	}
	for i := range rules {
		switch {
		case scope == umpire.ScopeProject && rules[i].Scope == umpire.ScopeGlobal:
			return errors.New("only your own rule can allow this; approve it globally")
		case scope == umpire.ScopeGlobal && FolderOutside(&rules[i]):
			return errors.New("a folder outside can be approved only for the session or the project")
		}
	}
	return nil
}

// FolderOutside reports whether a suggestion is about reading everything below a folder
// outside the project.
func FolderOutside(s *umpire.Suggestion) bool {
	glob := s.Match.PathGlob
	return (s.Width == umpire.WidthFolder || s.Width == umpire.WidthParent) && (path.IsAbs(glob) || driveLetter(glob))
}

// Suggested returns the suggestions of a width, by default the narrowest.
func Suggested(all []umpire.Suggestion, width umpire.Width) (set []umpire.Suggestion) {
	for _, s := range all {
		if s.Width == cmp.Or(width, umpire.WidthExact) {
			set = append(set, s)
		}
	}
	return set
}

// LastingGrants returns the grants that a lasting approval of a question leaves, or nil if the gate would refuse it.
func LastingGrants(p *umpire.Pending, scope umpire.Scope, width umpire.Width) []umpire.Grant {
	if CheckScope(scope, p.Code, Suggested(p.Suggestions, width)) != nil {
		return nil
	}
	if scope == umpire.ScopeSession {
		call := umpire.Call{Tool: p.Tool, Input: p.Input}
		d := umpire.Decision{Type: p.Type, ReasonCode: p.Code, Suggestions: p.Suggestions}
		return SessionGrants(&call, &d, width)
	}
	return grantsOf(p.Suggestions, width)
}

// commandTools are the tools whose approvals only cover the same command.
var commandTools = []string{"Bash", "GitCommit", "GitPush", "GitCheckout", "GitStatus", "GitDiff", "GitLog"}

// CoversExact reports whether approving a tool's call for the session only covers the same call.
func CoversExact(tool string, width umpire.Width) bool {
	return slices.Contains(commandTools, tool) && (width == umpire.WidthDefault || width == umpire.WidthExact)
}

// SessionGrants returns the grants that approving a call for the session leaves. It
// returns nil if the call can only be approved once, or if the width has no rules for it.
func SessionGrants(call *umpire.Call, d *umpire.Decision, width umpire.Width) []umpire.Grant {
	switch exact := Exact(*call); {
	case CoversExact(call.Tool, width) && exact == "":
		return nil
	case CoversExact(call.Tool, width):
		return []umpire.Grant{{Tool: call.Tool, Exact: exact}}
	case width == umpire.WidthDefault:
		return usualGrants(call.Tool, d)
	}
	return grantsOf(d.Suggestions, width)
}

// grantsOf returns grants for the suggested rules of a width.
func grantsOf(all []umpire.Suggestion, width umpire.Width) (grants []umpire.Grant) {
	for _, s := range Suggested(all, width) {
		grants = append(grants, umpire.Grant{Tool: s.Tool, Match: s.Match, Cap: s.Cap})
	}
	return grants
}

// usualGrants returns the default grants for a tool that does not run commands: the shown
// hosts and outside paths, and the tool inside the project.
func usualGrants(tool string, d *umpire.Decision) []umpire.Grant {
	var grants []umpire.Grant
	hosts := false
	for _, g := range grantsOf(d.Suggestions, umpire.WidthExact) {
		if host := g.Match.Domain != "" && d.Type == umpire.Network; host || g.Match.PathGlob != "" {
			grants, hosts = append(grants, g), hosts || host
		}
	}
	switch d.ReasonCode { // the other codes do not speak against the whole tool
	case umpire.CodeExternalDirectory, umpire.CodeRule, umpire.CodeSecret, umpire.CodeChanged:
		return grants
	}
	if hosts {
		return grants
	}
	return append([]umpire.Grant{{Tool: tool}}, grants...)
}
