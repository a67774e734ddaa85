package batch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// TestDiagrams checks that docs/batch.md has the rows of the tables verbatim, and names
// every event.
func TestDiagrams(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{drawTable(batchTransitions), drawTable(callTransitions), drawTable(TrialTransitions)} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/batch.md does not have this diagram:\n%s", want)
		}
	}
	var kinds []umpire.EventKind
	for _, row := range batchTransitions {
		kinds = append(kinds, row.On)
	}
	for _, row := range callTransitions {
		kinds = append(kinds, row.On)
	}
	for _, row := range TrialTransitions {
		kinds = append(kinds, row.On)
	}
	for _, kind := range kinds {
		if !strings.Contains(text, "| `"+string(kind)+"` ") {
			t.Errorf("no row for %s", kind)
		}
	}
}

// drawTable draws a table as a Mermaid diagram. A state without outgoing rows is an end.
func drawTable[State ~string](table []Transition[State]) string {
	lines := []string{"```mermaid", "stateDiagram-v2"}
	left := map[State]bool{}
	for _, row := range table {
		from, label := string(row.From), string(row.On)
		if from == "" {
			from = "[*]"
		}
		if row.Note != "" {
			label += ", " + row.Note
		}
		lines = append(lines, fmt.Sprintf("    %s --> %s: %s", from, row.To, label))
		left[row.From] = true
	}
	for _, row := range table {
		if !left[row.To] {
			left[row.To] = true
			lines = append(lines, fmt.Sprintf("    %s --> [*]", row.To))
		}
	}
	return strings.Join(append(lines, "```"), "\n") + "\n"
}

// TestTriggers checks that the constraints of both databases have the states and transitions of the
// tables verbatim. The store's tests try each of them on a real database.
func TestTriggers(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		schema := readSchema(t, database)
		for name, want := range map[string]string{
			"CONSTRAINT batches_state": "CHECK (state IN (" + quoteAll(statesOf(batchTransitions)) + "))",
			"CONSTRAINT calls_state":   "CHECK (state IN (" + quoteAll(statesOf(callTransitions)) + "))",
			"CREATE TRIGGER batches_insert": "NEW.state NOT IN (" + quoteAll(targetsOf(batchTransitions, "")) +
				")",
			"NEW.state NOT IN ('asked'": "NEW.state NOT IN (" + quoteAll(targetsOf(callTransitions, "")) +
				") OR NEW.attempt <> 0",
			"CREATE TRIGGER batches_transition ": batchTrigger(),
			"CREATE TRIGGER calls_transition ":   callTrigger(),
			"CONSTRAINT trials_state":            "CHECK (state IN (" + quoteAll(statesOf(TrialTransitions)) + "))",
			"NEW.state NOT IN ('running')":       "NEW.state NOT IN (" + quoteAll(targetsOf(TrialTransitions, "")) + ")",
			"CREATE TRIGGER trials_transition ":  trialTrigger(),
		} {
			_, text, found := strings.Cut(schema, name)
			text, _, _ = strings.Cut(name+text, ";")
			if !found || !strings.Contains(text, want) {
				t.Errorf("%s: %s: want %s, got %s", database, name, want, text)
			}
		}
	}
}

// readSchema returns the migrations of a database, with single blanks.
func readSchema(t *testing.T, database string) string {
	t.Helper()
	names, err := filepath.Glob("../../store/" + database + "/migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var all []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(text))...)
	}
	return strings.Join(all, " ")
}

// statesOf returns the states of a table: first the initial ones, then other non-final
// ones, then the final ones.
func statesOf[State ~string](table []Transition[State]) []State {
	states := targetsOf(table, "")
	for _, row := range table {
		if row.From != "" && !slices.Contains(states, row.From) {
			states = append(states, row.From)
		}
	}
	for _, row := range table {
		if !slices.Contains(states, row.To) {
			states = append(states, row.To)
		}
	}
	return states
}

// targetsOf returns the other states that a state leads to, each once.
func targetsOf[State ~string](table []Transition[State], from State) (states []State) {
	for _, row := range table {
		if row.From == from && row.To != from && !slices.Contains(states, row.To) {
			states = append(states, row.To)
		}
	}
	return states
}

func quoteAll[State ~string](states []State) string {
	var quoted []string
	for _, s := range states {
		quoted = append(quoted, "'"+string(s)+"'")
	}
	return strings.Join(quoted, ", ")
}

// oneOf returns the condition that a column has one of some values.
func oneOf[State ~string](column string, states []State) string {
	if len(states) == 1 {
		return column + " = " + quoteAll(states)
	}
	return column + " IN (" + quoteAll(states) + ")"
}

