//go:build unix

package console_test

import (
	"fmt"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// Two people answer one card in separate browsers: one wins, and the other sees the winner's name.
func TestTwoPeopleInBrowsers(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct {
		lang, lost, by, signedIn string
		width, height            int
	}{
		{"en", "already resolved: denied by Ana María", "by Ana María", "signed in as Bob", 1440, 900},
		{"zh-CN", "已有回答：已拒绝 由 Ana María", "由 Ana María", "已登录为 Bob", 390, 844},
	} {
		t.Run(tt.lang, func(t *testing.T) { //nolint:paralleltest // two that wait for a second browser would wait for ever
			w, _ := newWorld(t, tt.lang)
			asked := w.ask(t, editGreeting())[0]
			open := func(name string) *fake.Page {
				b := fake.StartBrowser(t, tt.width, tt.height, false, "--accept-lang="+tt.lang)
				p := followTerminalOf(t, w.console, tt.lang, name, false)
				t.Cleanup(p.close)
				b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
				b.Until(t, `document.querySelectorAll(".item").length === 1`)
				b.Click(t, ".item")
				b.Until(t, fmt.Sprintf(`document.querySelector(".chosen .card.seen")?.dataset.request === %q`, asked.Request))
				return b
			}
			ana, bob := open("Ana María"), open("Bob")
			if got := bob.Eval(t, `document.querySelector(".person").title`); got != tt.signedIn {
				t.Errorf("the page says %q", got)
			}
			bob.Click(t, "[data-refuse]") // he is about to answer
			bob.Until(t, `document.activeElement.name === "reason"`)
			ana.Click(t, "[data-refuse]")
			ana.Until(t, `document.activeElement.name === "reason"`)
			ana.Click(t, ".refuse .no")
			ana.Until(t, `document.querySelector(".card").dataset.state === "denied"`)
			bob.Until(t, `document.querySelector(".controls").hidden`)
			bob.Until(t, fmt.Sprintf("document.body.innerText.includes(%q)", tt.lost))
			bob.Picture(t, "two-people-lost-"+tt.lang)
			if got := w.standing(t, &asked); got.Choice != umpire.Refuse || got.Actor != "Ana María" {
				t.Errorf("the gate has %+v", got)
			}
			ana.Open(t, "http://"+w.console.Address()+"/timeline")
			ana.Until(t, fmt.Sprintf("document.querySelector('.steps')?.innerText.includes(%q)", tt.by))
			ana.Picture(t, "two-people-timeline-"+tt.lang)
			if faults := append(ana.Faults(), bob.Faults()...); len(faults) > 0 {
				t.Errorf("the browsers complain: %q", faults)
			}
		})
	}
}
