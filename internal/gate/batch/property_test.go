package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// A history is a batch with its events, and the state needed to judge the next one.
type history struct {
	batch    umpire.Batch
	events   []umpire.Event
	open     map[umpire.CallID]umpire.RequestID // questions without an answer
	refused  map[umpire.CallID]bool             // denied and not asked again
	finished map[umpire.CallID]int
	starts   []umpire.CallID
	resumes  int
}

func newHistory() *history {
	return &history{
		open:    map[umpire.CallID]umpire.RequestID{},
		refused: map[umpire.CallID]bool{}, finished: map[umpire.CallID]int{},
	}
}

// take applies an event and checks all invariants, whether or not it is legal.
func (h *history) take(e umpire.Event) (bool, error) {
	before, kept := h.batch, deepCopy(h.batch)
	after, err := applyRecord(before, e)
	if diff := cmp.Diff(kept, before); diff != "" {
		return false, fmt.Errorf("%s changed its argument:\n%s", e.Kind, diff)
	}
	if same := sameInPlace(kept, e, after, err); same != nil {
		return false, same
	}
	if err != nil {
		if diff := cmp.Diff(kept, after); !errors.Is(err, ErrIllegal) || diff != "" {
			return false, fmt.Errorf("%s was refused (%w) and changed the batch:\n%s", e.Kind, err, diff)
		}
		return false, nil
	}
	h.batch = after
	h.events = append(h.events, e)
	return true, errors.Join(h.remember(before, e), h.sound(before))
}

// sameInPlace checks that folding only the relevant part of the batch gives the same result as folding the whole.
func sameInPlace(before umpire.Batch, e umpire.Event, after umpire.Batch, refused error) error {
	decoded, unreadable := Decode(e)
	if unreadable != nil || e.Kind == umpire.EventBatchSubmitted {
		return nil //nolint:nilerr // invalid data is refused both ways
	}
	whole := deepCopy(before)
	part, err := ApplyTo(&whole, decoded)
	if diff := cmp.Diff(after, whole); diff != "" || (err == nil) != (refused == nil) {
		return fmt.Errorf("%s in place: %w and not %w:\n%s", e.Kind, err, refused, diff)
	}
	if want := Around(&before, e.Call, e.Request); cmp.Diff(want, part) != "" || len(part.Calls) > max(umpire.WholeBatch, 6) ||
		part.Size() != len(before.Calls) || (part.Waiting() == 0) != (before.Waiting() == 0) {
		return fmt.Errorf("%s looks at %+v of %+v", e.Kind, part, before)
	}
	return nil
}

// deepCopy shares nothing with its argument.
func deepCopy(b umpire.Batch) umpire.Batch {
	b.Calls = slices.Clone(b.Calls)
	for i := range b.Calls {
		if r := b.Calls[i].Result; r != nil {
			twin := *r
			b.Calls[i].Result = &twin
		}
		b.Calls[i].Input = slices.Clone(b.Calls[i].Input)
	}
	return b
}

// remember judges an applied event by those before it.
func (h *history) remember(before umpire.Batch, e umpire.Event) error {
	switch e.Kind {
	case umpire.EventPermissionAsked, umpire.EventCallIndeterminate:
		return h.question(e)
	case umpire.EventPermissionApproved:
		return h.answer(e)
	case umpire.EventPermissionRejected:
		h.refused[e.Call] = true
		if e.Request == "" {
			return nil
		}
		return h.answer(e)
	case umpire.EventBatchResumed:
		h.resumes++
		var d Resumed
		if json.Unmarshal(e.Data, &d) != nil || d.Epoch != h.resumes || len(h.open) > 0 {
			return fmt.Errorf("resume %s is number %d, with %d questions open", e.Data, h.resumes, len(h.open))
		}
	case umpire.EventCallStarted:
		return h.start(before, e)
	case umpire.EventCallFinished:
		if h.finished[e.Call]++; h.finished[e.Call] > 1 {
			return fmt.Errorf("call %q has a second result", e.Call)
		}
	default:
	}
	return nil
}

func (h *history) question(e umpire.Event) error {
	if e.Request == "" && e.Kind == umpire.EventCallIndeterminate {
		return nil
	}
	anew := e.Kind == umpire.EventPermissionAsked && e.Request != h.open[e.Call] // it replaces the previous question
	if e.Request == "" || h.open[e.Call] != "" && !anew {
		return fmt.Errorf("question %q of call %q, which has %q open", e.Request, e.Call, h.open[e.Call])
	}
	h.open[e.Call] = e.Request
	return nil
}

