package judge_test

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
)

// A dangerous command must stay readable after megabytes of harmless arguments.
func TestClipArgsKeepsTheRiskiest(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70<<10)
	given := []umpire.Access{
		{Program: "echo", Args: []string{"a", long, "b"}, Risk: umpire.Safe},
		{Program: "rm", Args: []string{"-rf", "src"}, Risk: umpire.High},
	}
	got := judge.ClipArgs(given)
	if want := "a [... 2 words left out ...]"; strings.Join(got[0].Args, " ") != want {
		t.Errorf("echo has %.80q, want %q", got[0].Args, want)
	}
	if want := "-rf src"; strings.Join(got[1].Args, " ") != want {
		t.Errorf("rm has %q, want %q", got[1].Args, want)
	}
	if given[0].Args[1] != long {
		t.Error("what was given has changed")
	}
}
