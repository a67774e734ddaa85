package policy

import "testing"

func TestNamesTool(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern      string
		known, every bool
	}{
		{"Bash", true, false},
		{"Read", true, false},
		{"NotebookRead", true, false},
		{"GitPush", true, false},
		{"WebSearch", true, false},
		{"mcp__github", true, false},
		{"mcp__github__list_issues", true, false},
		{"mcp__*", true, false},
		{"*", true, true},
		{"?*", true, true},
		{"Git*", true, false},
		{"[A-Z]*", true, false},
		{"Foo", false, false},
		{"bash", false, false},
		{"Foo*", false, false},
		{"", false, false},
	}
	for _, test := range tests {
		if known, every := NamesTool(test.pattern), NamesEveryTool(test.pattern); known != test.known || every != test.every {
			t.Errorf("%q: known %v, every %v", test.pattern, known, every)
		}
	}
}
