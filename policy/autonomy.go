package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// An Autonomy is a person's standing answers to kinds of calls. Each works like an allow rule:
// every row that denies or asks by name comes first. The zero value answers nothing.
type Autonomy struct {
	// OutsideReads allows reads outside the project that name no secret.
	OutsideReads bool
	// Scratch counts temporary folders as inside the project.
	Scratch bool
	// Edits allows writes in the project: editing, formatting, making folders, copying and
	// moving.
	Edits bool
	// UnknownCode tries code first if reading it cannot tell its effects, and Deletes does so
	// for deletions in the project. Their effects in the project are then kept.
	UnknownCode, Deletes bool
	// LocalGit allows git to record changes that it can undo: add, commit, branch, stash.
	LocalGit bool
	// Network is the answer about the hosts in Settings.Destinations.
	Network umpire.NetworkAnswer
}

// A Level is a named set of standing answers.
type Level string

// The levels. Low answers nothing.
const (
	AutonomyLow    Level = "low"
	AutonomyMedium Level = "medium"
	AutonomyHigh   Level = "high"
)

// Levels are all levels, the strictest first.
var Levels = []Level{AutonomyLow, AutonomyMedium, AutonomyHigh}

// Autonomy returns the standing answers of a level. An unknown level answers nothing.
func (l Level) Autonomy() (a Autonomy) {
	if l == AutonomyMedium || l == AutonomyHigh {
		a = Autonomy{
			OutsideReads: true, Scratch: true, Edits: true, UnknownCode: true, Deletes: true, LocalGit: true,
			Network: umpire.NetworkOnce,
		}
	}
	if l == AutonomyHigh {
		a.Network = umpire.NetworkListed
	}
	return a
}

// Raised returns the policy at the level above its own, or nil if no level is above it.
func (p *Policy) Raised() (*Policy, Level) {
	raised := *p
	for i, next := range Levels[1:] {
		if raised.opts.Autonomy = next.Autonomy(); Levels[i].Autonomy() == p.opts.Autonomy {
			return &raised, next
		}
	}
	return nil, ""
}

// autonomyOutside answers before row 9 asks about a path outside the project.
func autonomyOutside(j *judge) []umpire.Reason {
	a, auto := j.access(), &j.policy.opts.Autonomy
	if !j.outside || a.Doubt != "" || a.Asks != "" || j.given.Mode == umpire.ModeAsk {
		return nil
	}
	switch {
	case isScratch(j, a) &&
		(a.Kind == umpire.KindRead && searchFindsNothing(j) || auto.Edits && isEditing(j) && j.given.isFresh(a)):
		return answered("autonomy-scratch", "Runs by the person's autonomy: temporary folders count as inside")
	case auto.OutsideReads && a.Kind == umpire.KindRead && umpire.Low.AtLeast(a.Risk) && !inSystemState(a) &&
		!searchesHome(j, a) && !hidesSecret(j, a) && searchFindsNothing(j) &&
		(!inHome(j, a) || j.given.Seen != nil && j.given.Seen(a)):
		return answered("autonomy-outside-reads", "Runs by the person's autonomy: reads outside the project")
	}
	return nil
}

// autonomyInside answers after rules and grants, in place of the mode's question.
func autonomyInside(j *judge) []umpire.Reason {
	a, auto := j.access(), &j.policy.opts.Autonomy
	if a.Doubt != "" || a.Asks != "" || j.given.Mode == umpire.ModeAsk || j.harmless() || j.outside {
		return nil
	}
	switch {
	case newDotFolder(j) != "":
	case a.Observed && a.Table != TableGitTree:
		if a.Kind == umpire.KindDelete && auto.Deletes || a.Kind == umpire.KindWrite && auto.UnknownCode {
			return answered("autonomy-trial",
				"Kept by the person's autonomy: a trial did it in the project, and umpire can undo it")
		}
	case auto.Edits && umpire.Medium.AtLeast(a.Risk) && j.given.BeyondUndo == "" && isEditing(j):
		return answered("autonomy-edits", "Runs by the person's autonomy: edits in the project")
	case auto.LocalGit && recordsLocally(j):
		return answered("autonomy-local-git",
			"Runs by the person's autonomy: git records it here, and can undo it")
	case reachesListed(j):
		return answered("autonomy-network", "Runs by the person's autonomy: a listed destination")
	}
	return nil
}

// answered returns the reason of a standing answer.
func answered(id umpire.RuleID, text umpire.Phrase) []umpire.Reason {
	return []umpire.Reason{{
		Row: rowAutonomy, Verdict: umpire.Allow, Code: umpire.CodeAutonomy, Text: text,
		Rule: &umpire.RuleRef{ID: id, Source: umpire.SourceUser},
	}}
}

// recordsLocally reports whether a git command only records changes that git itself can undo,
// or writes files that are listed as separate accesses.
func recordsLocally(j *judge) bool {
	a := j.access()
	if a.Table == TableGitTree {
		return true
	}
	if !j.given.NoHooks || a.Kind != umpire.KindExec || a.Code || a.Online || len(a.Words) < 2 || a.Words[0] != "git" ||
		len(a.Line) != len(a.Words) {
		return false
	}
	switch a.Words[1] {
	case "switch", "checkout", "stash":
		return j.given.GitKnown
	}
	return onlyRecords(a.Words) && !a.Consequence.AtLeast(umpire.Outward)
}

// TableGitTree marks paths that git would replace with another version or remove.
const TableGitTree = "git tree"

// scratchFolders are the temporary folders of systems and agents.
var scratchFolders = []string{"/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/"}

