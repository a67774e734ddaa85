//go:build interop

package interop

import (
	"strings"
	"testing"
)

// TestClaudeWebTools: Claude Code offers its web tools after the model has searched for
// them, and each of their calls goes through umpire first. umpire stops a private address,
// although Claude Code lets every fetch and search run. If Claude Code does not offer these
// tools on loopback, the test says so.
func TestClaudeWebTools(t *testing.T) {
	t.Parallel()
	fetch := func(id, url string) toolCall {
		return toolCall{ID: id, Tool: "WebFetch", Input: map[string]any{"url": url, "prompt": "what does it say"}}
	}
	m := startModel(t,
		turn{{ID: "find", Tool: "ToolSearch", Input: map[string]any{"query": "select:WebFetch,WebSearch", "max_results": 2}}},
		turn{fetch("private", "http://127.0.0.1:9/admin")},
		turn{fetch("page", "https://docs.example.org/page")},
		turn{{ID: "search", Tool: "WebSearch", Input: map[string]any{"query": "umpire signals in cricket"}}},
	)
	w := newWorld(t, m)
	w.write("home/.claude/settings.json",
		strings.Replace(w.settings(), "{\n", "{\n  \"permissions\": {\"allow\": [\"WebFetch\", \"WebSearch\"]},\n", 1))
	w.claude()
	offered := m.Offered()
	for _, tool := range []string{"WebFetch", "WebSearch"} {
		if !offered[tool] {
			t.Skipf("figure: Claude Code offers no %s on loopback, after a search for it either: %v", tool, offered)
		}
	}
	const says = "umpire: "
	w.stopped("private", says)
	for _, id := range []string{"page", "search"} { // which have no network here
		if r := w.told(id); strings.Contains(r.Text, says) {
			t.Errorf("umpire stopped %s: %s", id, r.Text)
		}
	}
}
