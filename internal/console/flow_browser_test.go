//go:build unix

package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/console"
)

// TestFlowInABrowser: a person finds out what an empty inbox means, gets back from a wrong address, follows a session
// from its name to its calls and changes by keys alone, and changes the language for good.
func TestFlowInABrowser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lang, empty, missing, changes, other, again string
		width, height                               int
		dark                                        bool
	}{
		{"en", "The gate runs", "There is no such page", "Changes you can undo", "zh-CN", "收件箱", 1440, 900, false},
		{"zh-CN", "闸门正在运行", "没有这个页面", "可以撤销的更改", "en", "Inbox", 390, 844, true},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			b := fake.StartBrowser(t, tt.width, tt.height, tt.dark, "--accept-lang="+tt.lang)
			w, p := newWorld(t, tt.lang)
			name := fmt.Sprintf("flow-%s-%d", tt.lang, tt.width)
			shown := func(text string) {
				t.Helper()
				b.Until(t, fmt.Sprintf("document.body.innerText.includes(%q)", text))
			}
			w.session = ok(w.gate.Sessions().Open(t.Context(), umpire.Opening{
				ID: "s-task", Dir: w.session.Root, Agent: "Claude Code", External: true, Runner: "host:1:2",
			}))(t)
			task := "Fix the rounding of prices in the basket\nand run every test"
			ok(w.gate.Conversations().Prompt(t.Context(), umpire.Prompt{Session: w.session.ID, Text: task}))(t)

			b.Open(t, "http://"+w.console.Address()+"/nosuch#"+p.token(t))
			shown(tt.missing)
			b.Picture(t, name+"-missing")
			b.Click(t, ".back")
			shown(tt.empty)
			shown("umpire check -- git push --force")
			b.Picture(t, name+"-empty")

			ran := w.ask(t, editGreeting())[0]
			w.run(t, &ran)
			w.undoable.Store(&map[umpire.CallID][]console.Undoable{ran.Call: {
				{ID: "k1", Session: ran.Session, Paths: []string{"/home/me/webshop/greet.sh"}},
			}})
			w.refuse(t, &w.ask(t, bash("npm install left-pad && git push --force origin main"))[0], "use pnpm")
			w.ask(t, bash("grep -rn a . && grep -rn b . && grep -rn c . && grep -rn d . && npm install x && git push --force"))
			b.Until(t, `document.querySelector(".group").innerText.includes("Fix the rounding of prices in the basket")`)
			b.Until(t, `document.querySelectorAll(".item").length === 1 && document.querySelector(".item code").innerText.includes("grep")`)
			b.Click(t, ".item")
			b.Until(t, `document.querySelector(".card .command mark")`)
			b.Picture(t, name+"-card")

			b.Press(t, "2")
			b.Until(t, `document.querySelectorAll(".page .event").length === 5`)
			b.Press(t, "j")
			b.Press(t, "j")
			b.Press(t, "Enter")
			b.Until(t, `document.querySelector("details[open] .opened .answer")?.innerText.includes("use pnpm")`)
			b.Picture(t, name+"-row")
			b.Click(t, ".event .from")
			shown(tt.changes)
			b.Until(t, `location.pathname === "/session" && document.querySelector(".task").innerText.includes("every test")`)
			b.Picture(t, name+"-session")
			b.Press(t, "u")
			b.Until(t, `document.querySelector(".changes .undo").open`)

			b.Press(t, "l")
			b.Until(t, fmt.Sprintf("document.documentElement.lang === %q", tt.other))
			shown(tt.again)
			b.Open(t, "http://"+w.console.Address()+"/")
			b.Until(t, fmt.Sprintf("document.documentElement.lang === %q", tt.other))
			b.Press(t, "?")
			b.Until(t, `document.querySelector("#keys").open`)
			b.Picture(t, name+"-keys")
			wrong := func(fault string) bool { return strings.Contains(fault, "/nosuch") } // the address is meant to be
			if faults := slices.DeleteFunc(b.Faults(), wrong); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}
