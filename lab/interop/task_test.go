//go:build interop && unix

package interop

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// planFile is the file for the plan, which Claude Code names to the model.
var planFile = regexp.MustCompile(`/[\w/.-]+/\.claude/plans/[\w-]+\.md`)

// TestClaudePlanIsApprovedOnce: Claude Code shows a plan, a person approves the task that umpire drafts from it, and
// the twenty calls inside it run without a dialog. The next one is outside, and asks.
func TestClaudePlanIsApprovedOnce(t *testing.T) {
	for name, approve := range map[string]func(*world, context.Context, *screen) func(){
		"terminal": (*world).approveInTerminal, "browser": (*world).approveInBrowser,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playPlan(t, approve)
		})
	}
}

// playPlan shows the plan, approves its task, and looks for the question about the call outside it.
func playPlan(t *testing.T, approve func(*world, context.Context, *screen) (question func())) {
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

	question := approve(w, ctx, s)
	began := time.Now()
	s.press("Enter")
	question()
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

// approveInTerminal approves the drafted task with commands. Later questions are in Claude Code's dialog.
func (w *world) approveInTerminal(_ context.Context, s *screen) (question func()) {
	w.Helper()
	draft, code := w.start(w.Umpire, "task", "draft")
	if code != 0 || !strings.Contains(draft, "20x  reversible  Bash(touch:*)") {
		w.Fatalf("umpire task draft: exit %d\n%s", code, draft)
	}
	w.write("task.txt", draft)
	token := w.Path("home/.umpire/state/person.token")
	out, code := w.start(w.Umpire, "task", "approve", w.Path("task.txt"), "--token-file", token)
	if code != 0 {
		w.Fatalf("umpire task approve: exit %d\n%s", code, out)
	}
	return func() { w.Log(s.shows("umpire: publishes commits", "Do you want to proceed?")) }
}

// approveInBrowser approves it on the console's page, with the code that the terminal shows. Later questions are there.
func (w *world) approveInBrowser(ctx context.Context, _ *screen) (question func()) {
	w.Helper()
	page := fake.StartBrowserAs(w.T, cmp.Or(w.User, os.Getuid()), 1440, 900, false)
	link, said := w.openConsole(ctx)
	page.Open(w, link)
	for _, link := range []string{`nav a[href="/sessions"]`, `a[href^="/session?"]`, `a[href^="/sessions/task"]`} {
		page.Until(w, "document.querySelector('"+link+"')")
		page.Click(w, link)
	}
	page.Until(w, `document.querySelector(".task textarea")?.value.includes("20x  reversible  Bash(touch:*)")`)
	page.Until(w, `document.querySelector(".rule code")?.innerText === "Bash(touch:*)"`)
	page.Picture(w, "claude-task-1440")
	page.Click(w, "[data-new-code]")
	code := ""
	for code == "" {
		select {
		case line := <-said:
			if _, after, is := strings.Cut(line, "code "); is {
				code, _, _ = strings.Cut(after, ":")
			}
		case <-ctx.Done():
			w.Fatal("no code on the terminal")
		}
	}
	page.Click(w, "form[data-code] input[name=code]")
	page.TypeText(w, code)
	page.Click(w, "form[data-code] .go")
	page.Until(w, `document.body.innerText.includes("to end it: umpire task end")`)
	return func() {
		page.Click(w, `nav a[href="/"]`)
		page.Until(w, `document.querySelector(".card")?.innerText.includes("git push origin main")`)
		page.Until(w, `document.querySelector(".card").innerText.includes("Outside the task that you approved")`)
		page.Picture(w, "claude-outside-task-1440")
	}
}
