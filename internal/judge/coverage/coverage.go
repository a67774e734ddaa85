// Package coverage computes how an approval for longer than once would have affected recent calls
// that people were asked about: how many of them it would have settled, and which was the worst.
package coverage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// Window is the age up to which calls are counted.
const Window = 30 * 24 * time.Hour

// A Judge decides a call with additional grants, when no person can be asked.
type Judge func(call umpire.Call, grants []umpire.Grant) umpire.Decision

// Count returns, for each lasting answer to a question, the calls it would have settled. It skips
// calls that would be allowed by now, and the call of the question itself. It stops when ctx ends.
func Count(ctx context.Context, p *umpire.Pending, calls []umpire.Call, judge Judge) ([]umpire.Coverage, error) {
	all := listCandidates(p)
	if len(all) == 0 {
		return nil, nil
	}
	var asking []umpire.Call
	for i := range calls {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		own := calls[i].Session == p.Session && calls[i].ID == p.Call
		if !own && judge(calls[i], nil).Verdict != umpire.Allow {
			asking = append(asking, calls[i])
		}
	}
	counted := make([]umpire.Coverage, len(all))
	for i, c := range all {
		if counted[i] = c.Coverage; c.Scope == umpire.ScopeGlobal { // equivalent to ScopeProject here
			at := slices.IndexFunc(counted[:i], func(of umpire.Coverage) bool {
				return of.Scope == umpire.ScopeProject && of.Width == c.Width
			})
			if at >= 0 {
				counted[i].Calls, counted[i].Of, counted[i].Worst = counted[at].Calls, counted[at].Of, counted[at].Worst
				continue
			}
		}
		counted[i].Of = len(asking)
		for _, call := range asking {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if d := judge(call, c.grants); d.Verdict == umpire.Allow {
				counted[i].Calls++
				counted[i].Worst = worse(counted[i].Worst, d.Accesses)
			}
		}
	}
	return counted, nil
}

// loadTime limits how long a card waits for the result, because an agent chose the calls to judge.
const loadTime = 2 * time.Second

// Load reads the coverage of a question's answers from a gate. It returns nil once the
// question is no longer pending, or if reading takes too long.
func Load(ctx context.Context, gate umpire.Answerer, p *umpire.Pending) ([]umpire.Coverage, error) {
	bounded, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	list, err := gate.Pending(bounded, umpire.PendingQuery{Session: p.Session, Coverage: p.Request})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	for i := range list {
		if list[i].Request == p.Request {
			return list[i].Coverage, err
		}
	}
	return nil, err
}

// worse returns the worst of some accesses and one that may be nil.
func worse(than *umpire.Access, accesses []umpire.Access) *umpire.Access {
	for i := range accesses {
		a := &accesses[i]
		if than == nil || cmp.Or(cmp.Compare(than.Consequence, a.Consequence), cmp.Compare(than.Risk, a.Risk)) > 0 {
			than = a
		}
	}
	return than
}

// A candidate is a lasting answer with the grants that it would leave.
type candidate struct {
	umpire.Coverage

	grants []umpire.Grant
}

// listCandidates returns the lasting answers that a question offers, with each scope's
// widths from narrowest to widest.
func listCandidates(p *umpire.Pending) []candidate {
	if p.Indeterminate {
		return nil
	}
	var all []candidate
	for _, scope := range []umpire.Scope{umpire.ScopeSession, umpire.ScopeProject, umpire.ScopeGlobal} {
		for _, width := range []umpire.Width{
			umpire.WidthDefault, umpire.WidthSubcommand, umpire.WidthFolder, umpire.WidthParent, umpire.WidthTool,
		} {
			grants := Grants(p, scope, width)
			if len(grants) == 0 {
				continue
			}
			for i := range grants {
				grants[i].Scope, grants[i].Standing = scope, scope != umpire.ScopeSession
			}
			all = append(all, candidate{umpire.Coverage{Scope: scope, Width: width}, grants})
		}
	}
	return all
}

// Grants returns the grants that a lasting approval of a question leaves, or nil if the gate would refuse it.
func Grants(p *umpire.Pending, scope umpire.Scope, width umpire.Width) []umpire.Grant {
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
	switch exact := policy.Exact(*call); {
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
