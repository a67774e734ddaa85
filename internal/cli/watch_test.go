package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// TestInterruptedFollowersEndInOrder: a command that runs until it is interrupted may be interrupted
// before it has begun.
func TestInterruptedFollowersEndInOrder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"watch", "watch --plain", "watch --json", "timeline --follow", "timeline --follow --last 1", "console"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, strings.NewReader(""), strings.Fields(line)...)
			if code := runProgram(ctx, p.Surroundings); code != app.ExitDone {
				t.Errorf("exit %d: %s", code, p.err)
			}
		})
	}
}
