package rules

import (
	"cmp"
	"slices"

	"github.com/umpirehq/umpire"
)

// An AgentScore counts the outcomes of one agent's recorded calls.
type AgentScore struct {
	Agent string `json:"agent"`
	Calls int    `json:"calls"`
	Runs  int    `json:"runs"`  // without asking
	Tried int    `json:"tried"` // run as a trial before anyone is asked
	Asks  int    `json:"asks"`
	Other int    `json:"other"` // denied, or not answered
	// Reasons lists the reasons for the questions, most frequent first.
	Reasons []ReasonCount `json:"reasons"`
}

// A ReasonCount counts the questions with one reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	N      int    `json:"n"`
}

// countRecorded counts one recorded call.
func (s *Score) countRecorded(l *Line, a Answer) {
	at := slices.IndexFunc(s.Agents, func(score AgentScore) bool { return score.Agent == l.Agent })
	if at < 0 {
		at = len(s.Agents)
		s.Agents = append(s.Agents, AgentScore{Agent: l.Agent, Reasons: []ReasonCount{}})
	}
	score := &s.Agents[at]
	score.Calls += l.Count
	switch {
	case a.Outcome == Answered && a.Verdict == umpire.Allow:
		score.Runs += l.Count
	case a.Outcome == Answered && a.Verdict == umpire.Ask && a.Tried:
		score.Tried += l.Count
	case a.Outcome == Answered && a.Verdict == umpire.Ask:
		score.Asks += l.Count
		score.countReason(a.Reason, l.Count)
	default:
		score.Other += l.Count
	}
}

func (s *AgentScore) countReason(reason string, n int) {
	at := slices.IndexFunc(s.Reasons, func(r ReasonCount) bool { return r.Reason == reason })
	if at < 0 {
		at = len(s.Reasons)
		s.Reasons = append(s.Reasons, ReasonCount{Reason: reason})
	}
	s.Reasons[at].N += n
	slices.SortStableFunc(s.Reasons, func(a, b ReasonCount) int { return cmp.Compare(b.N, a.N) })
}
