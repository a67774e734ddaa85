//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"testing"

	"github.com/umpirehq/umpire/internal/conformance"
)

// TestAppServerShell: behind umpire app-server no shell is started outside of Codex's sandbox that
// waits for what nobody would see, and what is typed into one in the sandbox stays there. The
// editor would allow everything.
func TestAppServerShell(t *testing.T) {
	t.Parallel()
	m := startModel(t)
	w := newLab(t, "codex-app", m)
	open := func(id string, more map[string]any) turn {
		input := map[string]any{"cmd": "bash --norc -i", "tty": true, "yield_time_ms": 500}
		maps.Copy(input, more)
		return turn{{ID: id, Tool: "exec_command", Input: input}}
	}
	session := regexp.MustCompile(`session ID (\d+)`)
	typed := turn{{ID: "typed", Tool: "write_stdin", InputAfter: func(told map[string]conformance.Result) map[string]any {
		input := map[string]any{"session_id": 0, "chars": "touch .git/typed; echo $?\n", "yield_time_ms": 1000}
		if found := session.FindStringSubmatch(told["inside"].Text); found != nil {
			input["session_id"] = json.Number(found[1])
		}
		return input
	}}}
	m.Main = []turn{
		open("outside", map[string]any{"sandbox_permissions": "require_escalated", "justification": "to try"}),
		open("inside", nil), typed,
	}
	w.git("init", "-q")
	if err := w.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := w.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	said, err := w.Play(ctx, conformance.Usual)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if r := w.told("outside"); session.MatchString(r.Text) {
		t.Errorf("a shell outside of the sandbox was started: %s", r.Text)
	}
	if r := w.told("inside"); !session.MatchString(r.Text) {
		t.Errorf("no shell was started in the sandbox: %s", r.Text)
	}
	w.told("typed")
	if w.Exists("project/.git/typed") {
		t.Error("what was typed had an effect outside of the sandbox")
	}
}
