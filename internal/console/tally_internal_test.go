package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// A longTimeline has many events, and counts how often and how many of them are read.
type longTimeline struct {
	events  []umpire.Event
	queries int
	given   int
}

func (l *longTimeline) list(_ context.Context, f umpire.Filter) ([]umpire.Event, error) {
	from, _ := slices.BinarySearchFunc(l.events, f.After+1, func(e umpire.Event, seq int64) int { return int(e.Seq - seq) })
	found := l.events[from:min(from+f.Limit, len(l.events))]
	l.queries++
	l.given += len(found)
	return found, nil
}

func (l *longTimeline) read(_ context.Context, before, size int64) ([]umpire.Event, int64, error) {
	end := len(l.events)
	if before > 0 {
		end = int(before) - 1
	}
	from := max(0, end-int(size))
	l.queries++
	l.given += end - from
	next := int64(0)
	if from > 0 {
		next = l.events[from].Seq
	}
	return l.events[from:end], next, nil
}

// add adds a submitted call, and the events that followed.
func (l *longTimeline) add(at time.Time, agent string, call int, verdict umpire.Verdict, kinds ...umpire.EventKind) {
	id := umpire.CallID(fmt.Sprintf("c%d", call))
	data, _ := json.Marshal(map[string]any{"calls": []any{map[string]any{"call_id": id, "tool": "Bash", "verdict": verdict}}})
	e := umpire.Event{At: at, Kind: umpire.EventBatchSubmitted, Session: "s", Agent: agent, Data: data}
	for _, kind := range append([]umpire.EventKind{umpire.EventBatchSubmitted}, kinds...) {
		e.Seq, e.Kind = int64(len(l.events)+1), kind
		l.events = append(l.events, e)
		e.Call, e.Request, e.Data, e.Tool = id, umpire.RequestID("r"+id), nil, "Bash"
		e.At = e.At.Add(time.Second)
		e.Accesses = []umpire.Access{{Kind: umpire.KindExec, Program: "npm", Args: []string{"install"}, Verdict: umpire.Ask}}
	}
}

// However long the timeline is, a bounded part of it is read, and each event once.
func TestTallyOfALongTimeline(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	l := &longTimeline{}
	for i := range 100_000 {
		l.add(now.Add(time.Duration(i-100_000)*time.Second), "a", i, umpire.Allow)
	}
	tally := &tally{read: l.read, list: l.list, now: func() time.Time { return now }}
	facts, err := tally.latest(t.Context())
	if err != nil || len(facts) != maxTallied || l.given != maxTallied || l.queries != maxTallied/tallyWindow {
		t.Fatalf("%d facts of %d events in %d queries, %v", len(facts), l.given, l.queries, err)
	}
	l.given, l.queries = 0, 0
	for range 10 {
		l.add(now, "a", len(l.events), umpire.Deny)
		if facts, err = tally.latest(t.Context()); err != nil || len(facts) != maxTallied {
			t.Fatal(len(facts), err)
		}
	}
	if l.given != 10 || l.queries != 10 || facts[len(facts)-1].verdict != umpire.Deny {
		t.Errorf("%d events were read in %d queries", l.given, l.queries)
	}
	now = now.Add(8 * 24 * time.Hour)
	if facts, _ = tally.latest(t.Context()); len(facts) != 0 {
		t.Errorf("%d facts are older than the period", len(facts))
	}
}

// Each call counts once, with its first decision; one that asked later counts as asking.
func TestFigures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	l := &longTimeline{}
	l.add(now.Add(-30*time.Hour), "old", 0, umpire.Deny)
	for i := range 6 {
		l.add(now.Add(-23*time.Hour), "Codex", 1+i, umpire.Allow, umpire.EventCallStarted)
	}
	l.add(now.Add(-2*time.Hour), "Claude Code", 10, umpire.Allow, umpire.EventPermissionAsked, umpire.EventPermissionApproved)
	l.add(now.Add(-time.Minute), "Claude Code", 11, umpire.Ask, umpire.EventPermissionAsked,
		umpire.EventPermissionApproved, umpire.EventCallStarted)
	l.add(now.Add(-time.Minute), "Claude Code", 12, umpire.Deny, umpire.EventPermissionRejected)
	l.add(now.Add(-time.Minute), "Claude Code", 13, umpire.Allow, umpire.EventCallStarted)
	tally := &tally{read: l.read, list: l.list, now: func() time.Time { return now }}
	facts, err := tally.latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := countFigures(facts, now, 24*time.Hour, 24)
	if want := (callCounts{umpire.Deny: 1, umpire.Ask: 2, umpire.Allow: 7}); f.total != want {
		t.Errorf("the calls are %v", f.total)
	}
	if f.buckets[1].sum() != 6 || f.buckets[22].sum() != 1 || f.buckets[23].sum() != 3 {
		t.Errorf("over time they are %v", f.buckets)
	}
	if want := []agentFigures{{"Codex", 6, 0}, {"Claude Code", 4, 2}}; !slices.Equal(f.agents, want) {
		t.Errorf("the agents are %v", f.agents)
	}
	if f.approvals != 2 || f.hasty != 2 || f.waits[0] != 2 {
		t.Errorf("%d approvals, %d of them hasty, waits %v", f.approvals, f.hasty, f.waits)
	}
	if hour := countHour(facts, now); hour.Unasked != 1 || hour.Approved != 1 || hour.Denied != 1 {
		t.Errorf("in the last hour %d ran unasked, %d approved, %d denied", hour.Unasked, hour.Approved, hour.Denied)
	}
}
