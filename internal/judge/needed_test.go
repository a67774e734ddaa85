package judge

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// TestNeededEffects: NeededEffects leaves out only the refused connections of a command that
// succeeded, and does not modify the recorded effects.
func TestNeededEffects(t *testing.T) {
	t.Parallel()
	e := &umpire.TrialEffects{Whole: true, Refused: []umpire.TrialAttempt{
		{Kind: umpire.AttemptNetwork, Target: "example.org:443"}, {Kind: umpire.AttemptWrite, Target: "/etc/x"}, {Kind: "other"},
	}}
	for exit, want := range map[int]int{0: 2, 1: 3, 128 + 15: 3, -1: 3} {
		if got := NeededEffects(e, exit); len(got.Refused) != want || !got.Whole {
			t.Errorf("exit %d: %+v", exit, got)
		}
	}
	if len(e.Refused) != 3 || e.Refused[0].Kind != umpire.AttemptNetwork {
		t.Errorf("the record is %+v", e.Refused)
	}
}
