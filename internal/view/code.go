package view

import "github.com/umpirehq/umpire"

// NeedsCode reports whether an answer must be confirmed with a fresh code: an approval with
// large effects, or one that lasts. The rule is the same in every interface.
func NeedsCode(answer *umpire.Answer, p *umpire.Pending) bool {
	harmless := p.Risk == umpire.Low.String() || p.Risk == umpire.Medium.String()
	passing := answer.Scope == umpire.ScopeOnce || answer.Scope == umpire.ScopeSession
	return Approves(answer, p) && (!harmless || !passing || p.Warning || p.Indeterminate)
}

// Approves reports whether an answer lets the call run. Running another agent's command again also counts.
func Approves(answer *umpire.Answer, p *umpire.Pending) bool {
	return answer.Choice == umpire.Approve || answer.Choice == umpire.Try && p.TrialOffer == umpire.TrialAgain
}
