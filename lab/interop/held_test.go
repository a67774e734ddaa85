//go:build interop

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// TestClaudeShowsWhereAQuestionWaits: while umpire's gate holds a call, Claude Code's
// screen says so, and where to answer. An answer there counts.
func TestClaudeShowsWhereAQuestionWaits(t *testing.T) {
	t.Parallel()
	m := startModel(t, turn{bash("held", "touch made && git push")})
	w := newWorld(t, m)
	w.readyProject()
	w.write("home/.umpire/config.yaml", "hook.when_asked: hold\n")
	if err := os.Chmod(w.Path("home/.umpire"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.knowsClaude()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	w.serve(ctx)

	screen := startScreen(ctx, w, 120, 40, w.Program, "--model", "scripted", "--permission-mode", "default", "go on")
	defer screen.tmux("kill-server")
	screen.shows("umpire decides; a question waits in: umpire watch")
	if w.Exists("project/made") {
		t.Error("the call ran while it was held")
	}
	w.deny(ctx, "held", "not today")
	m.WaitFor(ctx, "held")
	w.stopped("held", "not today")
}

// deny refuses a call as soon as the gate holds it: the screen shows the line from the
// moment in which the hook starts.
func (w *world) deny(ctx context.Context, id, reason string) {
	w.Helper()
	for {
		out, code := w.start(w.Umpire, "deny", id, reason, "--token-file", w.Path("home/.umpire/state/person.token"))
		switch {
		case code == 0:
			return
		case ctx.Err() != nil || !strings.Contains(out, "no waiting call has the ID"):
			w.Fatalf("umpire deny: exit %d\n%s", code, out)
		}
	}
}

// knowsClaude answers Claude Code's questions at its first start.
func (w *world) knowsClaude() {
	w.Helper()
	text, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": host.ClaudeVersion, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{drive.Key[len(drive.Key)-20:]}, "rejected": []string{}},
		"projects":              map[string]any{w.Project(): map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.write("home/.claude.json", string(text))
}

// serve starts a gate and returns when it is ready.
func (w *world) serve(ctx context.Context) {
	w.Helper()
	cmd := w.Command(ctx, w.Umpire, "serve")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	var trouble strings.Builder
	cmd.Stderr = &trouble
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	ready, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(ready, "ready") {
		w.Fatalf("umpire serve: %q, %v\n%s", ready, err, trouble.String())
	}
	go func() {
		io.Copy(io.Discard, out) // it ends with the gate
		cmd.Wait()               // it is killed at the end
	}()
}
