package batch

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// trialMove is an event about the open trial of the call, or about its first.
func trialMove(name string, kind umpire.EventKind, trial umpire.TrialID) move {
	return plainMove(name, kind, func(_ umpire.Batch, c umpire.BatchCall) any {
		id := c.Trial
		if id == "" || trial != "" {
			id = trial
		}
		return Tried{Trial: id}
	})
}

var trialMoves = []move{
	trialMove("try", umpire.EventTrialStarted, "t1"),
	trialMove("try without an id", umpire.EventTrialStarted, ""),
	trialMove("ran", umpire.EventTrialRan, ""),
	trialMove("another ran", umpire.EventTrialRan, "t2"),
	trialMove("keep", umpire.EventEffectsKept, ""),
	trialMove("keep another", umpire.EventEffectsKept, "t2"),
	trialMove("discard", umpire.EventEffectsDiscarded, ""),
	trialMove("discard another", umpire.EventEffectsDiscarded, "t2"),
	trialMove("conflict", umpire.EventEffectsConflicted, ""),
	trialMove("conflict of another", umpire.EventEffectsConflicted, "t2"),
}

// legalTrials returns the legal outcomes for the trial of a batch's only call. A trial
// may be discarded in every state of the call, and kept once the call was started.
func legalTrials(b umpire.Batch) map[string]umpire.TrialState {
	c := b.Calls[0]
	want := map[string]umpire.TrialState{}
	asked := c.State == umpire.CallAsked
	switch {
	case c.TrialState == "" && asked && !b.Cancelled:
		want["try"] = umpire.TrialRunning
	case c.TrialState == umpire.TrialRunning && asked:
		want["ran"] = umpire.TrialWaiting
	case c.TrialState == umpire.TrialWaiting && c.Attempt > 0:
		want["keep"], want["conflict"] = "", umpire.TrialConflict
	case c.TrialState == umpire.TrialConflict:
		want["keep"] = ""
	}
	if c.TrialState != "" {
		want["discard"] = ""
	}
	return want
}

// TestEveryTrialMoveInEveryState checks that a trial follows its table in every state of
// its call, and that the call follows its own, except where a trial prevents it.
func TestEveryTrialMoveInEveryState(t *testing.T) {
	t.Parallel()
	table := legal(umpire.EffectUnknown)
	name := func(b umpire.Batch) string { return where(b) + " " + string(b.Calls[0].TrialState) }
	first, err := applyRecord(umpire.Batch{}, submitted(umpire.CallAsked, umpire.EffectUnknown).event(umpire.Batch{}, umpire.BatchCall{}))
	if err != nil {
		t.Fatal(err)
	}
	reached, ways := map[string]bool{}, map[string]bool{}
	for queue := []umpire.Batch{first}; len(queue) > 0; queue = queue[1:] {
		b := queue[0]
		if reached[name(b)] {
			continue
		}
		reached[name(b)] = true
		c := b.Calls[0]
		want := legalTrials(b)
		for _, m := range trialMoves {
			after, err := applyRecord(b, m.event(b, c))
			to, fits := want[m.name]
			if fits != (err == nil) || err != nil && !errors.Is(err, ErrIllegal) || fits && after.Calls[0].TrialState != to {
				t.Errorf("%s: %s: %v, and the trial is %q", name(b), m.name, err, after.Calls[0].TrialState)
			}
			if err == nil {
				ways[string(c.TrialState)+" "+m.name] = true
				queue = append(queue, after)
			} else if diff := cmp.Diff(b, after); diff != "" {
				t.Errorf("%s: %s was illegal and changed the batch:\n%s", name(b), m.name, diff)
			}
		}
		for _, m := range moves {
			_, fits := table[where(b)][m.name]
			if m.name == "start" && c.TrialState == umpire.TrialRunning {
				fits = false
			}
			if (m.name == "succeed" || m.name == "fail") && (c.TrialState == umpire.TrialRunning || c.TrialState == umpire.TrialWaiting) {
				fits = false
			}
			after, err := applyRecord(b, m.event(b, c))
			if fits != (err == nil) {
				t.Errorf("%s: %s: %v", name(b), m.name, err)
			}
			if err == nil {
				queue = append(queue, after)
			}
		}
	}
	var rows []string
	kinds := map[umpire.EventKind]string{
		umpire.EventTrialStarted: "try", umpire.EventTrialRan: "ran", umpire.EventEffectsKept: "keep",
		umpire.EventEffectsDiscarded: "discard", umpire.EventEffectsConflicted: "conflict",
	}
	for _, row := range TrialTransitions {
		rows = append(rows, string(row.From)+" "+kinds[row.On])
	}
	slices.Sort(rows)
	if diff := cmp.Diff(rows, slices.Sorted(maps.Keys(ways))); diff != "" {
		t.Errorf("transitions (-table +fold):\n%s", diff)
	}
}

// TestTrialOfTheNextCall checks that only the first call without a result can be tried,
// and that a call with an unknown outcome leaves its effects alone.
func TestTrialOfTheNextCall(t *testing.T) {
	t.Parallel()
	two := []umpire.Event{submit3(umpire.CallAsked, umpire.CallAsked), asked("c1", "q1"), asked("c2", "q2")}
	b := fold(t, two...)
	if _, err := applyRecord(b, about(umpire.EventTrialStarted, "c2", "", Tried{Trial: "t"})); err == nil ||
		!strings.Contains(err.Error(), "the call is not the next one") {
		t.Errorf("a trial of the second call: %v", err)
	}
	b = fold(t, append(two, about(umpire.EventTrialStarted, "c1", "", Tried{Trial: "t"}),
		about(umpire.EventTrialRan, "c1", "", Tried{Trial: "t"}), approved("c1", "q1"), approved("c2", "q2"), resumed(1),
		started("c1"), about(umpire.EventCallIndeterminate, "c1", "", nil), finished("c1", umpire.ResultIndeterminate))...)
	if c := b.Calls[0]; c.Trial != "t" || c.TrialState != umpire.TrialWaiting || c.State != umpire.CallDone {
		t.Errorf("%+v", c)
	}
}
