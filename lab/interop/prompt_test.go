//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"testing"
)

// TestClaudeAsksThePromptTool: without a hook, Claude Code asks umpire proxy mcp permission-prompt
// instead of its user. umpire allows, denies, or holds until a person answers.
func TestClaudeAsksThePromptTool(t *testing.T) {
	t.Parallel()
	m := startModel(t, turn{bash("allowed", "touch allowed")}, turn{bash("denied", "touch denied")},
		turn{bash("approved", "touch approved")}, turn{bash("refused", "touch refused")})
	w := newLab(t, "claude", m)
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"umpire": map[string]any{
		"command": w.Umpire, "args": []string{"mcp", "permission-prompt"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.write("home/servers.json", string(servers))
	w.Agent = withWords(w.Agent, "--mcp-config", w.Path("home/servers.json"),
		"--permission-prompt-tool", "mcp__umpire__permission_prompt", "--permission-mode", "default")
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	w.adds(ctx, "allow", "Bash(touch allowed)")
	w.adds(ctx, "deny", "Bash(touch denied)")
	w.serve(ctx)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		w.answer(ctx, "approve", "approved")
		w.answer(ctx, "deny", "refused")
	}()
	out, err := w.Play(ctx, usualMode)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	<-answered
	t.Log(out)
	w.ran("allowed")
	w.stopped("denied", "Denied by rule")
	w.ran("approved")
	w.stopped("refused", "The user denied")
	for file, want := range map[string]bool{"allowed": true, "denied": false, "approved": true, "refused": false} {
		if w.Exists("project/"+file) != want {
			t.Errorf("%s: want %v", file, want)
		}
	}
}

// answer answers a question as soon as the gate holds it.
func (w *world) answer(ctx context.Context, answer, id string) {
	for ctx.Err() == nil {
		token := w.Path("home/.umpire/state/person.token")
		if _, code, err := w.Exec(ctx, w.Umpire, answer, id, "--token-file", token); err == nil && code == 0 {
			return
		}
	}
}
