package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
)

// answerTimes are the upper bounds of the classes of answer times; the last class is unbounded.
var answerTimes = [...]time.Duration{history.Unread, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

// The figures are the statistics that the overview shows for a period.
type figures struct {
	from, to time.Time
	buckets  []callCounts // over the period, in equal parts
	total    callCounts
	agents   []agentFigures // most calls first
	waits    [len(answerTimes) + 1]int
	// approvals counts approvals by people, and hasty those of them within [history.Unread].
	approvals, hasty int
}

// A callCounts counts calls by verdict.
type callCounts [umpire.Allow + 1]int

func (v *callCounts) sum() int { return v[umpire.Deny] + v[umpire.Ask] + v[umpire.Allow] }

type agentFigures struct {
	name        string
	calls, asks int
}

// callKey identifies a call.
type callKey struct {
	session umpire.SessionID
	call    umpire.CallID
}

// countFigures counts the facts of a period that ends now, divided into parts.
func countFigures(facts []fact, now time.Time, period time.Duration, parts int) *figures {
	f := &figures{from: now.Add(-period), to: now, buckets: make([]callCounts, parts)}
	var recent []fact
	for i := range facts {
		if !facts[i].at.Before(f.from) {
			recent = append(recent, facts[i])
		}
	}
	f.countCalls(recent, period)
	f.countAnswers(recent)
	return f
}

// countCalls counts each call once, by its first decision; a call that asked later counts as asking.
func (f *figures) countCalls(facts []fact, period time.Duration) {
	calls := map[callKey]*fact{}
	var order []*fact
	for i := range facts {
		e := &facts[i]
		key := callKey{e.session, e.call}
		known := calls[key]
		switch e.kind {
		case umpire.EventPermissionAsked:
			if known != nil {
				known.verdict = umpire.Ask
				continue
			}
		case umpire.EventBatchSubmitted, umpire.EventPermissionBypassedByRule, umpire.EventCallRanUnasked,
			umpire.EventPermissionRejected:
		default:
			continue
		}
		if known == nil && e.call != "" {
			first := *e
			calls[key] = &first
			order = append(order, &first)
		}
	}
	agents := map[string]int{}
	for _, call := range order {
		at := min(int(call.at.Sub(f.from)*time.Duration(len(f.buckets))/period), len(f.buckets)-1)
		f.buckets[at][call.verdict]++
		f.total[call.verdict]++
		n, known := agents[call.agent]
		if !known {
			n = len(f.agents)
			agents[call.agent] = n
			f.agents = append(f.agents, agentFigures{name: call.agent})
		}
		f.agents[n].calls++
		if call.verdict == umpire.Ask {
			f.agents[n].asks++
		}
	}
	slices.SortStableFunc(f.agents, func(a, b agentFigures) int { return cmp.Compare(b.calls, a.calls) })
}

// countAnswers counts how long questions waited for a person.
func (f *figures) countAnswers(facts []fact) {
	asked := map[umpire.RequestID]time.Time{}
	for i := range facts {
		e := &facts[i]
		if e.kind == umpire.EventPermissionAsked {
			asked[e.request] = e.at
			continue
		}
		since, known := asked[e.request]
		if !e.person || !known {
			continue
		}
		waited := e.at.Sub(since)
		class := 0
		for class < len(answerTimes) && waited > answerTimes[class] {
			class++
		}
		f.waits[class]++
		if e.verdict == umpire.Allow {
			f.approvals++
			if class == 0 {
				f.hasty++
			}
		}
	}
}

// countHour counts the events of the last hour.
func countHour(facts []fact, now time.Time) *view.LastHour {
	counts := &view.LastHour{Now: now}
	for i := range facts {
		f := &facts[i]
		counts.Add(&umpire.Event{Kind: f.kind, Session: f.session, Call: f.call, At: f.at})
	}
	return counts
}

// lastUses returns when each rule last settled a call in a project.
func lastUses(facts []fact, p umpire.ProjectID) map[umpire.RuleID]time.Time {
	used := map[umpire.RuleID]time.Time{}
	for i := range facts {
		if e := &facts[i]; e.rule != "" && e.project == p {
			used[e.rule] = e.at
		}
	}
	return used
}
