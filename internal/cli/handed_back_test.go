package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

// TestHandedBack: if the inbox closes while a call waits in it, Claude Code's own dialog asks instead,
// without umpire. The timeline has the call's accesses, even if it is later reported as run.
func TestHandedBack(t *testing.T) {
	t.Parallel()
	a, g, responder := startResponder(t)
	responder.UseGate(g, func(ctx context.Context, _ umpire.SessionID) bool { // until it has the question
		pending, err := g.Pending(ctx, umpire.PendingQuery{})
		return err == nil && len(pending) == 0
	})
	asked := host.Find("claude").Sample("s", "t1", a.Dir, "mkdir -p made")
	answer := func(event string) string {
		t.Helper()
		payload := strings.ReplaceAll(string(asked), "PreToolUse", event)
		if event == "PermissionRequest" {
			payload = strings.Replace(payload, `"tool_use_id":"t1"`, `"other":""`, 1)
		}
		q := host.Question{
			Agent: "claude", Payload: []byte(payload), Project: a.Dir, Dir: a.Dir, Runner: "r", Deadline: time.Minute,
			Nonce: "n", Shell: "/bin/bash", Attended: true,
		}
		out, err := responder.Answer(t.Context(), q)
		if err != nil || out.Exit != 0 {
			t.Fatalf("%s: %v, exit %d: %s", event, err, out.Exit, out.Stderr)
		}
		return string(out.Stdout)
	}
	if said := answer("PreToolUse"); !strings.Contains(said, "umpire's inbox was closed") || strings.Contains(said, `"deny"`) {
		t.Errorf("the hook said %s", said)
	}
	if said := answer("PermissionRequest"); said != "" {
		t.Errorf("umpire answered the dialog: %s", said)
	}
	answer("PostToolUse")
	events, err := g.Events(t.Context(), umpire.Filter{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, e := range events {
		switch {
		case e.Kind == umpire.EventCallRanRefused, e.Kind == umpire.EventCallRanUnasked:
			t.Errorf("%s", e.Kind)
		case e.Kind == umpire.EventPermissionBypassedByRule && e.Code == umpire.CodeLeftToHost:
			left++
			if e.Call != "t1" || len(e.Accesses) == 0 || e.Tool != "Bash" {
				t.Errorf("left to the host: %+v", e)
			}
		}
	}
	if left != 1 {
		t.Errorf("%d calls were left to the host: %v", left, events)
	}
}
