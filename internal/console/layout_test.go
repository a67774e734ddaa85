//go:build unix

package console_test

import (
	"testing"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// On a phone in the dark, texts use the width there is and nothing covers a button.
func TestLayoutInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 390, 844, true)
	w, p := newWorld(t, "en")
	w.ask(t, bash("git push origin main"))
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelectorAll(".item").length === 1`)
	b.Eval(t, `window.box = (of) => document.querySelector(of).getBoundingClientRect()`)
	holds := func(what, expression string) {
		t.Helper()
		if got := b.Eval(t, expression); got != "true" {
			t.Errorf("%s: %s is %s", what, expression, got)
		}
	}

	// A toast is on one line, in the middle. In one expression, because the page hides it once it is connected.
	b.Until(t, `(() => {
		const toast = document.getElementById("lost");
		toast.hidden = false;
		const { left, right, height } = toast.getBoundingClientRect();
		toast.hidden = true;
		return height < 45 && left > 15 && Math.abs(left + right - innerWidth) < 2 })()`)

	b.Click(t, ".item")
	b.Until(t, `document.querySelector(".chosen .card.seen")`)
	closed := b.Image(t, "[data-allow]")
	b.Click(t, "[data-allow]")
	b.Until(t, `!document.querySelector(".menu").hidden`)
	b.Eval(t, `document.activeElement.blur()`)
	open := b.Image(t, "[data-allow]")
	middle := closed.Bounds().Dx() / 2
	if was, is := closed.At(middle, 4), open.At(middle, 4); was != is {
		t.Errorf("the open menu turns the button from %v to %v", was, is)
	}
	b.Click(t, "[data-scope=once]")
	b.Until(t, `document.querySelector("[data-panel-of=once] [data-new-code]").offsetHeight`)
	holds("below its label, another code begins where that does", `(() => {
		const button = document.querySelector("[data-panel-of=once] [data-new-code]");
		const text = document.createRange();
		text.selectNodeContents(button);
		return Math.abs(text.getBoundingClientRect().left - box("[data-panel-of=once] .code label").left) < 1 })()`)

	b.Click(t, `nav a[href="/timeline"]`)
	b.Until(t, `document.querySelector(".filters select")`)
	holds("the search's button is beside what it chooses from",
		`Math.abs(box(".filters select").top - box(".filters button").top) < 2`)

	b.Click(t, `nav a[href="/rules"]`)
	b.Until(t, `document.querySelector("[name=command]")`)
	holds("the button of a test is beside the command",
		`Math.abs(box("[name=command]").top - box("[name=command] ~ button").top) < 2`)
}
