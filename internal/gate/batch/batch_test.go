package batch

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// applyRecord folds an event in its timeline form.
func applyRecord(b umpire.Batch, e umpire.Event) (umpire.Batch, error) {
	decoded, err := Decode(e)
	if err != nil {
		return b, err
	}
	return Apply(b, decoded)
}

// A move is a possible event of a batch. It is made for the current batch: it has the
// next numbers and the pending question, unless the move's name says otherwise.
type move struct {
	name  string
	event func(b umpire.Batch, c umpire.BatchCall) umpire.Event
}

func event(kind umpire.EventKind, b umpire.Batch, c umpire.BatchCall, data any) umpire.Event {
	e := umpire.Event{Kind: kind, Session: b.Session, Batch: b.ID, Call: c.ID, Reason: "why", Code: umpire.CodeMode}
	if b.State == "" {
		e.Session, e.Batch = "s", "b"
	}
	if data != nil {
		e.Data = encode(data)
	}
	return e
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func with(e umpire.Event, request umpire.RequestID) umpire.Event {
	e.Request = request
	return e
}

// fresh returns a question that the batch has not had.
func fresh(b umpire.Batch) umpire.RequestID {
	n := 1
	for i := range b.Calls {
		n += b.Calls[i].Round
	}
	return umpire.RequestID("q" + strings.Repeat("i", n))
}

func submitted(state umpire.CallState, effect umpire.Effect) move {
	name := "submit " + string(state)
	return move{name, func(b umpire.Batch, c umpire.BatchCall) umpire.Event {
		return event(umpire.EventBatchSubmitted, b, umpire.BatchCall{}, Submitted{Calls: []Call{{ID: "c", Tool: "Bash", State: state, Effect: effect}}})
	}}
}

// plainMove is an event of one kind about the call or its batch.
func plainMove(name string, kind umpire.EventKind, data func(b umpire.Batch, c umpire.BatchCall) any) move {
	return move{name, func(b umpire.Batch, c umpire.BatchCall) umpire.Event {
		if data == nil {
			return event(kind, b, c, nil)
		}
		return event(kind, b, c, data(b, c))
	}}
}

func questionMove(name string, kind umpire.EventKind, request func(b umpire.Batch, c umpire.BatchCall) umpire.RequestID) move {
	return move{name, func(b umpire.Batch, c umpire.BatchCall) umpire.Event {
		return with(event(kind, b, c, Asked{Version: c.Round + 1}), request(b, c))
	}}
}

func currentQuestion(_ umpire.Batch, c umpire.BatchCall) umpire.RequestID { return c.Request }

func standing(_ umpire.Batch, c umpire.BatchCall) umpire.RequestID {
	if c.Request == "" {
		return "never put"
	}
	return c.Request
}

func nextQuestion(b umpire.Batch, _ umpire.BatchCall) umpire.RequestID { return fresh(b) }
func nothing(umpire.Batch, umpire.BatchCall) umpire.RequestID          { return "" }

func status(s umpire.ResultStatus) func(umpire.Batch, umpire.BatchCall) any {
	return func(umpire.Batch, umpire.BatchCall) any { return Finished{Status: s} }
}

func attempt(more int) func(umpire.Batch, umpire.BatchCall) any {
	return func(_ umpire.Batch, c umpire.BatchCall) any { return Started{Attempt: c.Attempt + more} }
}

func epoch(more int) func(umpire.Batch, umpire.BatchCall) any {
	return func(b umpire.Batch, _ umpire.BatchCall) any { return Resumed{Epoch: b.Resumes + more} }
}

// moves are all legal events of a submitted batch, and many illegal ones.
var moves = []move{
	questionMove("ask", umpire.EventPermissionAsked, nextQuestion),
	questionMove("ask without a question", umpire.EventPermissionAsked, nothing),
	questionMove("ask the same again", umpire.EventPermissionAsked, currentQuestion),
	questionMove("approve", umpire.EventPermissionApproved, standing),
	questionMove("approve another", umpire.EventPermissionApproved, nextQuestion),
	questionMove("approve no question", umpire.EventPermissionApproved, nothing),
	questionMove("reject", umpire.EventPermissionRejected, standing),
	questionMove("reject another", umpire.EventPermissionRejected, nextQuestion),
	questionMove("refuse", umpire.EventPermissionRejected, nothing),
	plainMove("resume", umpire.EventBatchResumed, epoch(1)),
	plainMove("resume as before", umpire.EventBatchResumed, epoch(0)),
	plainMove("resume beyond", umpire.EventBatchResumed, epoch(2)),
	plainMove("start", umpire.EventCallStarted, attempt(1)),
	plainMove("start as before", umpire.EventCallStarted, attempt(0)),
	plainMove("start beyond", umpire.EventCallStarted, attempt(2)),
	plainMove("succeed", umpire.EventCallFinished, status(umpire.ResultOK)),
	plainMove("fail", umpire.EventCallFinished, status(umpire.ResultError)),
	plainMove("finish without a status", umpire.EventCallFinished, status("")),
	plainMove("finish with another status", umpire.EventCallFinished, status("fine")),
	questionMove("lose", umpire.EventCallIndeterminate, nextQuestion),
	questionMove("lose unasked", umpire.EventCallIndeterminate, nothing),
	plainMove("cancel", umpire.EventBatchCancelled, nil),
	plainMove("end", umpire.EventBatchFinished, nil),
	plainMove("deliver", umpire.EventBatchDelivered, nil),
}

// where names the state of a batch of one call, as far as it determines the legal moves.
// A cancelled batch has an exclamation mark.
func where(b umpire.Batch) string {
	if b.State == "" {
		return "none"
	}
	name := string(b.State)
	if b.Cancelled {
		name += "!"
	}
	c := b.Calls[0]
	if c.State == umpire.CallAsked && c.Request == "" {
		return name + "/unasked"
	}
	return name + "/" + string(c.State)
}

// legal returns, for each state of a batch of one call, the legal moves and the resulting
// states. All others are illegal.
func legal(effect umpire.Effect) map[string]map[string]string {
	table := map[string]map[string]string{
		"none":                   {"submit asked": "waiting/unasked", "submit approved": "running/approved", "submit denied": "running/denied"},
		"waiting/unasked":        {"ask": "waiting/asked", "cancel": "waiting!/unasked"},
		"waiting/asked":          {"ask": "waiting/asked", "approve": "waiting/approved", "reject": "waiting/denied", "cancel": "waiting!/asked"},
		"waiting/approved":       {"refuse": "waiting/denied", "fail": "waiting/finished", "resume": "running/approved", "cancel": "waiting!/approved"},
		"waiting/denied":         {"refuse": "waiting/denied", "fail": "waiting/finished", "resume": "running/denied", "cancel": "waiting!/denied"},
		"waiting/indeterminate":  {"approve": "waiting/settled", "reject": "waiting/settled", "cancel": "waiting!/indeterminate"},
		"waiting/settled":        {"succeed": "waiting/finished", "fail": "waiting/finished", "resume": "running/settled", "cancel": "waiting!/settled"},
		"waiting/finished":       {"resume": "running/finished", "cancel": "waiting!/finished"},
		"running/approved":       {"ask": "waiting/asked", "refuse": "running/denied", "start": "running/executing", "fail": "running/finished", "cancel": "running!/approved"},
		"running/denied":         {"refuse": "running/denied", "fail": "running/finished", "cancel": "running!/denied"},
		"running/executing":      {"succeed": "running/finished", "fail": "running/finished", "lose": "waiting/indeterminate", "lose unasked": "running/settled", "cancel": "running!/executing"},
		"running/settled":        {"succeed": "running/finished", "fail": "running/finished", "cancel": "running!/settled"},
		"running/finished":       {"end": "finished/finished", "cancel": "running!/finished"},
		"finished/finished":      {"deliver": "delivered/finished"},
		"delivered/finished":     {},
		"waiting!/unasked":       {"ask": "waiting!/asked"},
		"waiting!/asked":         {"approve": "waiting!/approved", "reject": "waiting!/denied"},
		"waiting!/approved":      {"refuse": "waiting!/denied", "fail": "waiting!/finished"},
		"waiting!/denied":        {"refuse": "waiting!/denied", "fail": "waiting!/finished"},
		"waiting!/indeterminate": {"approve": "waiting!/settled", "reject": "waiting!/settled"},
		"waiting!/settled":       {"succeed": "waiting!/finished", "fail": "waiting!/finished"},
		"waiting!/finished":      {"end": "finished!/finished"},
		"running!/approved":      {"refuse": "running!/denied", "fail": "running!/finished"},
		"running!/denied":        {"refuse": "running!/denied", "fail": "running!/finished"},
		"running!/executing":     {"succeed": "running!/finished", "fail": "running!/finished", "lose": "waiting!/indeterminate", "lose unasked": "running!/settled"},
		"running!/settled":       {"succeed": "running!/finished", "fail": "running!/finished"},
		"running!/finished":      {"end": "finished!/finished"},
		"finished!/finished":     {"deliver": "delivered!/finished"},
		"delivered!/finished":    {},
	}
	if effect.Repeatable() {
		table["running/executing"]["start"] = "running/executing"
	}
	return table
}

// TestEveryMoveInEveryState reaches every state of a batch of one call with legal moves,
// and tries every move there.
func TestEveryMoveInEveryState(t *testing.T) {
	t.Parallel()
	for _, effect := range []umpire.Effect{"", umpire.EffectPure, umpire.EffectIdempotent, umpire.EffectReversible, umpire.EffectUnknown, "other"} {
		t.Run(string(effect), func(t *testing.T) {
			t.Parallel()
			table := legal(effect)
			reached := map[string]umpire.Batch{"none": {}}
			for queue := []string{"none"}; len(queue) > 0; queue = queue[1:] {
				state := queue[0]
				for _, next := range tryAll(t, state, reached[state], effect, table[state]) {
					if _, known := reached[where(next)]; !known {
						reached[where(next)] = next
						queue = append(queue, where(next))
					}
				}
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(table)), slices.Sorted(maps.Keys(reached))); diff != "" {
				t.Errorf("states reached (-table +reached):\n%s", diff)
			}
		})
	}
}