func (h *history) answer(e umpire.Event) error {
	if e.Request == "" || h.open[e.Call] != e.Request {
		return fmt.Errorf("call %q took an answer to %q, but %q is open", e.Call, e.Request, h.open[e.Call])
	}
	delete(h.open, e.Call)
	return nil
}

// start checks that nothing is pending, that all earlier calls have results, that the
// call was not refused, and that it may run again if it does.
func (h *history) start(before umpire.Batch, e umpire.Event) error {
	if before.Waiting() > 0 || len(h.open) > 0 || before.Cancelled || before.State != umpire.BatchRunning {
		return fmt.Errorf("call %q started in a batch that is %s, cancelled %t, with %d questions", e.Call, before.State, before.Cancelled, before.Waiting())
	}
	at := slices.IndexFunc(before.Calls, func(c umpire.BatchCall) bool { return c.ID == e.Call })
	for _, earlier := range before.Calls[:at] {
		if earlier.Result == nil {
			return fmt.Errorf("call %q started before %q had its result", e.Call, earlier.ID)
		}
	}
	if c := before.Calls[at]; h.refused[c.ID] || c.Attempt > 0 && !c.Effect.Repeatable() {
		return fmt.Errorf("call %q started: refused %t, attempt %d, effect %q", c.ID, h.refused[c.ID], c.Attempt+1, c.Effect)
	}
	h.starts = append(h.starts, e.Call)
	return nil
}

// sound checks the invariants of every batch.
func (h *history) sound(before umpire.Batch) error {
	b, executing := h.batch, 0
	for i := range b.Calls {
		c := &b.Calls[i]
		if c.State == umpire.CallExecuting {
			executing++
		}
		if (c.State == umpire.CallDone) != (c.Result != nil) || (h.finished[c.ID] == 1) != (c.Result != nil) {
			return fmt.Errorf("call %q is %s with result %v, and had %d", c.ID, c.State, c.Result, h.finished[c.ID])
		}
		if i < len(before.Calls) && before.Calls[i].State == umpire.CallDone && cmp.Diff(before.Calls[i], *c) != "" {
			return fmt.Errorf("finished call %q changed:\n%s", c.ID, cmp.Diff(before.Calls[i], *c))
		}
	}
	over := b.State == umpire.BatchFinished || b.State == umpire.BatchDelivered
	switch {
	case executing > 1:
		return fmt.Errorf("%d calls execute", executing)
	case b.Waiting() > 0 && b.State != umpire.BatchWaiting:
		return fmt.Errorf("%d calls wait in a batch that is %s", b.Waiting(), b.State)
	case over && b.Next() != nil:
		return fmt.Errorf("call %q has no result in a batch that is %s", b.Next().ID, b.State)
	case b.Resumes != h.resumes:
		return fmt.Errorf("%d resumes are counted as %d", h.resumes, b.Resumes)
	case before.Cancelled && !b.Cancelled:
		return errors.New("a batch that was cancelled is not any more")
	case len(before.Calls) > 0 && len(before.Calls) != len(b.Calls):
		return fmt.Errorf("%d calls became %d", len(before.Calls), len(b.Calls))
	}
	return h.inOrder()
}

// inOrder checks that calls started in the model's order.
func (h *history) inOrder() error {
	last := -1
	for _, id := range h.starts {
		at := slices.IndexFunc(h.batch.Calls, func(c umpire.BatchCall) bool { return c.ID == id })
		if at < last {
			return fmt.Errorf("calls started as %q", h.starts)
		}
		last = at
	}
	return nil
}

// replays checks that folding the applied events gives the current batch.
func (h *history) replays() error {
	var b umpire.Batch
	for _, e := range h.events {
		next, err := applyRecord(b, e)
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		b = next
	}
	if diff := cmp.Diff(h.batch, b); diff != "" {
		return fmt.Errorf("replay gives another batch:\n%s", diff)
	}
	return nil
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var effects = []umpire.Effect{"", umpire.EffectPure, umpire.EffectIdempotent, umpire.EffectReversible, umpire.EffectUnknown}

// genSubmitted submits asked, approved or denied calls: one to four, or too many to be
// examined as a whole.
func genSubmitted(t *rapid.T) umpire.Event {
	var calls []Call
	for i := range rapid.SampledFrom([]int{1, 2, 3, 4, umpire.WholeBatch + 2}).Draw(t, "calls") {
		calls = append(calls, Call{
			ID: umpire.CallID(fmt.Sprint("c", i+1)), Tool: "Bash",
			State:  rapid.SampledFrom([]umpire.CallState{umpire.CallAsked, umpire.CallApproved, umpire.CallDenied}).Draw(t, "state"),
			Effect: rapid.SampledFrom(effects).Draw(t, "effect"),
		})
	}
	return about(umpire.EventBatchSubmitted, "", "", Submitted{Calls: calls})
}

// TestFittingSequences applies one move after another, most of which are legal.
func TestFittingSequences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		if fits, err := h.take(genSubmitted(t)); !fits || err != nil {
			t.Fatal(fits, err)
		}
		for range rapid.IntRange(0, 40).Draw(t, "moves") {
			call := rapid.SampledFrom(h.batch.Calls).Draw(t, "call")
			m := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
			_, err := h.take(m.event(h.batch, call))
			must(t, err)
		}
		must(t, h.replays())
		must(t, h.complete())
		must(t, h.replays())
	})
}

