//go:build interop

package interop

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// planFile is the file for the plan, which Claude Code names to the model.
var planFile = regexp.MustCompile(`/[\w/.-]+/\.claude/plans/[\w-]+\.md`)

// TestClaudePlanIsApprovedOnce: Claude Code shows a plan, a person approves the task that umpire drafts from it, and
// the twenty calls inside it run without a dialog. The next one is outside, and asks.
func TestClaudePlanIsApprovedOnce(t *testing.T) {
	t.Parallel()
	const plan = "# Make the files\n\n1. Make them: `touch src/1.txt`, and so on.\n"
	script := []turn{
		{toolCall{ID: "plan", Tool: "Write", Input: map[string]any{"file_path": "", "content": plan}}},
		{toolCall{ID: "exit", Tool: "ExitPlanMode", Input: map[string]any{"plan": plan}}},
	}
	for i := range 20 {
		script = append(script, turn{bash(fmt.Sprintf("touch%d", i), fmt.Sprintf("touch src/%d.txt", i))})
	}
	script = append(script, turn{bash("push", "git push origin main")})
	m := startModel(t)
	m.Choose = func(q drive.Request) turn {
		next := drive.NextTurn(script, q.Results)
		if at := planFile.Find(q.Body); len(next) > 0 && next[0].ID == "plan" && at != nil {
			next[0].Input["file_path"] = string(at)
		}
		return next
	}
	w := newWorld(t, m)
	w.readyProject()
	w.write("project/src/0.txt", "")
	w.knowsClaude()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	w.serve(ctx)
	s := startScreen(ctx, w, 120, 40, w.Program, "--model", "sonnet", "--permission-mode", "plan", "Make the files.")
	defer s.tmux("kill-server")
	t.Log(s.shows("Would you like to proceed"))

	draft, code := w.start(w.Umpire, "task", "draft")
	if code != 0 || !strings.Contains(draft, "20x  reversible  Bash(touch:*)") {
		t.Fatalf("umpire task draft: exit %d\n%s", code, draft)
	}
	w.write("task.txt", draft)
	token := w.Path("home/.umpire/state/person.token")
	out, code := w.start(w.Umpire, "task", "approve", w.Path("task.txt"), "--token-file", token)
	if code != 0 {
		t.Fatalf("umpire task approve: exit %d\n%s", code, out)
	}
	began := time.Now()
	s.press("Enter")
	t.Log(s.shows("umpire: publishes commits", "Do you want to proceed?"))
	for i := range 20 {
		w.ran(fmt.Sprintf("touch%d", i))
		if !w.Exists(fmt.Sprintf("project/src/%d.txt", i)) {
			t.Errorf("src/%d.txt is missing", i)
		}
	}
	t.Logf("figure: a plan approved once: 20 calls without a dialog in %.1fs, the 21st asks", time.Since(began).Seconds())
	if used, _ := w.start(w.Umpire, "task"); !strings.Contains(used, "used 20 of 20") {
		t.Errorf("umpire task says %s", used)
	}
}