// tryAll tries every move on a batch and returns the results.
func tryAll(t *testing.T, state string, b umpire.Batch, effect umpire.Effect, want map[string]string) (next []umpire.Batch) {
	t.Helper()
	var c umpire.BatchCall
	if len(b.Calls) > 0 {
		c = b.Calls[0]
	}
	all := append([]move{submitted(umpire.CallAsked, effect), submitted(umpire.CallApproved, effect), submitted(umpire.CallDenied, effect)}, moves...)
	met := 0
	for _, m := range all {
		after, err := applyRecord(b, m.event(b, c))
		to, fits := want[m.name]
		switch {
		case fits && err != nil:
			t.Errorf("%s: %s: %v", state, m.name, err)
		case fits:
			met++
			next = append(next, after)
			if where(after) != to {
				t.Errorf("%s: %s leads to %s, want %s", state, m.name, where(after), to)
			}
		case !errors.Is(err, ErrIllegal):
			t.Errorf("%s: %s: error %v, and the batch is %s; want it to be illegal", state, m.name, err, where(after))
		case cmp.Diff(b, after) != "":
			t.Errorf("%s: %s was illegal and changed the batch:\n%s", state, m.name, cmp.Diff(b, after))
		}
	}
	if met != len(want) {
		t.Errorf("%s: the table names %d moves, %d of them exist", state, len(want), met)
	}
	return next
}

