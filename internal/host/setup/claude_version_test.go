package setup

import "testing"

func TestClaudeVersionBlocks(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"2.1.329 (Claude Code)": true, "2.1.295": true, "2.1.294 (Claude Code)": false, "2.2.0": true, "3.0.0\n": true,
		"2.0.400": false, "1.9.999": false, "2.1.295-beta.1": false, "2.1.296-beta.1": true, "v2.1.300": true,
		"": false, "2.1": false, "2.1.x": false, "3.x.1": false, "latest": false, "2.1.-1": false, "2.1.99999999999999999999": false,
	} {
		if got := ClaudeVersionBlocks(version); got != want {
			t.Errorf("ClaudeVersionBlocks(%q) = %v, want %v", version, got, want)
		}
	}
}
