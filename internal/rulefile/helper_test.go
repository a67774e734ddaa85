package rulefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// testCheck is the check of these tests: a pattern with "bad" in it is refused,
// and so is a rule whose first example does not begin with its prefix.
func testCheck(r umpire.Rule) error {
	if strings.Contains(r.Match.CommandPrefix+r.Match.PathGlob+r.Match.Domain, "bad") {
		return errors.New("bad pattern")
	}
	if r.Cap != (umpire.Cap{}) || r.Match.Command != "" {
		if err := policy.Validate(r); err != nil {
			return err
		}
	}
	if strings.ContainsAny(r.Tool, " ()") {
		return fmt.Errorf("tool %q is not a name", r.Tool)
	}
	for _, example := range r.Examples.Match {
		if !strings.HasPrefix(example, r.Match.CommandPrefix) {
			return fmt.Errorf("example %q does not match", example)
		}
	}
	return nil
}

// testShort knows just enough of the short form.
func testShort(s string) (umpire.Rule, error) {
	tool, rest, _ := strings.Cut(s, "(")
	domain, ok := strings.CutPrefix(strings.TrimSuffix(rest, ")"), "domain:")
	if rest != "" && !ok {
		return umpire.Rule{}, fmt.Errorf("rule %q: not understood", s)
	}
	return umpire.Rule{Tool: tool, Match: umpire.Match{Domain: domain}}, nil
}

func testOptions() Options { return Options{Check: testCheck, Short: testShort} }

// write makes a file with its folders.
func write(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// userLayer writes a user's file and returns its layer.
func userLayer(t testing.TB, content string) Layer {
	t.Helper()
	return Layer{Source: umpire.SourceUser, Path: write(t, filepath.Join(t.TempDir(), fileName), content)}
}

// brief shows rules in one line each: action, tool, match.
func brief(rules []umpire.Rule) []string {
	lines := []string{}
	for _, r := range rules {
		m, exact := r.Match, ""
		if m.Command != "" {
			exact = "=" + m.Command
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s %s", r.Action, r.Tool, exact+m.CommandPrefix+m.PathGlob+m.Domain), " "))
	}
	return lines
}

// rulesFile returns a file of version 1 with the given rules.
func rulesFile(rules ...string) string {
	return "{\"version\": 1, \"rules\": [\n" + strings.Join(rules, ",\n") + "\n]}\n"
}

const (
	allowTests = `{"id": "tests", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "npm test"}}`
	denyLocks  = `{"id": "locks", "action": "deny", "tool": "Edit", "match": {"pathGlob": "*.lock"}}`
	askFetch   = `{"id": "fetch", "action": "ask", "tool": "WebFetch", "match": {"domain": "example.com"}}`
)
