package policy

import (
	"io/fs"
	"path"
	"strings"

	"github.com/umpirehq/umpire"
)

// effectReasons describe a trial's effect on a path.
var effectReasons = map[umpire.EffectKind]umpire.Phrase{
	umpire.EffectCreated: "a trial created it", umpire.EffectChanged: "a trial changed it",
	umpire.EffectDeleted: "a trial deleted it", umpire.EffectMoved: "a trial moved it",
	umpire.EffectAttributes: "a trial changed its mode, owner or time",
}

// FactsOfEffects returns the facts of keeping the effects of a trial. Created, changed and
// moved paths and changed attributes are writes, and deleted paths are deletes. A link that
// leads out also writes its target, and a further name of a file writes that file. A refused
// attempt is an access that asks although it had no effect: a refused command has not done its
// job, or tried to do more. An incomplete list is in doubt. Paths are not yet resolved.
func FactsOfEffects(e *umpire.TrialEffects) umpire.Facts {
	facts := umpire.Facts{Type: umpire.FileWrite}
	add := func(a umpire.Access) { facts.Accesses = append(facts.Accesses, a) }
	if !e.Whole {
		add(umpire.Access{
			Kind: umpire.KindInvoke, Target: "trial", Risk: umpire.Medium,
			Doubt: "the trial could not be read as a whole",
		})
	}
	plain := map[string]bool{}
	for _, attempt := range e.Refused {
		if plain[attempt.Target] = attempt.Kind == umpire.AttemptPlain; !plain[attempt.Target] {
			add(accessOfAttempt(attempt))
		}
	}
	for i := range e.List {
		if plain[e.List[i].Path] {
			at := e.List[i].Path
			add(umpire.Access{Kind: umpire.KindInvoke, Target: at, Risk: umpire.Safe,
				Reason: "git notes it there, and it names no program"})
			continue
		}
		for _, a := range accessesOfEffect(&e.List[i]) {
			add(a)
		}
	}
	if len(facts.Accesses) == 0 {
		add(umpire.Access{
			Kind: umpire.KindInvoke, Target: "trial", Risk: umpire.Safe, Reason: "the trial changed nothing",
		})
	}
	return facts
}

// accessesOfEffect returns the accesses of keeping one effect.
func accessesOfEffect(e *umpire.TrialEffect) []umpire.Access {
	why, known := effectReasons[e.Kind]
	if !known || !path.IsAbs(e.Path) {
		return []umpire.Access{{Kind: umpire.KindUnknown, Target: e.Path}}
	}
	at := umpire.Access{
		Kind: umpire.KindWrite, Target: e.Path, Risk: umpire.Medium, Consequence: umpire.Reversible, Reason: why,
		Observed: true,
	}
	if e.Mode.IsDir() {
		at.Table = "mkdir" // as for a command line
	}
	switch {
	case e.Kind == umpire.EffectDeleted:
		at.Kind = umpire.KindDelete
	case e.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 && !e.Mode.IsDir():
		at.Risk, at.Doubt = umpire.High, "a program would get the rights of its owner"
	case e.Mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular) != 0:
		at.Risk, at.Doubt = umpire.High, "not a file, a folder or a link"
	case e.Link != "" && mayHoldGuarded(e.Path):
		at.Doubt = "what lies below it decides what runs on this machine"
	}
	all := []umpire.Access{at}
	also := func(kind umpire.AccessKind, target string, why umpire.Phrase) {
		a := at
		a.Kind, a.Target, a.Reason = kind, target, why
		all = append(all, a)
	}
	if e.From != "" {
		also(umpire.KindDelete, e.From, effectReasons[umpire.EffectMoved])
	}
	if e.SameAs != "" {
		also(umpire.KindWrite, e.SameAs, "gets another name")
	}
	if e.LeadsOut {
		a := umpire.Access{
			Kind: umpire.KindWrite, Target: linkTarget(e), Risk: umpire.High,
			Reason: "a link that a trial made leads there",
		}
		all = append(all, a)
	}
	return all
}

// linkTarget returns the target of a link, absolute and not cleaned.
func linkTarget(e *umpire.TrialEffect) string {
	if path.IsAbs(e.Link) {
		return e.Link
	}
	return strings.TrimSuffix(path.Dir(e.Path), "/") + "/" + e.Link
}

// DoubtRepository says that a folder would become a repository that may name programs.
const DoubtRepository umpire.Phrase = "git could run programs that a new repository names"

// accessOfAttempt returns the access for something that a trial refused.
func accessOfAttempt(t umpire.TrialAttempt) umpire.Access {
	a := umpire.Access{
		Kind: umpire.KindWrite, Target: t.Target, Risk: umpire.Medium, Reason: "the command wanted to write there",
		Asks: umpire.CodeTrial,
	}
	switch t.Kind {
	case umpire.AttemptWrite, umpire.AttemptPlain:
	case umpire.AttemptNetwork:
		a.Kind, a.Reason = umpire.KindNetwork, "the command wanted the network"
	case umpire.AttemptSend:
		a.Kind, a.Reason = umpire.KindNetwork, "the command wanted to send something to a host that only serves files"
	case umpire.AttemptHostKey:
		a.Kind, a.Reason = umpire.KindNetwork, "the command wanted an SSH server whose key you don't know"
	case umpire.AttemptSecret:
		a.Kind, a.Reason = umpire.KindNetwork, "the command wanted to use a secret of yours for something else"
	case umpire.AttemptRepository:
		a.Doubt, a.Reason = DoubtRepository, effectReasons[umpire.EffectCreated]
	case umpire.AttemptHistory:
		a.Doubt, a.Reason = "it would lose commits, or change git's own files by hand",
			effectReasons[umpire.EffectChanged]
	default:
		a.Kind = umpire.KindUnknown
	}
	return a
}
