package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// TestShortForm checks that a long call is stored as a hash that no other call has as its form.
func TestShortForm(t *testing.T) {
	t.Parallel()
	exact := func(tool, name, text string) string {
		input, err := json.Marshal(map[string]string{name: text})
		if err != nil {
			t.Fatal(err)
		}
		return store.ShortForm(policy.Exact(umpire.Call{Tool: tool, Input: input}))
	}
	long := strings.Repeat("x", 3<<20)
	seen := map[string]string{}
	for _, tool := range []string{"Bash", "Write"} {
		name := map[string]string{"Bash": "command", "Write": "content"}[tool]
		for _, text := range []string{long + "a", long + "b", "b" + long} {
			got := exact(tool, name, text)
			if len(got) > 100 || seen[got] != "" || exact(tool, name, text) != got {
				t.Errorf("%s: %.200q, as for %s", tool, got, seen[got])
			}
			if again := exact("Bash", "command", got); again == got {
				t.Errorf("a command has the form of a long one: %q", again)
			}
			seen[got] = tool
		}
	}
}
