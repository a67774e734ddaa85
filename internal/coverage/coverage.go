// Package coverage works out what an approval for longer than once would have meant for the calls
// that people were asked about lately: how many of them it would have settled, and which was the worst.
package coverage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// Window is how far back calls are looked at.
const Window = 30 * 24 * time.Hour

// A Judge decides a call that nobody can be asked about, as it would be decided with further grants.
type Judge func(call umpire.Call, grants []umpire.Grant) umpire.Decision

// Count says, for each answer to a question that lasts, which of the calls it would have settled. A call
// that would be allowed by now, or that the question is about, is not counted. It stops when ctx ends.
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
		if counted[i] = c.Coverage; c.Scope == umpire.ScopeGlobal { // in this project it is as one for the project
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

// loadTime bounds how long a card waits for it: an agent chose the calls that are judged for it.
const loadTime = 2 * time.Second

// Load reads what the answers to a question would have settled from a gate; nothing once it no longer waits,
// and where that takes too long.
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

// worse returns the worst of some accesses, and of one that may be nil.
func worse(than *umpire.Access, accesses []umpire.Access) *umpire.Access {
	for i := range accesses {
		a := &accesses[i]
		if than == nil || cmp.Or(cmp.Compare(than.Consequence, a.Consequence), cmp.Compare(than.Risk, a.Risk)) > 0 {
			than = a
		}
	}
	return than
}

// A candidate is an answer that lasts, with the grants that it would leave.
type candidate struct {
	umpire.Coverage

	grants []umpire.Grant
}

// listCandidates are the answers that a question offers for longer than once, the widths of each scope from
// the narrowest.
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

// Grants are what an approval of a question leaves that lasts: none where the gate would refuse it.
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

// commandTools are those whose approvals cover the very command and no other.
var commandTools = []string{"Bash", "GitCommit", "GitPush", "GitCheckout", "GitStatus", "GitDiff", "GitLog"}

// CoversExact reports whether an approval of a tool's call for the session covers the very call and no other.
func CoversExact(tool string, width umpire.Width) bool {
	return slices.Contains(commandTools, tool) && (width == umpire.WidthDefault || width == umpire.WidthExact)
}

// SessionGrants are the grants that an approval of a call for the session leaves: none where it can be approved
// only once, or where no rule of the width can stand for it.
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

// grantsOf are grants for what the suggested rules of a width cover.
func grantsOf(all []umpire.Suggestion, width umpire.Width) (grants []umpire.Grant) {
	for _, s := range Suggested(all, width) {
		grants = append(grants, umpire.Grant{Tool: s.Tool, Match: s.Match, Cap: s.Cap})
	}
	return grants
}

// usualGrants are those of a tool that runs no commands where nobody says how wide: the hosts and the paths
// outside that were shown, and the tool inside the project.
func usualGrants(tool string, d *umpire.Decision) []umpire.Grant {
	var grants []umpire.Grant
	hosts := false
	for _, g := range grantsOf(d.Suggestions, umpire.WidthExact) {
		if host := g.Match.Domain != "" && d.Type == umpire.Network; host || g.Match.PathGlob != "" {
			grants, hosts = append(grants, g), hosts || host
		}
	}
	switch d.ReasonCode { // the other codes say nothing against the whole tool
	case umpire.CodeExternalDirectory, umpire.CodeRule, umpire.CodeSecret, umpire.CodeChanged:
		return grants
	}
	if hosts {
		return grants
	}
	return append([]umpire.Grant{{Tool: tool}}, grants...)
}
