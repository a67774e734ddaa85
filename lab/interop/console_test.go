//go:build interop && unix

package interop

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

// TestClaudeAnsweredInTheConsole is the complete loop for a person: Claude Code asks, the card is in the browser and
// in umpire watch, the person approves it for the folder in the browser, Claude Code continues, the timeline shows it
// without a reload, and watch says that it was answered elsewhere.
func TestClaudeAnsweredInTheConsole(t *testing.T) {
	t.Parallel()
	m := startModel(t,
		turn{{ID: "first", Tool: "Write", Input: map[string]any{"file_path": "", "content": "one\n"}}},
		turn{{ID: "second", Tool: "Write", Input: map[string]any{"file_path": "", "content": "two\n"}}},
	)
	w := newWorld(t, m)
	page := fake.StartBrowserAs(t, cmp.Or(w.User, os.Getuid()), 1440, 900, false)
	m.Main[0][0].Input["file_path"] = w.Path("project/src/first.txt")
	m.Main[1][0].Input["file_path"] = w.Path("project/src/second.txt")
	w.readyProject()
	w.write("home/.umpire/config.yaml", "hook.when_asked: hold\n")
	if err := os.Chmod(w.Path("home/.umpire"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.knowsClaude()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	w.serve(ctx)
	watch := startScreen(ctx, w, 100, 30, w.Umpire, "watch")
	defer watch.tmux("kill-server")
	watch.shows("nothing waits")
	link, _ := w.openConsole(ctx)
	page.Open(t, link)
	page.Until(t, `document.body.innerText.includes("Nothing waits")`)

	played := make(chan string, 1)
	begun := time.Now()
	go func() {
		out, _, _ := w.Exec(ctx, w.Program, "-p", "go on", "--model", "scripted", "--output-format", "json")
		played <- out
	}()
	page.Until(t, `document.querySelectorAll(".item").length === 1 && document.querySelector(".card")`)
	inBrowser := time.Since(begun)
	watch.shows("Write", "first.txt")
	t.Logf("figure: from the start of Claude Code to its card: %v in the browser, %v in watch",
		inBrowser.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	page.Picture(t, "claude-card-1440")

	page.Eval(t, `window.loaded = "once"`)
	page.Until(t, `document.querySelector(".card.seen")`)
	page.Eval(t, `new Promise((done) => setTimeout(done, 450))`) // clicks count a moment later
	page.Click(t, "[data-allow]")
	page.Click(t, "[data-scope=session]")
	page.Click(t, "[data-panel-of=session] input[value=folder]")
	page.Picture(t, "claude-folder-1440")
	page.Click(t, "[data-panel-of=session] .go")
	page.Until(t, `document.querySelector(".card").dataset.state.startsWith("approved")`)
	watch.shows("nothing waits", "answered elsewhere: approved")
	page.Click(t, `nav a[href="/timeline"]`)
	page.Until(t, `document.querySelector("h1").innerText === "Timeline" && document.body.innerText.includes("second.txt")`)
	if out := <-played; !w.Exists("project/src/first.txt") || !w.Exists("project/src/second.txt") {
		t.Errorf("Claude Code did not go on: %s", out)
	}
	w.ran("first")
	w.ran("second") // without a question

	page.Until(t, `document.querySelectorAll(".page .event").length >= 2`) // a good end goes without saying
	if page.Eval(t, "window.loaded") != "once" {
		t.Error("the page was loaded again")
	}
	page.Picture(t, "claude-timeline-1440")
}

// openConsole starts umpire console on a terminal, and returns the link and then the lines that it shows.
func (w *world) openConsole(ctx context.Context) (link string, said <-chan string) {
	w.Helper()
	cmd := w.Command(ctx, w.Umpire, "console")
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	terminal, err := pty.Start(cmd)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		terminal.Close()
		cmd.Wait() // it ends with its terminal
	})
	lines := bufio.NewScanner(terminal)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.Contains(line, "/#") {
			further := make(chan string, 100)
			go func() { // it ends with the terminal
				for lines.Scan() {
					further <- strings.TrimSpace(lines.Text())
				}
			}()
			return line, further
		}
	}
	w.Fatalf("no link on the terminal: %v", lines.Err())
	return "", nil
}

// TestTrialInTheConsole: the person tries a call first, sees the changes in the browser before any is real, and keeps
// them there.
func TestTrialInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, startModel(t))
	page := fake.StartBrowserAs(t, cmp.Or(w.User, os.Getuid()), 1440, 900, false)
	w.readyProject()
	w.write("project/gen.sh", "mkdir out; for i in 1 2 3; do echo made >out/$i.txt; done; rm test.js\n")
	w.write("turns.json", `[{"calls": [{"id": "g1", "tool": "Bash", "input": {"command": "bash gen.sh"}}]}, {"text": "made"}]`)
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	w.serve(ctx)
	link, _ := w.openConsole(ctx)
	page.Open(t, link)
	page.Until(t, `document.body.innerText.includes("Nothing waits")`)
	played := make(chan string, 1)
	go func() {
		out, _, _ := w.Exec(ctx, w.Umpire, "run", "--model", "script:"+w.Path("turns.json"), "generate the files")
		played <- out
	}()
	page.Until(t, `document.querySelector(".card.seen [data-try]:enabled")`)
	page.Eval(t, `new Promise((done) => setTimeout(done, 450))`) // clicks count a moment later
	page.Click(t, "[data-try]")
	page.Until(t, `document.querySelector(".card")?.innerText.includes("It ran in a trial. Nothing is real yet.")`)
	page.Picture(t, "trial-card-1440")
	if w.Exists("project/out") || !w.Exists("project/test.js") {
		t.Error("a change is real before it was kept")
	}
	page.Until(t, `document.querySelector(".card.seen")?.textContent.includes("keep 5 changes")`)
	page.Eval(t, `new Promise((done) => setTimeout(done, 450))`)
	page.Click(t, "[data-allow]")
	page.Click(t, "[data-scope=once]")
	if out := <-played; !w.Exists("project/out/3.txt") || w.Exists("project/test.js") {
		t.Errorf("the changes were not kept: %s", out)
	}
	page.Until(t, `document.body.innerText.includes("Nothing waits")`)
}
