package view

import "github.com/umpirehq/umpire"

// NeedsCode reports whether an answer to a question is confirmed with a code that is new
// each time: an approval that does much, or that lasts. It holds wherever the answer is given.
// To try another agent's command again is to approve it.
func NeedsCode(answer *umpire.Answer, p *umpire.Pending) bool {
	harmless := p.Risk == umpire.Low.String() || p.Risk == umpire.Medium.String()
	passing := answer.Scope == umpire.ScopeOnce || answer.Scope == umpire.ScopeSession
	approves := answer.Choice == umpire.Approve ||
		answer.Choice == umpire.Try && p.TrialOffer == umpire.TrialAgain
	return approves && (!harmless || !passing || p.Warning || p.Indeterminate)
}
