package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// offerTrial says what a trial could do for a call that asks: a command in the foreground
// of which nothing is refused in advance where it would run. It comes first where the person's
// autonomy says so of all that asks.
func offerTrial(p *Policy, q *Query, d *umpire.Decision) umpire.TrialOffer {
	if d.Verdict != umpire.Ask || p == nil || toolOf(q.Call.Tool).shape != shapeShell || q.Call.Background {
		return umpire.NoTrial
	}
	auto, settled := &p.opts.Autonomy, -1
	first := !needsNetwork(d.Accesses) && !shell.LeavesJob(commandOf(q.Call.Input)) // a job would end with its trial
	for _, r := range d.Reasons {
		if r.Access < 0 || r.Access == settled {
			continue
		}
		settled = r.Access
		a := &d.Accesses[r.Access]
		if !canBeTried(a, &r) {
			return umpire.NoTrial
		}
		if r.Verdict == umpire.Ask {
			first = first && triedFirst(auto, d, a, &r)
		} else {
			first = first && !liesOutside(a)
		}
	}
	if first {
		return umpire.TrialFirst
	}
	return umpire.TrialOffered
}

// canBeTried reports whether a trial shows what comes of an access. It has no network, and
// neither changes what lies outside nor sees secrets.
func canBeTried(a *umpire.Access, r *umpire.Reason) bool {
	switch {
	case a.Kind == umpire.KindNetwork || a.Kind == umpire.KindInvoke || r.Row == rowSandbox || r.Row == rowExternal:
		return false
	case a.Kind == umpire.KindExec:
		return a.Consequence != umpire.Outward
	}
	return a.Kind == umpire.KindRead && r.Code != umpire.CodeSecret || !liesOutside(a)
}

// triedFirst reports whether autonomy tries what asks about an access: code that nobody can
// judge, and deletions in the project. What is in doubt asks.
func triedFirst(auto *Autonomy, d *umpire.Decision, a *umpire.Access, r *umpire.Reason) bool {
	mayReach := r.Row == rowControl && (a.Tree || a.Glob) && !liesOutside(a) && !mayHoldGuarded(a.Resolved)
	if r.Row != rowMode && r.Row != rowCode && !mayReach || a.Doubt != "" || a.Asks != "" {
		return false
	}
	if a.Kind == umpire.KindDelete || a.Kind == umpire.KindExec && deletesIn(d, a.Part) {
		return auto.Deletes
	}
	return auto.UnknownCode && (umpire.Medium.AtLeast(a.Risk) || umpire.Reversible.AtLeast(a.Consequence))
}

// deletesIn reports whether the program of a part deletes files.
func deletesIn(d *umpire.Decision, part int) bool {
	return slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool {
		return a.Kind == umpire.KindDelete && a.Part == part
	})
}