// fold applies events, which must all be legal.
func fold(t *testing.T, events ...umpire.Event) umpire.Batch {
	t.Helper()
	var b umpire.Batch
	for i, e := range events {
		next, err := applyRecord(b, e)
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		b = next
	}
	return b
}

// about makes an event of batch b in session s.
func about(kind umpire.EventKind, call umpire.CallID, request umpire.RequestID, data any) umpire.Event {
	return with(event(kind, umpire.Batch{State: umpire.BatchRunning, ID: "b", Session: "s"}, umpire.BatchCall{ID: call}, data), request)
}

func submit3(states ...umpire.CallState) umpire.Event {
	var calls []Call
	for i, state := range states {
		calls = append(calls, Call{ID: umpire.CallID([]string{"c1", "c2", "c3"}[i]), Tool: "Bash", ArgsHash: "h", State: state, Background: i == 2})
	}
	return about(umpire.EventBatchSubmitted, "", "", Submitted{Lane: "l", Turn: 4, Calls: calls})
}

var (
	started  = func(c umpire.CallID) umpire.Event { return about(umpire.EventCallStarted, c, "", Started{Attempt: 1}) }
	finished = func(c umpire.CallID, s umpire.ResultStatus) umpire.Event {
		return about(umpire.EventCallFinished, c, "", Finished{Status: s})
	}
	asked = func(c umpire.CallID, q umpire.RequestID) umpire.Event {
		return about(umpire.EventPermissionAsked, c, q, nil)
	}
	approved = func(c umpire.CallID, q umpire.RequestID) umpire.Event {
		return about(umpire.EventPermissionApproved, c, q, nil)
	}
	resumed = func(n int) umpire.Event { return about(umpire.EventBatchResumed, "", "", Resumed{Epoch: n}) }
)

