package policy

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
	"github.com/umpirehq/umpire/shell"
)

// weighAccess settles the risk of an access by the place of its path, which the facts of a
// command line alone do not tell: /dev/null and similar devices are harmless, and changing
// files outside the project is dangerous. A host on this machine or in its network always asks,
// and the reason says so.
func weighAccess(a *umpire.Access) {
	switch {
	case a.Kind == umpire.KindNetwork:
		weighHost(a)
		weighSecret(a, a.Target)
	case !a.Paths() || a.Kind == umpire.KindRead:
	case a.Place == umpire.PlaceHarmless && a.Kind == umpire.KindWrite:
		a.Risk, a.Reason = umpire.Safe, "goes nowhere"
	case a.Place == umpire.PlaceOutside:
		a.Risk = umpire.Worse(a.Risk, umpire.High)
	}
}

func weighHost(a *umpire.Access) {
	if doubt := urlDoubt(a.Target); doubt != "" && a.Doubt == "" {
		a.Doubt, a.Risk = doubt, umpire.Worse(a.Risk, umpire.Medium)
	}
	problem := hostProblem(a.Target)
	if problem == "" || a.Reason == problem || a.Risk == umpire.Safe && shell.IsLoopback(a.Target) {
		return
	}
	a.Risk = umpire.Worse(a.Risk, umpire.Medium)
	if a.Reason != "" {
		problem = umpire.Say("%s; %s", a.Reason, problem)
	}
	a.Reason = problem
}

// raiseHardStop raises the risk of an access that a hard stop has settled.
func raiseHardStop(a *umpire.Access, r *umpire.Reason) {
	if r.Row != rowHardStop {
		return
	}
	risk := umpire.High
	if r.Code == umpire.CodeCritical {
		risk = umpire.Critical
	}
	a.Risk, a.Reason = umpire.Worse(a.Risk, risk), r.Text
}

// weighSecret makes an access ask if it sends a possible secret.
func weighSecret(a *umpire.Access, sent string) {
	why := sensitive.SecretInAddress(sent)
	if why == "" {
		return
	}
	a.Risk, a.Asks = umpire.Worse(a.Risk, umpire.Medium), umpire.CodeSecret
	a.Reason = umpire.Say("the sent data may hold a secret: %s", why)
}
