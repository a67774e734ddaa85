package policy

import "testing"

// What JudgesOthers says no to is judged by nothing but its own name.
func TestJudgesOthers(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]bool{
		"Read": true, "LS": true, "Edit": true, "WebFetch": true, "Bash": true, "GitCommit": true, "*": true, "mcp__*": true, "mcp__s": true,
		"Task": false, "TodoWrite": false, "mcp__s__t": false, "Nothing": false,
	} {
		if got := JudgesOthers(tool); got != want {
			t.Errorf("%s: %t", tool, got)
		}
	}
}
