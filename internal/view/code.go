package view

import "github.com/umpirehq/umpire"

// NeedsCode reports whether an answer to a question is confirmed with a code that is new
// each time: an approval that does much, or that lasts. It holds wherever the answer is given.
func NeedsCode(answer *umpire.Answer, p *umpire.Pending) bool {
	harmless := p.Risk == umpire.Low.String() || p.Risk == umpire.Medium.String()
	passing := answer.Scope == umpire.ScopeOnce || answer.Scope == umpire.ScopeSession
	return Approves(answer, p) && (!harmless || !passing || p.Warning || p.Indeterminate)
}

// Approves reports whether an answer lets the call run. To try another agent's command again is to approve it.
func Approves(answer *umpire.Answer, p *umpire.Pending) bool {
	return answer.Choice == umpire.Approve || answer.Choice == umpire.Try && p.TrialOffer == umpire.TrialAgain
}
