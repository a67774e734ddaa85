package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// TestSearchRuleAllowsNoFetch: a rule that allows WebSearch does not cover an address that
// another tool fetches; one that denies it still stops every tool.
func TestSearchRuleAllowsNoFetch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, tool string
		allow      bool
		judges     bool
	}{
		{"WebSearch", "WebFetch", true, false},
		{"WebSearch", "Bash", true, false},
		{"WebSearch", "WebSearch", true, true},
		{"WebFetch", "WebFetch", true, true},
		{"WebFetch", "Bash", true, true},
		{"WebSearch", "WebFetch", false, true},
		{"WebFetch", "WebSearch", false, true},
	} {
		if got := toolJudges(tt.rule, tt.tool, umpire.KindNetwork, tt.allow); got != tt.judges {
			t.Errorf("allow %t: %s judges %s: %t, want %t", tt.allow, tt.rule, tt.tool, got, tt.judges)
		}
	}
}