// TestWholeBatch has one asked call that makes all wait. The denied call has its result
// and the others run, in order.
func TestWholeBatch(t *testing.T) {
	t.Parallel()
	b := fold(t,
		submit3(umpire.CallApproved, umpire.CallAsked, umpire.CallAsked), asked("c2", "q2"), asked("c3", "q3"),
		about(umpire.EventPermissionRejected, "c2", "q2", nil), approved("c3", "q3"), resumed(1),
		started("c1"), finished("c1", umpire.ResultOK), finished("c2", umpire.ResultDenied),
		started("c3"), finished("c3", umpire.ResultTimeout), about(umpire.EventBatchFinished, "", "", nil), about(umpire.EventBatchDelivered, "", "", nil),
	)
	result := func(c umpire.CallID, s umpire.ResultStatus) *umpire.Result {
		return &umpire.Result{Call: c, Session: "s", Batch: "b", Status: s, Code: umpire.CodeMode}
	}
	want := umpire.Batch{ID: "b", Session: "s", Lane: "l", State: umpire.BatchDelivered, Resumes: 1, Calls: []umpire.BatchCall{
		{ID: "c1", Tool: "Bash", ArgsHash: "h", State: umpire.CallDone, Attempt: 1, Verdict: umpire.Allow, Result: result("c1", umpire.ResultOK)},
		{ID: "c2", Tool: "Bash", ArgsHash: "h", State: umpire.CallDone, Request: "q2", Round: 1, Verdict: umpire.Deny, Reason: "why", Code: umpire.CodeMode, Result: result("c2", umpire.ResultDenied)},
		{ID: "c3", Tool: "Bash", ArgsHash: "h", Background: true, State: umpire.CallDone, Request: "q3", Round: 1, Attempt: 1, Verdict: umpire.Allow, Reason: "why", Code: umpire.CodeMode, Result: result("c3", umpire.ResultTimeout)},
	}}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestIllegalBeyondOneCall covers errors that need more than one call, or another batch.
func TestIllegalBeyondOneCall(t *testing.T) {
	t.Parallel()
	three := submit3(umpire.CallApproved, umpire.CallApproved, umpire.CallApproved)
	otherBatch, otherSession := started("c1"), started("c1")
	otherBatch.Batch, otherSession.Session = "b2", "s2"
	nameless := three
	nameless.Batch = ""
	for _, tt := range []struct {
		name   string
		before []umpire.Event
		event  umpire.Event
		want   string
	}{
		{"the second before the first", []umpire.Event{three}, started("c2"), "an earlier call has no result yet"},
		{"two at a time", []umpire.Event{three, started("c1")}, started("c2"), "an earlier call has no result yet"},
		{"while another waits", []umpire.Event{three, asked("c3", "q")}, started("c1"), "the batch is waiting"},
		{"the question of another call", []umpire.Event{three, asked("c1", "q")}, approved("c2", "q"), "the call is approved"},
		{"a question twice", []umpire.Event{submit3(umpire.CallAsked, umpire.CallAsked), asked("c1", "q")}, asked("c2", "q"), `question "q" is not new`},
		{"a question of another call, lost", []umpire.Event{submit3(umpire.CallAsked, umpire.CallApproved), asked("c1", "q"), approved("c1", "q"), resumed(1), started("c1")}, about(umpire.EventCallIndeterminate, "c1", "q", nil), `question "q" is not new`},
		{"resumed with one answer missing", []umpire.Event{submit3(umpire.CallAsked, umpire.CallAsked), asked("c1", "q"), asked("c2", "p"), approved("c1", "q")}, resumed(1), "1 calls wait"},
		{"ended with one result missing", []umpire.Event{three, finished("c1", umpire.ResultError), finished("c3", umpire.ResultError)}, about(umpire.EventBatchFinished, "", "", nil), `call "c2" has no result`},
		{"a call of nobody", []umpire.Event{three}, started("c4"), "no such call"},
		{"no call", []umpire.Event{three}, started(""), "no such call"},
		{"another batch", []umpire.Event{three}, otherBatch, "not about this batch"},
		{"the same batch of another session", []umpire.Event{three}, otherSession, "not about this batch"},
		{"before the batch", nil, started("c1"), "not about this batch"},
		{"twice submitted", []umpire.Event{three}, three, "not about this batch"},
		{"no id", nil, nameless, "a batch has an id"},
		{"no calls", nil, about(umpire.EventBatchSubmitted, "", "", Submitted{}), "at least one call"},
		{"no data", nil, about(umpire.EventBatchSubmitted, "", "", nil), "at least one call"},
		{"an empty call id", nil, about(umpire.EventBatchSubmitted, "", "", Submitted{Calls: []Call{{State: umpire.CallApproved}}}), "is empty or a duplicate"},
		{"a call id twice", nil, about(umpire.EventBatchSubmitted, "", "", Submitted{Calls: []Call{{ID: "c", State: umpire.CallApproved}, {ID: "c", State: umpire.CallAsked}}}), "is empty or a duplicate"},
		{"begun as executing", nil, submit3(umpire.CallApproved, umpire.CallExecuting), `no call begins as "executing"`},
		{"begun as finished", nil, submit3(umpire.CallDone), `no call begins as "finished"`},
		{"begun as indeterminate", nil, submit3(umpire.CallUnknown), `no call begins as "indeterminate"`},
		{"begun as settled", nil, submit3(umpire.CallSettled), `no call begins as "settled"`},
		{"begun as nothing", nil, submit3(""), `no call begins as ""`},
		{"data of another form", []umpire.Event{three}, about(umpire.EventCallStarted, "c1", "", []int{1}), "its data cannot be read"},
		{"a number that is none", []umpire.Event{three}, about(umpire.EventCallStarted, "c1", "", map[string]any{"attempt": 1.5}), "its data cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := fold(t, tt.before...)
			after, err := applyRecord(b, tt.event)
			if !errors.Is(err, ErrIllegal) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(b, after); diff != "" {
				t.Errorf("the batch changed:\n%s", diff)
			}
		})
	}
}

