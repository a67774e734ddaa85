package policy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// CoverageWindow is the age up to which calls are counted.
const CoverageWindow = 30 * 24 * time.Hour

// CountCoverage returns, for each lasting answer to a question, how many of some calls it would have settled and the
// worst of them. It skips calls that would be allowed by now, and the call of the question itself. It stops when ctx
// ends. judge decides a call with additional grants, when no person can be asked.
func CountCoverage(
	ctx context.Context, p *umpire.Pending, calls []umpire.Call,
	judge func(call umpire.Call, grants []umpire.Grant) umpire.Decision,
) ([]umpire.Coverage, error) {
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
			grants := LastingGrants(p, scope, width)
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
