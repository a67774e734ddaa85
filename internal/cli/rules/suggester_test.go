package rules

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestIsGuarded(t *testing.T) {
	t.Parallel()
	reason := func(v umpire.Verdict, code umpire.ReasonCode) []umpire.Reason {
		return []umpire.Reason{{Verdict: v, Code: code}}
	}
	for name, tt := range map[string]struct {
		decision umpire.Decision
		want     bool
	}{
		"the zero value":  {umpire.Decision{}, true},
		"an edit":         {umpire.Decision{Risk: umpire.Medium, Consequence: umpire.Reversible}, false},
		"a push":          {umpire.Decision{Risk: umpire.High, Consequence: umpire.Outward}, true},
		"critical":        {umpire.Decision{Risk: umpire.Critical, Consequence: umpire.Harmless}, true},
		"a secret":        {umpire.Decision{Risk: umpire.Low, Consequence: umpire.Harmless, Reasons: reason(umpire.Ask, umpire.CodeSecret)}, true},
		"an allowed read": {umpire.Decision{Risk: umpire.Low, Consequence: umpire.Harmless, Reasons: reason(umpire.Allow, umpire.CodeSecret)}, false},
	} {
		if got := isGuarded(&tt.decision); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
