package umpire

import "testing"

// Every mode has a line in the table and tightens itself. No other mode permits bypass.
func TestTightens(t *testing.T) {
	t.Parallel()
	if len(tighter) != len(modeNames) {
		t.Fatalf("%d lines for %d modes", len(tighter), len(modeNames))
	}
	for from := range tighter {
		m := Mode(from)
		if !m.Tightens(m) {
			t.Errorf("%s is looser than itself", m)
		}
		if m != ModeBypass && ModeBypass.Tightens(m) {
			t.Errorf("bypass tightens %s", m)
		}
	}
	if ModeAuto.Tightens(ModeDefault) || !ModeAsk.Tightens(ModeDefault) || ModeAsk.Tightens(Mode(99)) || Mode(99).Tightens(ModeDefault) {
		t.Error("the table is not read right")
	}
}
