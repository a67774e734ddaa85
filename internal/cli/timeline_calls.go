package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
)

// A callLine is the events of one call, or one event outside of calls.
type callLine struct{ events []umpire.Event }

// groupCalls returns a line for each call, in the order in which they began, and one for each event outside
// of calls that changes files or later decisions.
func groupCalls(events []umpire.Event) []*callLine {
	var lines []*callLine
	begins := func(_ int, e *umpire.Event) bool { return e.Call != "" || loneWords[e.Kind] != "" }
	for _, group := range history.GroupByCall(events, begins) {
		lines = append(lines, &callLine{group})
	}
	return lines
}

// loneWords name the events outside of calls that get a line.
var loneWords = map[umpire.EventKind]string{
	umpire.EventModeChanged: "mode changed", umpire.EventGrantCreated: "grant given",
	umpire.EventGrantRevoked: "grant revoked", umpire.EventRulesChanged: "rules changed",
	umpire.EventRulesDegraded: "rules degraded", umpire.EventEffectsKept: "kept",
	umpire.EventEffectsDiscarded: "discarded", umpire.EventUndone: "undone", umpire.EventPruned: "session removed",
	umpire.EventSecretLeased: "secret leased", umpire.EventSecretRevoked: "lease ended",
	umpire.EventSecretUsed: "secret used",
}

// stepWords are the events that add a word to the course of a call.
var stepWords = map[umpire.EventKind]string{
	umpire.EventPermissionAsked: "asked", umpire.EventPermissionRejected: "denied",
	umpire.EventCallRanUnasked: "ran unasked", umpire.EventCallRanRefused: "ran all the same",
	umpire.EventTrialRan: "tried", umpire.EventEffectsKept: "kept", umpire.EventEffectsDiscarded: "discarded",
	umpire.EventEffectsConflicted: "in conflict", umpire.EventCallIndeterminate: "may have run already",
}

// endWords are the ends of calls that add a word to their course.
var endWords = map[umpire.ResultStatus]string{
	umpire.ResultError: "failed", umpire.ResultCancelled: "cancelled", umpire.ResultTimeout: "timed out",
}

// unanswered are the codes of denials without an answer.
var unanswered = map[umpire.ReasonCode]string{umpire.CodeCancelled: "cancelled", umpire.CodeTimeout: "timed out"}