// callTrigger returns the condition of calls_transition. A start also counts an attempt,
// so it is separate.
func callTrigger() string {
	start := callTransitions[slices.IndexFunc(callTransitions, func(row Transition[umpire.CallState]) bool {
		return row.On == umpire.EventCallStarted && row.From != row.To
	})]
	again := "NEW.state = OLD.state AND (NEW.attempt = OLD.attempt OR NEW.state = '" + string(start.To) + "' AND NEW.attempt = OLD.attempt + 1)"
	first := fmt.Sprintf("OLD.state = '%s' AND NEW.state = '%s' AND NEW.attempt = OLD.attempt + 1", start.From, start.To)
	var others []string
	for _, from := range statesOf(callTransitions) {
		targets := slices.DeleteFunc(targetsOf(callTransitions, from),
			func(to umpire.CallState) bool { return to == start.To })
		if len(targets) > 0 {
			others = append(others, "OLD.state = '"+string(from)+"' AND "+oneOf("NEW.state", targets))
		}
	}
	return "NOT ( " + again + " OR " + first + " OR NEW.attempt = OLD.attempt AND ( " + strings.Join(others, " OR ") + "))"
}

// trialTrigger returns the condition of trials_transition.
func trialTrigger() string {
	parts := []string{"NEW.state = OLD.state"}
	for _, from := range statesOf(TrialTransitions) {
		if targets := targetsOf(TrialTransitions, from); len(targets) > 0 {
			parts = append(parts, "OLD.state = '"+string(from)+"' AND "+oneOf("NEW.state", targets))
		}
	}
	return "NOT ( " + strings.Join(parts, " OR ") + ")"
}

// batchTrigger returns the condition of batches_transition. A cancel sets a flag, and a
// resume counts, so they are separate.
func batchTrigger() string {
	only := func(keep func(Transition[umpire.BatchState]) bool) (kept []Transition[umpire.BatchState]) {
		for _, row := range batchTransitions {
			if row.From != "" && keep(row) {
				kept = append(kept, row)
			}
		}
		return kept
	}
	on := func(kind umpire.EventKind) []Transition[umpire.BatchState] {
		return only(func(row Transition[umpire.BatchState]) bool { return row.On == kind })
	}
	var cancelled []umpire.BatchState
	for _, row := range on(umpire.EventBatchCancelled) {
		cancelled = append(cancelled, row.From)
	}
	resume := on(umpire.EventBatchResumed)[0]
	plain := only(func(row Transition[umpire.BatchState]) bool {
		return row.From != row.To && row.On != umpire.EventBatchResumed && !row.Cancelled
	})
	const first = umpire.BatchRunning
	parts := []string{"OLD.state = '" + string(first) + "' AND " + oneOf("NEW.state", targetsOf(plain, first))}
	for _, row := range only(func(row Transition[umpire.BatchState]) bool { return row.Cancelled }) {
		parts = append(parts, fmt.Sprintf("OLD.state = '%s' AND NEW.state = '%s' AND OLD.cancelled", row.From, row.To))
	}
	for _, row := range plain {
		if row.From != first {
			parts = append(parts, fmt.Sprintf("OLD.state = '%s' AND NEW.state = '%s'", row.From, row.To))
		}
	}
	return "NOT ( NEW.state = OLD.state AND NEW.resumes = OLD.resumes" +
		" AND (NEW.cancelled = OLD.cancelled OR NEW.cancelled AND " + oneOf("OLD.state", cancelled) + ")" +
		fmt.Sprintf(" OR OLD.state = '%s' AND NEW.state = '%s'", resume.From, resume.To) +
		" AND NEW.resumes = OLD.resumes + 1 AND NEW.cancelled = OLD.cancelled" +
		" OR NEW.resumes = OLD.resumes AND NEW.cancelled = OLD.cancelled AND ( " + strings.Join(parts, " OR ") + "))"
}

// TestTablesAgreeWithFold checks that the legal moves of TestEveryMoveInEveryState follow
// the tables, and together cover every row.
func TestTablesAgreeWithFold(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for _, row := range batchTransitions {
		drawn[nameState(row.From)+" --> "+string(row.To)] = row.From != row.To
	}
	for _, row := range callTransitions {
		drawn[nameState(row.From)+" --> "+string(row.To)] = row.From != row.To || row.On == umpire.EventCallStarted
	}
	maps.DeleteFunc(drawn, func(_ string, moves bool) bool { return !moves })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(transitions())), slices.Sorted(maps.Keys(drawn))); diff != "" {
		t.Errorf("transitions (-fold +tables):\n%s", diff)
	}
}

func nameState[State ~string](from State) string {
	if from == "" {
		return "[*]"
	}
	return string(from)
}

// transitions returns those of the legal moves: of the batch and of the call.
func transitions() map[string]bool {
	all := map[string]bool{}
	for from, moves := range legal(umpire.EffectPure) {
		for name, to := range moves {
			oldBatch, oldCall := parts(from)
			newBatch, newCall := parts(to)
			if oldBatch != newBatch {
				all[oldBatch+" --> "+newBatch] = true
			}
			if oldCall != newCall || name == "start" && oldCall == "executing" {
				all[oldCall+" --> "+newCall] = true
			}
		}
	}
	return all
}

// parts splits a state's name. The diagram shows neither cancellation nor whether the
// first question was asked yet.
func parts(state string) (ofBatch, ofCall string) {
	ofBatch, ofCall, _ = strings.Cut(strings.Replace(state, "!", "", 1), "/")
	if state == "none" {
		return "[*]", "[*]"
	}
	if ofCall == "unasked" {
		ofCall = "asked"
	}
	return ofBatch, ofCall
}
