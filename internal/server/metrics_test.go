package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// at is an event of call c in session s, some seconds after noon.
func at(seconds float64, kind umpire.EventKind, change func(*umpire.Event)) umpire.Event {
	e := umpire.Event{At: noon.Add(time.Duration(seconds * float64(time.Second))), Kind: kind, Session: "s", Batch: "b", Call: "c", Tool: "Bash"}
	if change != nil {
		change(&e)
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

func sequence(events ...umpire.Event) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func run(t *testing.T, o *Figures, events ...umpire.Event) {
	t.Helper()
	if err := o.Run(t.Context(), sequence(events...)); err != nil {
		t.Fatal(err)
	}
}

// scrape returns the lines of the figures without comments.
func scrape(t *testing.T, o *Figures) []string {
	t.Helper()
	w := httptest.NewRecorder()
	o.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("scrape: %d %s", w.Code, w.Body)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(w.Body.String()), "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}

// story is a batch of three: one allowed, one asked about and approved after a while, one asked
// about and denied instantly; then a crash and the recovery.
func story() []umpire.Event {
	call := func(c umpire.CallID, q umpire.RequestID, tool string, code umpire.ReasonCode) func(*umpire.Event) {
		return func(e *umpire.Event) { e.Call, e.Request, e.Tool, e.Code = c, q, tool, code }
	}
	return []umpire.Event{
		at(0, umpire.EventBatchSubmitted, func(e *umpire.Event) {
			e.Call = ""
			e.Data = encode(batch.Submitted{Calls: []batch.Call{{ID: "c1", Tool: "Read", Took: 300}, {ID: "c2", Tool: "Bash"}, {ID: "c3", Tool: "mcp__x__y"}}})
		}),
		at(0, umpire.EventPermissionBypassedByRule, call("c1", "", "Read", umpire.CodeSafe)),
		at(0, umpire.EventPermissionAsked, call("c2", "q2", "Bash", umpire.CodeMode)),
		at(0, umpire.EventPermissionAsked, call("c3", "q3", "mcp__x__y", umpire.CodeRule)),
		at(0.2, umpire.EventPermissionRejected, call("c3", "q3", "mcp__x__y", umpire.CodeDenied)),
		at(42, umpire.EventPermissionApproved, func(e *umpire.Event) {
			call("c2", "q2", "Bash", umpire.CodeOnce)(e)
			e.Scope = new(umpire.ScopeSession)
		}),
		at(43, umpire.EventCallStarted, call("c1", "", "Read", "")),
		at(44, umpire.EventCallFinished, func(e *umpire.Event) {
			call("c1", "", "Read", "")(e)
			e.Data = encode(batch.Finished{Status: umpire.ResultOK, Output: "the password is hunter2"})
		}),
		at(45, umpire.EventCallStarted, call("c2", "", "Bash", "")),
		at(90, umpire.EventCallIndeterminate, call("c2", "q4", "Bash", "")),
		at(190, umpire.EventPermissionApproved, call("c2", "q4", "Bash", umpire.CodeOnce)),
		at(191, umpire.EventCallFinished, func(e *umpire.Event) {
			call("c2", "", "Bash", "")(e)
			e.Data = encode(batch.Finished{Status: umpire.ResultIndeterminate})
		}),
		at(192, umpire.EventModelRequested, nil), at(193, umpire.EventModelRequested, nil), at(194, umpire.EventBatchDelivered, nil),
		at(195, umpire.EventModelRequested, func(e *umpire.Event) { e.Batch = "" }),
		at(196, umpire.EventRulesChanged, nil), at(197, umpire.EventRulesDegraded, nil), at(198, umpire.EventRulesChanged, nil),
		at(199, umpire.EventPermissionRejected, call("c9", "", "Write", umpire.CodeBlocked)),
		at(200, umpire.EventPermissionRejected, call("c9", "", "Write", umpire.CodeAutoDeny)),
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	o := NewFigures(func(context.Context) (int, error) { return 3, nil })
	run(t, o, story()...)
	want := []string{
		`umpire_asks_pending 3`,
		`umpire_calls_total{tool="mcp"} 1`, `umpire_calls_total{tool="read"} 1`, `umpire_calls_total{tool="shell"} 1`,
		`umpire_decisions_total{source="builtin",verdict="allow"} 1`,
		`umpire_decisions_total{source="headless",verdict="deny"} 1`,
		`umpire_decisions_total{source="mode",verdict="ask"} 1`,
		`umpire_decisions_total{source="person",verdict="allow"} 2`, `umpire_decisions_total{source="person",verdict="deny"} 1`,
		`umpire_decisions_total{source="rule",verdict="ask"} 1`, `umpire_decisions_total{source="rule",verdict="deny"} 1`,
		`umpire_executions_unknown_total 1`, `umpire_hasty_answers_total 1`,
		`umpire_prompts_per_100_calls 100`,
		`umpire_prompts_total{tool="mcp"} 1`, `umpire_prompts_total{tool="shell"} 2`,
		`umpire_resume_redelivered_total 1`,
		`umpire_rules_reload_total{result="degraded"} 1`, `umpire_rules_reload_total{result="ok"} 2`,
		`umpire_ask_wait_seconds_count 3`, `umpire_ask_wait_seconds_sum 142.2`,
		`umpire_ask_wait_seconds_bucket{le="0.5"} 1`, `umpire_ask_wait_seconds_bucket{le="60"} 2`, `umpire_ask_wait_seconds_bucket{le="300"} 3`,
		`umpire_evaluate_seconds_count 1`, `umpire_evaluate_seconds_bucket{le="0.00025"} 0`, `umpire_evaluate_seconds_bucket{le="0.0005"} 1`,
	}
	got := scrape(t, o)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("no line %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) && !strings.Contains(line, "_seconds_") {
			t.Errorf("line %s", line)
		}
	}
}

// TestNoPending: the number of questions that wait is left out if it is not counted.
func TestNoPending(t *testing.T) {
	t.Parallel()
	pending := func(line string) bool { return strings.HasPrefix(line, "umpire_asks_pending") }
	if got := scrape(t, NewFigures(nil)); slices.ContainsFunc(got, pending) {
		t.Errorf("%q", got)
	}
}

// TestPendingFails: one unavailable metric leaves the others.
func TestPendingFails(t *testing.T) {
	t.Parallel()
	o := NewFigures(func(ctx context.Context) (int, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the count is not bounded")
		}
		return 0, errors.New("no store")
	})
	run(t, o, story()...)
	if got := scrape(t, o); !slices.Contains(got, `umpire_executions_unknown_total 1`) {
		t.Errorf("%q", got)
	}
}

// hostile returns a text that an agent may put into any field of an event.
func hostile(dice *rand.Rand) string {
	return []string{
		"rm -rf /home/me", "mcp__evil__" + strconv.Itoa(dice.Int()), "Bash\n", "\x00\xff", "tool-" + strconv.Itoa(dice.Int()), `x"} 1` + "\nevil_metric 7", "Read ",
		"", "bash", strings.Repeat("a", 10_000), "会议", "c-" + strconv.Itoa(dice.Int()), "/etc/passwd",
	}[dice.IntN(13)]
}

func hostileEvent(dice *rand.Rand) umpire.Event {
	kinds := []umpire.EventKind{
		umpire.EventPermissionAsked, umpire.EventPermissionApproved, umpire.EventPermissionRejected, umpire.EventPermissionBypassedByRule, umpire.EventBatchSubmitted,
		umpire.EventCallStarted, umpire.EventCallFinished, umpire.EventCallIndeterminate, umpire.EventModelRequested, umpire.EventRulesChanged, umpire.EventKind(hostile(dice)),
	}
	verdict, scope := umpire.Verdict(dice.IntN(256)), umpire.Scope(dice.IntN(256))
	return umpire.Event{
		Kind: kinds[dice.IntN(len(kinds))], At: noon.Add(time.Duration(dice.Int64N(int64(time.Hour)))), Verdict: &verdict, Scope: &scope,
		Project: umpire.ProjectID(hostile(dice)), Session: umpire.SessionID(hostile(dice)), Batch: umpire.BatchID(hostile(dice)), Call: umpire.CallID(hostile(dice)),
		Request: umpire.RequestID(hostile(dice)), Agent: hostile(dice), Tool: hostile(dice), Code: umpire.ReasonCode(hostile(dice)), Reason: umpire.Verbatim(hostile(dice)), Rule: umpire.RuleID(hostile(dice)),
		Actor: hostile(dice), Risk: hostile(dice), Type: umpire.PermissionType(hostile(dice)), Accesses: []umpire.Access{{Target: hostile(dice), Args: []string{hostile(dice)}}},
		Data: encode(batch.Submitted{Lane: hostile(dice), Calls: []batch.Call{{ID: "c", Tool: hostile(dice)}, {Tool: hostile(dice)}}}),
	}
}

// The closed sets, written out once more.
var closed = map[string][]string{
	"tool":    {"shell", "read", "write", "git", "network", "mcp", "task", "other"},
	"verdict": {"allow", "ask", "deny"},
	"source":  {"builtin", "rule", "grant", "mode", "person", "timeout", "headless", "other"},
	"result":  {"ok", "degraded"},
}

// TestLabelsAreClosed: no matter how agents name their tools, the set of labels does not grow.
func TestLabelsAreClosed(t *testing.T) {
	t.Parallel()
	o := NewFigures(nil)
	dice := rand.New(rand.NewPCG(1, 2))
	var events []umpire.Event
	for range sample.Times(1_500, 12_000) {
		events = append(events, hostileEvent(dice))
	}
	run(t, o, events...)
	families, err := o.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "umpire_") {
			t.Errorf("figure %q", family.GetName())
		}
		for _, m := range family.GetMetric() {
			series++
			for _, l := range m.GetLabel() {
				if !slices.Contains(closed[l.GetName()], l.GetValue()) {
					t.Errorf("%s: label %s=%q", family.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
	if most := 3*8 + 2*8 + 2 + 7; series > most {
		t.Errorf("%d series, at most %d can be", series, most)
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]label{
		"Bash": "shell", "Read": "read", "Grep": "read", "Write": "write", "filesystem-edit_search": "write", "GitPush": "git", "WebFetch": "network",
		"mcp__a__b": "mcp", "TodoWrite": "task", "bash": "other", "": "other", "Bash ": "other", "xmcp__": "other",
	} {
		if got := classOf(tool); got != want || !slices.Contains(closed["tool"], string(got)) {
			t.Errorf("%q is %s, want %s", tool, got, want)
		}
	}
}

// TestSources: every word that a decision can give belongs to a source.
func TestSources(t *testing.T) {
	t.Parallel()
	for _, code := range []umpire.ReasonCode{
		umpire.CodeSafe, umpire.CodeRule, umpire.CodeOnce, umpire.CodeSession, umpire.CodeRemembered, umpire.CodeAllowAll, umpire.CodeBypass, umpire.CodeMode,
		umpire.CodeCritical, umpire.CodeForbiddenPath, umpire.CodeControlFile, umpire.CodeExternalDirectory, umpire.CodeSuffix, umpire.CodeProfile, umpire.CodePlan,
		umpire.CodeUnparsed, umpire.CodeBlocked, umpire.CodeAutoDeny, umpire.CodeInvalid, umpire.CodeDenied, umpire.CodeCancelled, umpire.CodeTimeout,
	} {
		if got := sourceOf(&umpire.Event{Code: code}); got == byOther || !slices.Contains(closed["source"], string(got)) {
			t.Errorf("%s is decided by %s", code, got)
		}
	}
	if got := sourceOf(&umpire.Event{Code: "tomorrow"}); got != byOther {
		t.Error(got)
	}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	o := NewFigures(nil)
	broken := errors.New("the store is gone")
	fail := func(err error) iter.Seq2[umpire.Event, error] {
		return func(yield func(umpire.Event, error) bool) { yield(umpire.Event{}, err) }
	}
	if err := o.Run(t.Context(), fail(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Run(ctx, fail(ctx.Err())); err != nil {
		t.Error(err)
	}
	if err := o.Run(ctx, fail(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func BenchmarkObserve(b *testing.B) {
	o := NewFigures(nil)
	events := story()
	b.ReportAllocs()
	for b.Loop() {
		for i := range events {
			o.observe(&events[i])
		}
	}
}
