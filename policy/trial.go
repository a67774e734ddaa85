package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// offerTrial returns the trial available for a call that asks: a foreground command without
// effects that a trial refuses anyway. It returns TrialFirst if the person's autonomy covers
// everything that asks.
func offerTrial(p *Policy, q *Query, d *umpire.Decision) umpire.TrialOffer {
	if d.Verdict != umpire.Ask || p == nil || toolOf(q.Call.Tool).shape != shapeShell || q.Call.Background ||
		q.Sandbox.Mode == umpire.SandboxReadOnly { // its effects could not be kept
		return umpire.NoTrial
	}
	auto, settled, passing := &p.opts.Autonomy, -1, passingIn(p, q, d)
	// A background job would end with its trial.
	inTrial := func(a umpire.Access) bool { return worksOffline(a) || p.opts.fetches(&a) }
	first := q.Mode != umpire.ModeAsk && !needsNetwork(slices.DeleteFunc(slices.Clone(d.Accesses), inTrial)) &&
		!shell.LeavesJob(commandOf(q.Call.Input))
	for _, r := range d.Reasons {
		if r.Access < 0 || r.Access == settled {
			continue
		}
		settled = r.Access
		a := &d.Accesses[r.Access]
		if passing(a, &r) || r.Verdict == umpire.Allow && remains(q, a) {
			continue
		}
		if !canBeTried(a, &r) {
			return umpire.NoTrial
		}
		if r.Verdict == umpire.Ask {
			first = first && triedFirst(auto, d, a, &r) && (a.Doubt == "" || holdsDoubt(p, q, d, a))
		} else {
			first = first && (!liesOutside(a) || mayReadAll(p, q, a))
		}
	}
	if first {
		return umpire.TrialFirst
	}
	return umpire.TrialOffered
}

// passingIn returns a function that reports whether an access concerns a missing path in a temporary
// folder that the line makes and deletes again. A trial discards temporary folders, like the line does.
func passingIn(p *Policy, q *Query, d *umpire.Decision) func(*umpire.Access, *umpire.Reason) bool {
	j := newJudge(p, q, d)
	var passing []string
	for i := range d.Accesses {
		gone := &d.Accesses[i]
		if gone.Kind == umpire.KindDelete && gone.Doubt == "" && !gone.Glob && isScratch(&j, gone) &&
			q.Missing != nil && q.Missing(gone.Resolved) &&
			slices.ContainsFunc(d.Accesses, func(made umpire.Access) bool {
				return made.Kind == umpire.KindWrite && made.Part < gone.Part && isBelow(made.Resolved, gone.Resolved)
			}) {
			passing = append(passing, gone.Resolved)
		}
	}
	return func(a *umpire.Access, r *umpire.Reason) bool {
		return liesOutside(a) && a.Doubt == "" && a.Asks == "" && slices.Contains(passingRows, r.Row) &&
			slices.ContainsFunc(passing, func(name string) bool {
				return isBelow(a.Resolved, name) ||
					a.Table == "cd" && a.Kind == umpire.KindRead && isBelow(name, a.Resolved)
			})
	}
}

// passingRows are the rows that may settle an access to such a path: rows about its place, but not rules.
var passingRows = []int{rowExternal, rowSafe, rowAutonomy, rowMode}

// canBeTried reports whether a trial can show the effects of an access. A trial has no network,
// cannot change files outside, and sees no secrets.
func canBeTried(a *umpire.Access, r *umpire.Reason) bool {
	switch {
	case a.Kind == umpire.KindNetwork || a.Kind == umpire.KindInvoke || r.Row == rowSandbox || r.Row == rowExternal:
		return false
	case a.Kind == umpire.KindExec:
		return a.Consequence != umpire.Outward
	}
	return a.Kind == umpire.KindRead && r.Code != umpire.CodeSecret || !liesOutside(a)
}

// triedFirst reports whether autonomy tries an access that asks: unpredictable code, and
// deletions in the project.
func triedFirst(auto *Autonomy, d *umpire.Decision, a *umpire.Access, r *umpire.Reason) bool {
	mayReach := r.Row == rowControl && (a.Tree || a.Glob) && !liesOutside(a) && !mayHoldGuarded(a.Resolved)
	if r.Row != rowMode && r.Row != rowCode && !mayReach || a.Asks != "" || needsLive(a) {
		return false
	}
	if a.Kind == umpire.KindDelete || a.Kind == umpire.KindExec && deletesIn(d, a.Part) {
		return auto.Deletes
	}
	return auto.UnknownCode && (umpire.Medium.AtLeast(a.Risk) || a.Program == "git" ||
		umpire.Reversible.AtLeast(a.Consequence))
}

// mayReadAll reports whether the call may read everything below its outside reads: code beside
// the read, or working there, sees it. In a temporary folder a trial shows only named files.
func mayReadAll(p *Policy, q *Query, a *umpire.Access) bool {
	switch {
	case a.Kind != umpire.KindRead:
		return false
	case slices.Contains(scratchFolders, a.Resolved+"/") || !a.Glob && q.Missing != nil && q.Missing(a.Resolved):
		return true
	}
	all := *q
	all.Facts.Accesses, all.Facts.Guesses = []umpire.Access{*a}, nil
	all.Facts.Accesses[0].Tree, all.Facts.Accesses[0].Names = true, false
	return decideVerdict(p, all).Verdict == umpire.Allow
}

// remains reports whether a kept trial leaves a file outside: one in /tmp that is new or the session's own.
func remains(q *Query, a *umpire.Access) bool {
	return a.Kind == umpire.KindWrite && !a.Tree && strings.HasPrefix(a.Resolved, scratchFolders[0]) && q.isFresh(a)
}

// holdsDoubt reports whether a trial can settle a doubt about a word that a program only reads. It hides
// secrets and confines the effects of an option. It does not hide files that a person's rule covers.
func holdsDoubt(p *Policy, q *Query, d *umpire.Decision, a *umpire.Access) bool {
	mayBeAbout := func(r umpire.Rule) bool {
		return r.Action != umpire.Allow && (r.Match.PathGlob != "" ||
			a.Program != "" && strings.Contains(r.Match.Command+r.Match.CommandPrefix, a.Program))
	}
	return shell.IsUnknownWord(a.Doubt) && (a.Kind == umpire.KindRead || onlyReads(d, a)) &&
		!slices.ContainsFunc(p.rules, mayBeAbout) && !slices.ContainsFunc(q.Tighten, mayBeAbout)
}

// onlyReads reports whether a program, or a subcommand of git, reads files and has no other
// effects as far as its known words tell.
func onlyReads(d *umpire.Decision, program *umpire.Access) bool {
	words := program.Words
	reads := program.Program == "git" && len(words) > 1 && strings.TrimLeft(words[1], "-\x00") == words[1]
	for i := range d.Accesses {
		a := &d.Accesses[i]
		reads = reads || a.Part == program.Part && a.Kind == umpire.KindRead
		if a.Part == program.Part && a.Kind != umpire.KindRead && a.Place != umpire.PlaceHarmless &&
			(a.Kind != umpire.KindExec || a.Program != program.Program) {
			return false
		}
	}
	return reads && program.Kind == umpire.KindExec
}

// deletesIn reports whether the program of a part deletes files.
func deletesIn(d *umpire.Decision, part int) bool {
	return slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool {
		return a.Kind == umpire.KindDelete && a.Part == part
	})
}
