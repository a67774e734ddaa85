package judge

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// A question names the next level of autonomy only if the call would run there, or be tried first.
func TestRaise(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bounds, err := place.Open(root, place.Options{Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		level   policy.Level
		command string
		want    string
		tries   bool
	}{
		{policy.AutonomyLow, "echo x > a", "medium", false},
		{policy.AutonomyLow, "python3 gen.py", "medium", true},
		{policy.AutonomyLow, "git push --force", "", false},
		{policy.AutonomyLow, "echo x > ../a", "", false},
		{policy.AutonomyLow, "cat .env", "", false},
		{policy.AutonomyLow, "echo x > .git/hooks/pre-commit", "", false},
		{policy.AutonomyLow, "curl https://listed.example/a", "", false},
		{policy.AutonomyMedium, "curl https://listed.example/a", "high", false},
		{policy.AutonomyMedium, "curl https://other.example/a", "", false},
		{policy.AutonomyMedium, "python3 gen.py", "", false},
		{policy.AutonomyHigh, "git push", "", false},
	} {
		rules, err := policy.New(policy.Builtin(), policy.Options{
			Home: "/home/me", Root: bounds.Root,
			Settings: policy.Settings{Autonomy: tt.level.Autonomy(), Destinations: []string{"listed.example"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		find := func() (*Judge, error) {
			return &Judge{Bounds: bounds, Policy: rules, Home: "/home/me"}, t.Context().Err()
		}
		input, err := json.Marshal(map[string]string{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		d := Decide(find, policy.Query{
			Call:       umpire.Call{Tool: "Bash", Input: input, Dir: bounds.Root},
			Conditions: policy.Conditions{Mode: umpire.ModeDefault},
		}, time.Now)
		if d.Verdict != umpire.Ask || d.RaiseTo != tt.want || d.RaiseTries != tt.tries {
			t.Errorf("%s at %s: %s, raise to %q (tries: %t), want %q (%t)",
				tt.command, tt.level, d.Verdict, d.RaiseTo, d.RaiseTries, tt.want, tt.tries)
		}
	}
}