// complete applies the missing events until the results are delivered: a batch never gets
// stuck, whatever its history.
func (h *history) complete() error {
	for range 200 {
		if h.batch.State == umpire.BatchDelivered {
			break
		}
		fits, err := h.take(h.due())
		if err != nil || !fits {
			return fmt.Errorf("stuck at %+v: %w", h.batch, err)
		}
	}
	for i := range h.batch.Calls {
		if c := &h.batch.Calls[i]; h.batch.State != umpire.BatchDelivered || h.finished[c.ID] != 1 {
			return fmt.Errorf("the batch is %s, call %q has %d results", h.batch.State, c.ID, h.finished[c.ID])
		}
	}
	return nil
}

// due returns the next event that brings a batch nearer to its end.
func (h *history) due() umpire.Event {
	b := h.batch
	for _, c := range b.Calls {
		switch {
		case c.State == umpire.CallAsked && c.Request == "":
			return with(event(umpire.EventPermissionAsked, b, c, nil), fresh(b))
		case c.State == umpire.CallAsked || c.State == umpire.CallUnknown:
			return with(event(umpire.EventPermissionApproved, b, c, nil), c.Request)
		}
	}
	c := b.Next()
	switch {
	case b.State == umpire.BatchFinished:
		return event(umpire.EventBatchDelivered, b, umpire.BatchCall{}, nil)
	case b.State == umpire.BatchWaiting && !b.Cancelled:
		return event(umpire.EventBatchResumed, b, umpire.BatchCall{}, Resumed{Epoch: b.Resumes + 1})
	case c == nil:
		return event(umpire.EventBatchFinished, b, umpire.BatchCall{}, nil)
	case c.State == umpire.CallApproved && !b.Cancelled:
		return event(umpire.EventCallStarted, b, *c, Started{Attempt: c.Attempt + 1})
	}
	return event(umpire.EventCallFinished, b, *c, Finished{Status: umpire.ResultError})
}

// TestArbitrarySequences applies events that are unrelated to the batch's state.
func TestArbitrarySequences(t *testing.T) {
	t.Parallel()
	kinds := []umpire.EventKind{
		umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventPermissionRejected, umpire.EventPermissionBypassedByRule,
		umpire.EventBatchSubmitted, umpire.EventBatchResumed, umpire.EventBatchCancelled, umpire.EventBatchFinished, umpire.EventBatchDelivered,
		umpire.EventCallStarted, umpire.EventCallFinished, umpire.EventCallIndeterminate, umpire.EventNotice, "x",
	}
	texts := []string{
		"", "null", "{}", "[]", "}", `"x"`, `{"epoch":1}`, `{"epoch":2}`, `{"epoch":-1}`, `{"epoch":"1"}`, `{"attempt":1}`, `{"attempt":2}`, `{"attempt":1e99}`,
		`{"status":"ok"}`, `{"status":"error"}`, `{"status":"denied"}`, `{"status":"OK"}`, `{"status":null}`, `{"version":7}`,
		`{"calls":[{"call_id":"c1","state":"approved"},{"call_id":"c2","state":"asked","effect":"pure"}]}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		if rapid.Bool().Draw(t, "submitted") {
			_, err := h.take(genSubmitted(t))
			must(t, err)
		}
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			e := umpire.Event{
				Kind:    rapid.SampledFrom(kinds).Draw(t, "kind"),
				Session: rapid.SampledFrom([]umpire.SessionID{"s", "s", "s", "", "s2"}).Draw(t, "session"),
				Batch:   rapid.SampledFrom([]umpire.BatchID{"b", "b", "b", "", "b2"}).Draw(t, "batch"),
				Call:    rapid.SampledFrom([]umpire.CallID{"c1", "c2", "c3", "c4", "", "c9"}).Draw(t, "call"),
				Request: rapid.SampledFrom([]umpire.RequestID{"", "q1", "q2", "q3"}).Draw(t, "request"),
				Data:    json.RawMessage(rapid.SampledFrom(texts).Draw(t, "data")),
			}
			_, err := h.take(e)
			must(t, err)
		}
		must(t, h.replays())
	})
}