// TestErrorsSayWhere checks that an error names the event, the batch with its state, and
// the call.
func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	_, err := applyRecord(fold(t, submit3(umpire.CallAsked)), started("c1"))
	if want := `CallStarted: batch "b" (waiting), call "c1": the call is asked: illegal transition`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestOtherEvents checks that events unrelated to a batch's state do not change it, even
// with invalid data.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	b := fold(t, submit3(umpire.CallApproved))
	for _, kind := range []umpire.EventKind{
		umpire.EventPermissionBypassedByRule, umpire.EventSessionOpened, umpire.EventSessionResumed, umpire.EventSessionEnded,
		umpire.EventModeChanged, umpire.EventPromptQueued, umpire.EventModelRequested, umpire.EventModelReplied, umpire.EventGrantCreated,
		umpire.EventGrantRevoked, umpire.EventRulesChanged, umpire.EventRulesDegraded, umpire.EventHookRan, umpire.EventNotice, umpire.EventUndone, "OfTomorrow", "",
	} {
		for _, before := range []umpire.Batch{{}, b} {
			after, err := applyRecord(before, umpire.Event{Kind: kind, Batch: "x", Data: json.RawMessage("}")})
			if err != nil || cmp.Diff(before, after) != "" {
				t.Errorf("%s: %v %s", kind, err, cmp.Diff(before, after))
			}
		}
	}
}

// TestAskedAgainWhileRunning checks that finished calls stay finished, and that every
// round has its own question.
func TestAskedAgainWhileRunning(t *testing.T) {
	t.Parallel()
	events := []umpire.Event{submit3(umpire.CallApproved, umpire.CallApproved), started("c1"), finished("c1", umpire.ResultOK), asked("c2", "q1")}
	b := fold(t, events...)
	if b.State != umpire.BatchWaiting || b.Waiting() != 1 || b.Resumes != 0 || b.Calls[0].State != umpire.CallDone || b.Calls[1].Round != 1 {
		t.Errorf("%+v", b)
	}
	b = fold(t, append(events, approved("c2", "q1"), resumed(1), asked("c2", "q2"), approved("c2", "q2"), resumed(2), started("c2"))...)
	if b.Resumes != 2 || b.Calls[1].Round != 2 || b.Calls[1].Request != "q2" || b.Calls[1].State != umpire.CallExecuting {
		t.Errorf("%+v", b)
	}
}