// course returns the course of a call in words, such as asked and allowed.
func (l *callLine) course() []string {
	var steps []string
	add := func(step string) {
		if step != "" && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	wanted, asked := false, false // by a person, of a person
	unask := func() {
		asked, steps = false, slices.DeleteFunc(steps, func(s string) bool { return s == "asked" })
	}
	for i := range l.events {
		e := &l.events[i]
		switch last := len(steps) - 1; {
		case e.Kind == umpire.EventPermissionApproved && asked,
			e.Kind == umpire.EventCallStarted && len(steps) == 0:
			add("allowed")
		case e.Kind == umpire.EventPermissionBypassedByRule && e.Code == umpire.CodeLeftToHost:
			add("left to the agent")
		case e.Kind == umpire.EventEffectsKept && last >= 0 && steps[last] == "tried":
			steps[last] = "tried and kept"
		case e.Kind == umpire.EventCallFinished:
			var result umpire.Result
			_ = json.Unmarshal(e.Data, &result) // an unreadable one adds nothing
			add(endWords[result.Status])
		default:
			wanted = wanted || e.Kind == umpire.EventTrialWanted
			if e.Kind == umpire.EventTrialRan && !wanted || e.Code == umpire.CodeAutoDeny {
				unask() // it was tried first, or no person could be asked
			}
			asked = asked || e.Kind == umpire.EventPermissionAsked && e.Code != umpire.CodeAutoDeny
			if e.Kind != umpire.EventPermissionAsked || asked {
				add(cmp.Or(unanswered[e.Code], stepWords[e.Kind]))
			}
		}
	}
	return steps
}

// reason returns the words of the person who denied a call, or what the call that was asked about or denied would do.
func (t *callTable) reason(l *callLine) string {
	said := ""
	for i := range l.events {
		e := &l.events[i]
		if e.Kind != umpire.EventPermissionAsked && e.Kind != umpire.EventPermissionRejected {
			continue
		}
		if e.Code == umpire.CodeDenied && e.Reason != "" {
			return view.Visible(t.Text.Reason(e.Reason))
		}
		said = cmp.Or(t.headline(e), said, view.Visible(t.Text.Reason(e.Reason)))
	}
	return said
}

// headline says what the denied parts of an event's call would do, or else those that ask.
func (t *callTable) headline(e *umpire.Event) string {
	d := umpire.Decision{Verdict: umpire.Ask, Reason: e.Reason, ReasonCode: e.Code, Accesses: e.Accesses}
	denied := func(a umpire.Access) bool { return a.Verdict == umpire.Deny }
	if slices.ContainsFunc(e.Accesses, denied) {
		d.Verdict = umpire.Deny
	}
	return view.Headline(&d, t.in, t.Text)
}

// A callTable shows calls, one a line.
type callTable struct {
	*app.App

	in      view.Folders
	gate    umpire.Gate
	batches map[umpire.BatchID]umpire.Batch // of the calls without a question
	undone  map[history.Name]bool
}

// showCalls shows the last calls, or all with 0.
func showCalls(
	ctx context.Context, a *app.App, gate umpire.Gate, in view.Folders, lines []*callLine, last int,
) error {
	if last > 0 && len(lines) > last {
		lines = lines[len(lines)-last:]
	}
	undone, err := app.FindUndone(a.StateDir())
	if err != nil {
		return err
	}
	t := callTable{App: a, in: in, gate: gate, batches: map[umpire.BatchID]umpire.Batch{}, undone: undone}
	table := app.NewTable(a.Stdout)
	if a.ToTerminal {
		table.Width = a.Columns()
	}
	for _, line := range lines {
		table.Row(t.cells(ctx, line)...)
	}
	return app.Failed(table.Flush())
}

// cells returns a line as the cells of a table.
func (t *callTable) cells(ctx context.Context, l *callLine) []string {
	e := &l.events[0]
	age := fmt.Sprintf(t.Text.Of("%s ago"), view.Age(t.Now().Sub(e.At)))
	if e.Call == "" {
		about := cmp.Or(view.Outcome(e, t.Text), view.Visible(t.Text.Reason(e.Reason)))
		return []string{age, t.Text.Word("course", loneWords[e.Kind]), "", app.Clip(about)}
	}
	course, reason := l.course(), ""
	if slices.Contains(course, "asked") || slices.Contains(course, "denied") {
		reason = t.reason(l)
	}
	colour := view.VerdictColour(umpire.Allow)
	switch {
	case len(course) == 1 && course[0] == "asked":
		course[0], colour = "waits for you", view.VerdictColour(umpire.Ask)
	case slices.ContainsFunc(course, func(s string) bool { return bad[s] }):
		colour = view.VerdictColour(umpire.Deny)
	}
	if t.undone[history.Name{Session: e.Session, Call: e.Call}] {
		course = append(course, "undone")
	}
	for i := range course {
		course[i] = t.Text.Word("course", course[i])
	}
	outcome := strings.Join(course, " → ")
	if t.Colour() {
		outcome = colour + outcome + "\x1b[0m"
	}
	about := app.Clip(view.Visible(t.subject(ctx, l)))
	if reason != "" {
		if room := t.Columns() / 2; t.ToTerminal {
			about = cutColumns(about, room)
		}
		about += "  - " + app.Clip(reason)
	}
	return []string{age, outcome, view.Visible(e.Tool), about}
}

// bad are the steps that a person looks for.
var bad = map[string]bool{
	"denied": true, "failed": true, "in conflict": true, "ran all the same": true, "ran unasked": true,
	"may have run already": true, "timed out": true,
}

// subject returns the command or path of a call as it was typed, or else its accesses.
func (t *callTable) subject(ctx context.Context, l *callLine) string {
	for i := range l.events {
		var asked struct {
			Input json.RawMessage `json:"input"`
		}
		if json.Unmarshal(l.events[i].Data, &asked) == nil && len(asked.Input) > 0 {
			return view.SubjectOf(asked.Input)
		}
	}
	e := &l.events[0]
	b, known := t.batches[e.Batch]
	if !known || b.Session != e.Session {
		b, _ = t.gate.Batch(ctx, e.Session, e.Batch) // one that is gone leaves its accesses
		t.batches[e.Batch] = b
	}
	if c := b.Call(e.Call); c != nil && len(c.Input) > 0 {
		return view.SubjectOf(c.Input)
	}
	for i := range l.events {
		if about := eventSubject(t.Text, &l.events[i]); about != "" {
			return about
		}
	}
	return ""
}
