package tui

import (
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// The key that leaves the help begins the next message: "/timeline" is a command there.
func TestHelpEatsNoKey(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 120, 40)
	d.press("/help", "enter")
	d.sees("any key: back")
	d.press("/timeline", "enter")
	d.sees("Timeline  s1")
	if len(d.gate.prompts) != 0 {
		t.Errorf("sent to the model: %q", d.gate.prompts)
	}
	d.press("esc", "/help", "enter", "q")
	if text := d.m.input.Value(); text != "" || d.m.screen != nil {
		t.Errorf("q left the help with %q written", text)
	}
}

// "always allow" is an answer, and the screen first shows the rule that it would write.
func TestAlwaysAllow(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 120, 40)
	d.ask(npm())
	d.sees("a always allow")
	d.press("a")
	d.sees("allow this project")
	d.press("a")
	if d.m.ask.step != stepRule || d.m.ask.scope != umpire.ScopeProject {
		t.Fatalf("a leads to step %d, scope %s", d.m.ask.step, d.m.ask.scope)
	}
	d.sees("Rule to write")
	if len(d.gate.answers) != 0 {
		t.Error("a alone answered")
	}
}

// e shows the row that asked and the rule, at once and on a small screen.
func TestExplainSaysWhy(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		d := driven(t, nil, size[0], size[1])
		p := npm()
		d.gate.decision = umpire.Decision{
			Verdict: umpire.Ask, Accesses: p.Accesses,
			Reasons: []umpire.Reason{
				{Row: 7, Verdict: umpire.Ask, Text: "Asked by rule: ask-npm", Rule: &umpire.RuleRef{ID: "ask-npm", Source: umpire.SourceProject, File: "/p/r.json", Line: 3}},
				{Row: 14, Verdict: umpire.Ask,
					Text: umpire.Say("Tool %q requires approval (%s)", "Bash", umpire.Phrase("moderate"))},
			},
		}
		d.ask(p)
		d.press("e")
		d.sees("why", "row 7 ask rule: Asked by rule: ask-npm [ask-npm (project", "row 14 mode")
		d.press("e")
		d.sees("Permission request")
	}
}

// The timeline shows the result of a call.
func TestTimelineShowsOutcomes(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 120, 24)
	d.m.events = []umpire.Event{
		{Seq: 1, Session: "s1", Kind: umpire.EventCallFinished, Tool: "Bash", Data: []byte(`{"status":"error"}`)},
		{Seq: 2, Session: "s1", Kind: umpire.EventModeChanged, Data: []byte(`{"from":"default","mode":"plan"}`)},
	}
	d.press("/timeline", "enter")
	d.sees("Bash  error", "default → plan")
}

// e shows the question's current age, not its age when the card appeared.
func TestExplainTellsTheAge(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 40)
	d.ask(npm())
	d.pass(21 * time.Minute)
	d.press("e")
	d.sees("asked:         21m ago")
	d.pass(time.Minute)
	d.sees("asked:         22m ago")
}
