//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// The console demo as a person sees it: three agents ask at once, each question is answered in a
// browser, the timeline has all of it, and Ctrl-C leaves nothing behind.
func TestDemoConsoleInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	page := fake.StartBrowser(t, 1440, 900, false)
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "umpire", "demo", "--console")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), raceEnv, "TERM=xterm", "TMPDIR="+temp, "HOME="+cmd.Dir, "UMPIRE_LANG=en", "SHELL=/bin/sh")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	lines := make(chan string, 1000)
	go func() { // it ends with the terminal
		for scanner := bufio.NewScanner(terminal); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	var said strings.Builder
	line := func(with string) string {
		t.Helper()
		for {
			select {
			case text := <-lines:
				said.WriteString(text + "\n")
				if strings.Contains(text, with) {
					return strings.TrimSpace(text)
				}
			case <-time.After(answerTime):
				t.Fatalf("nothing says %q:\n%s", with, said.String())
			}
		}
	}
	page.Open(t, line("/#"))
	page.Until(t, `document.querySelectorAll(".group").length === 3`)
	page.Picture(t, "demo-1440")

	const questions = 8 // one is asked again: its script was edited after the approval
	for range questions {
		page.Until(t, `document.querySelector(".item:not(.behind)")`)
		if page.Eval(t, `!document.querySelector(".chosen .card")`) == "true" { // else the next one is open already
			page.Click(t, `.item:not(.behind)`)
		}
		page.Until(t, `document.querySelector(".chosen .card.seen")?.dataset.state === "idle"`)
		request := page.Eval(t, `document.querySelector(".card").dataset.request`)
		page.Eval(t, `new Promise((done) => setTimeout(done, 450))`) // keys count a moment later
		page.Press(t, "y")
		gone := fmt.Sprintf(`!document.querySelector('.item[data-request=%q]')`, request)
		page.Until(t, `document.activeElement.name === "code" || `+gone)
		if page.Eval(t, `document.activeElement.name === "code"`) == "true" {
			_, code, _ := strings.Cut(line("code "), " ")
			page.TypeText(t, code[:4])
			page.Press(t, "Enter")
			page.Until(t, gone)
		}
	}
	line("The agents are done")
	places, err := filepath.Glob(filepath.Join(temp, "umpire-demo-*"))
	if err != nil || len(places) != 1 {
		t.Fatalf("places %q, %v", places, err)
	}
	for name, want := range map[string]bool{"notes/contract.md": true, "infra/release/settings": true, "infra/backup": false, "home": true} {
		if _, err := os.Stat(filepath.Join(places[0], name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	page.Click(t, `nav a[href="/timeline"]`)
	const row = `[...document.querySelectorAll(".lines summary.row")].find((row) => row.innerText.includes("rm -rf"))`
	page.Until(t, row)
	page.Eval(t, row+`.click()`)
	page.Until(t, `document.body.innerText.includes("deletes a home directory")`)
	page.Picture(t, "demo-timeline-1440")

	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	line("The demo is over.")
	line("umpire help order")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the demo ended with %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("in the person's home: %v, %v", left, err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, 0); err == nil {
		t.Error("something of the demo still runs")
	}
}
