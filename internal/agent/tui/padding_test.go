package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// long is a question whose part that asks is far longer than a small screen.
func long() umpire.Pending {
	p := npm()
	for i := range 30 {
		p.Accesses = append(p.Accesses, umpire.Access{
			Kind: umpire.KindDelete, Target: fmt.Sprintf("/p/file%d", i), Verdict: umpire.Ask, Risk: umpire.High,
			Reason: "deletes it",
		})
	}
	return p
}

// No key approves on any screen before all asking parts have been on the screen. Denying
// is always possible.
func TestNothingIsApprovedUnseen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 5}, {40, 10}, {80, 24}} {
		for _, key := range []string{"y", "s", "p", "g", "Y"} {
			d := driven(t, nil, size[0], size[1])
			d.ask(long())
			d.press(key)
			if len(d.gate.answers) != 0 || d.m.ask.step != stepNone {
				t.Fatalf("%v: %s was taken before the end was seen", size, key)
			}
			pages := 0
			for ; !d.m.ask.read; pages++ {
				if pages > 500 {
					t.Fatalf("%v: the end is never seen:\n%s", size, d.screenText())
				}
				d.press("pgdown")
			}
			if pages == 0 {
				t.Errorf("%v: %d lines counted as seen at once", size, len(d.m.ask.drawn.lines))
			}
			if key == "y" {
				d.press(key)
				if len(d.gate.answers) != 1 {
					t.Errorf("%v: y did not count after all was seen", size)
				}
			}
		}
		d := driven(t, nil, size[0], size[1])
		d.ask(long())
		d.press("n", "enter")
		if len(d.gate.answers) != 1 || d.gate.answers[0].Choice != umpire.Refuse {
			t.Errorf("%v: denying did not count", size)
		}
	}
}

// Every line that asks was drawn by the time that a key counts.
func TestAllThatAsksWasDrawn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{24, 8}, {40, 10}, {80, 24}} {
		d := driven(t, nil, size[0], size[1])
		d.ask(long())
		drawn := d.screenText()
		for range 500 {
			if d.m.ask.read {
				break
			}
			d.press("pgdown")
			drawn += d.screenText()
		}
		for i := range 30 {
			if name := fmt.Sprintf("file%d", i); !strings.Contains(drawn, name) {
				t.Errorf("%v: %s was never on the screen", size, name)
			}
		}
	}
}

// A longer list of rules than the screen holds is read to its end before it is written.
func TestRulesAreNeverWrittenUnseen(t *testing.T) {
	t.Parallel()
	p := npm()
	p.Rules = nil
	for i := range 40 {
		p.Rules = append(p.Rules, fmt.Sprintf("Bash(tool%d --with-an-option:*)", i))
	}
	d := driven(t, nil, 80, 24)
	d.ask(p)
	d.press("p", "y")
	if len(d.gate.answers) != 0 {
		t.Fatal("rules were written that nobody has seen")
	}
	drawn := d.screenText()
	for range 100 {
		if d.m.ask.readRules {
			break
		}
		d.press("pgdown")
		drawn += d.screenText()
	}
	for i := range 40 {
		if name := fmt.Sprintf("tool%d ", i); !strings.Contains(drawn, name) {
			t.Errorf("%s was never on the screen", name)
		}
	}
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Scope != umpire.ScopeProject {
		t.Errorf("then answered %+v", d.gate.answers)
	}
}