// isScratch reports whether a path lies in a temporary folder both as written and as resolved.
// A link from the project into one does not count, and neither does a home.
func isScratch(j *judge, a *umpire.Access) bool {
	within := func(name string) bool {
		return slices.ContainsFunc(scratchFolders, func(dir string) bool { return strings.HasPrefix(name, dir) })
	}
	o := &j.policy.opts
	return o.Autonomy.Scratch && within(a.Target) && within(a.Resolved) && !strings.Contains(a.Target, "/..") &&
		(o.Home == "" || !isBelow(a.Resolved, o.Home)) && (o.Root == "" || !isBelow(a.Target, o.Root))
}

// hidesSecret reports whether a path that climbs would name a secret if it began at the root: a
// program that counts the steps differently reads that file.
func hidesSecret(j *judge, a *umpire.Access) bool {
	at := strings.LastIndex(a.Target, "/../")
	if at < 0 {
		return false
	}
	file := a.Target[at+len("/.."):]
	return j.policy.NamesSecret(file) || len(j.policy.hitsOfReading(file).rows[rowDenyRule]) > 0
}

// searchesHome reports whether an access searches a home, a folder above it, or the text in one
// of its settings folders, where secrets have few known names.
func searchesHome(j *judge, a *umpire.Access) bool {
	home := j.policy.opts.Home
	return a.Tree && (a.Resolved == "/" || home != "" && (isBelow(home, a.Resolved) ||
		!a.Names && path.Dir(a.Resolved) == home && strings.HasPrefix(path.Base(a.Resolved), ".")))
}

// inHome reports whether a path lies in the person's home, or in a home on any system. Windows has them on a drive.
func inHome(j *judge, a *umpire.Access) bool {
	home := j.policy.opts.Home
	name := strings.ToLower(a.Resolved)
	if home != "" && isBelow(name, strings.ToLower(home)) {
		return true
	}
	drive, rest, found := strings.Cut(strings.TrimPrefix(name, "/mnt"), "/users")
	if found && len(drive) <= len("/c:") {
		return rest == "" || rest[0] == '/'
	}
	return isBelow(name, "/root") || isBelow(name, "/home")
}

// asksInHome explains that reads in homes ask unless autonomy covers them.
func asksInHome(a *umpire.Access) umpire.Phrase {
	return umpire.Say("%q is in a home; unasked reads there cover toolchains, settings and files that git tracks",
		a.Target)
}

// isFresh reports whether a write reaches only new files or the session's own.
func (c *Conditions) isFresh(a *umpire.Access) bool { return c.Fresh != nil && c.Fresh(a) }

// asksOfOthers explains that writes to temporary files ask unless the session made them.
func asksOfOthers(a *umpire.Access) umpire.Phrase {
	return umpire.Say("%q is a temporary file that this session has not made", a.Target)
}

// NeedsLook reports whether a decision asks about a read in a home, or about a write to a file
// in a temporary folder. A caller that can look at the files may decide differently.
func NeedsLook(d *umpire.Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool {
		if r.Access < 0 {
			return false
		}
		a := &d.Accesses[r.Access]
		return a.Verdict == umpire.Ask && (r.Text == asksInHome(a) || r.Text == asksOfOthers(a))
	})
}

var systemState = []string{"/proc", "/dev", "/sys", "/run"}

// Landmarks returns the folders that the order of decision knows by name, other than by rules.
func Landmarks() []string {
	return slices.Concat(scratchFolders, systemState, []string{"/root", "/home"})
}

// inSystemState reports whether a path shows processes, devices or the kernel instead of files.
func inSystemState(a *umpire.Access) bool {
	return slices.ContainsFunc(systemState, func(dir string) bool { return isBelow(a.Resolved, dir) })
}

// searchFindsNothing reports whether a search outside the project would read no secret and
// follow no link. It returns false if Query.Search cannot tell.
func searchFindsNothing(j *judge) bool {
	found, looked := lookThrough(j)
	return looked && found.IsNothing()
}

// isListed reports whether an access only reads from a host that the person listed as a destination.
func (s *Settings) isListed(a *umpire.Access) bool {
	return a.Kind == umpire.KindNetwork && umpire.Medium.AtLeast(a.Risk) && hostProblem(a.Target) == "" &&
		slices.ContainsFunc(s.Destinations, func(domain string) bool { return hostMatches(domain, hostName(a.Target)) })
}

// reachesListed reports whether the access reaches a listed host that needs no question: by
// umpire.NetworkListed, or by umpire.NetworkOnce after an approval in this session.
func reachesListed(j *judge) bool {
	s, a := &j.policy.opts.Settings, j.access()
	approved := func(g umpire.Grant) bool {
		return g.Network && g.Match.Domain == hostName(a.Target) && !hasExpired(g.ExpiresAt, j.given.Now)
	}
	return s.isListed(a) && (s.Autonomy.Network == umpire.NetworkListed ||
		s.Autonomy.Network == umpire.NetworkOnce && slices.ContainsFunc(j.given.Grants, approved))
}

// HostsOnce returns the listed hosts that approving a decision opens for the session. It
// returns none if the decision asks about anything else, or for another reason.
func (s *Settings) HostsOnce(d *umpire.Decision) (hosts []string) {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		settles := slices.IndexFunc(d.Reasons, func(r umpire.Reason) bool { return r.Access == i })
		switch {
		case a.Verdict == umpire.Allow:
		case s.Autonomy.Network != umpire.NetworkOnce || !s.isListed(a) ||
			settles < 0 || d.Reasons[settles].Text != asksOnce(a):
			return nil
		default:
			hosts = append(hosts, hostName(a.Target))
		}
	}
	return hosts
}

// asksOnce explains that a listed host asks once.
func asksOnce(a *umpire.Access) umpire.Phrase {
	return umpire.Say("%s is one of your destinations: one approval opens it for this session", hostName(a.Target))
}
