//go:build unix

package console_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

var allPages = flag.Bool("pages.all", false, "look at the pages in every language, width and colour")

// A look is how a person sees the pages.
type look struct {
	lang  string
	width int
	dark  bool
	rows  []int // how many questions there are, one after another
}

// TestPagesInABrowser opens every page with zero, one, two and many rows, and long and hostile
// texts among them: nothing sticks out or is cut off, counts of one are in the singular, a page in
// 简体中文 has no English, and screen readers get a name for each control.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	looks := []look{{"en", 390, false, []int{0, 1}}, {"zh-CN", 1440, true, []int{2}}}
	if *allPages {
		looks = nil
		for _, lang := range []string{"en", "zh-CN"} {
			for _, width := range []int{390, 1440} {
				for _, dark := range []bool{false, true} {
					looks = append(looks, look{lang, width, dark, []int{0, 1, 2, 101}})
				}
			}
		}
	}
	for _, l := range looks {
		t.Run(fmt.Sprintf("%s-%d-%v", l.lang, l.width, l.dark), func(t *testing.T) {
			t.Parallel()
			l.visit(t)
		})
	}
}

// pageCalls are calls whose texts are long or hostile.
var pageCalls = []umpire.Call{
	write(strings.Repeat("very-long-folder/", 9) + "file.txt"), bash("echo '<script>alert(1)</script>' \u202e > a && " + strings.Repeat("x", 300)),
	bash("git push origin main"), editGreeting(),
}

func sessionLink(w *world) string { return "/session?id=" + url.QueryEscape(string(w.session.ID)) }

func taskLink(w *world) string { return "/sessions/task?id=" + url.QueryEscape(string(w.session.ID)) }

func (l *look) visit(t *testing.T) {
	b := fake.StartBrowser(t, l.width, 900, l.dark, "--accept-lang="+l.lang)
	w, p := newWorld(t, l.lang)
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelector("nav a")`)
	asked, looked := 0, 0
	for _, rows := range l.rows {
		for ; asked < rows; asked++ {
			w.ask(t, pageCalls[asked%len(pageCalls)])
		}
		for _, path := range []string{"/", "/timeline", "/sessions", "/rules", "/overview"} {
			b.Click(t, fmt.Sprintf(`nav a[href=%q]`, path))
			b.Until(t, fmt.Sprintf(`location.pathname === %q && document.querySelector("main h1, main h2, main .empty, .list")`, path))
			name := fmt.Sprintf("pages-%s-%d-%v-%d-%s", l.lang, l.width, l.dark, rows, strings.Trim(path, "/"))
			b.Picture(t, name)
			l.check(t, b, name)
			looked++
		}
		if rows > 0 {
			b.Click(t, `nav a[href="/"]`)
			b.Until(t, `document.querySelector(".item")`)
			b.Click(t, ".item")
			b.Until(t, `document.querySelector(".chosen .card")`)
			name := fmt.Sprintf("pages-%s-%d-%v-%d-card", l.lang, l.width, l.dark, rows)
			b.Picture(t, name)
			l.check(t, b, name)
			looked++
		}
	}
	for _, path := range []string{sessionLink(w), taskLink(w), "/overview?suggest=1"} {
		b.Eval(t, fmt.Sprintf(`(() => { const a = document.createElement("a"); a.href = %q;
			document.querySelector("main").append(a); a.click(); })()`, path))
		b.Until(t, fmt.Sprintf(`location.pathname + location.search === %q && document.querySelector("main h1")`, path))
		page, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "?")
		name := fmt.Sprintf("pages-%s-%d-%v-%s", l.lang, l.width, l.dark, strings.ReplaceAll(page, "/", "-"))
		b.Picture(t, name)
		l.check(t, b, name)
		looked++
	}
	t.Logf("figure: %d looks at pages in %s at %d", looked, l.lang, l.width)
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}

// findFaults lists visual faults of a page: elements wider than the window, cut off or broken in two.
const findFaults = `(() => {
	const faults = [], shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length;
	const name = (e) => e.tagName + "." + e.className + " " + JSON.stringify((e.innerText ?? "").slice(0, 60));
	const scrolls = (e) => e && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
	if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
	for (const e of document.body.querySelectorAll("*")) {
		if (!shown(e) || e.matches(".skip")) continue;
		const box = e.getBoundingClientRect(), style = getComputedStyle(e);
		if ((box.right > innerWidth + 1 || box.left < -1) && !scrolls(e.parentElement) && e.offsetWidth > 1)
			faults.push("sticks out: " + name(e));
		if (/hidden|clip/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && style.textOverflow !== "ellipsis" &&
			e.clientWidth > 1) faults.push("is cut off: " + name(e));
		if (e.matches("nav a, nav button, header button, footer button, .bar button, summary:not(.row)")) {
			const text = document.createRange();
			text.selectNodeContents(e);
			if (text.getBoundingClientRect().height > 2 * parseFloat(style.fontSize) * 1.3) faults.push("is broken in two: " + name(e));
		}
	}
	const rows = [...document.querySelectorAll("nav > *")].filter(shown).map((e) => e.getBoundingClientRect().top);
	if (innerWidth < 760 && Math.max(...rows) - Math.min(...rows) > 15) faults.push("the menu takes two rows");
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) < i))) faults.push("id twice: " + id);
	return JSON.stringify(faults) })()`

// findEnglish lists the texts of a page that look English, except for quotations.
const findEnglish = `(() => {
	const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement, text = walk.currentNode.data;
		if (/[A-Za-z]{2,} [a-z]{2,}/.test(text) && e.checkVisibility() && !e.closest("code, pre, kbd, .object, textarea, script, style"))
			found.push(text);
	}
	return JSON.stringify(found) })()`

// findOnes lists counts of one with a plural.
const findOnes = `JSON.stringify(document.body.innerText.match(/(?<![\d.,:+−-])1 (?!waits|was)[a-z]{3,}s\b/g) ?? [])`

func (l *look) check(t *testing.T, b *fake.Page, name string) {
	t.Helper()
	list := func(expression string) (all []string) {
		if err := json.Unmarshal([]byte(b.Eval(t, expression)), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, fault := range list(findFaults) {
		t.Errorf("%s: %s", name, fault)
	}
	if l.lang == "en" {
		if len(list(findEnglish)) == 0 {
			t.Errorf("%s: no English is found in English", name)
		}
		for _, ones := range list(findOnes) {
			t.Errorf("%s: %s", name, ones)
		}
	} else {
		for _, text := range list(findEnglish) {
			t.Errorf("%s is English: %q", name, text)
		}
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.Call(t, "Accessibility.getFullAXTree", nil, &tree)
	for _, node := range tree.Nodes {
		switch node.Role.Value {
		case "button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "menuitem", "img":
			if said, _ := node.Name.Value.(string); !node.Ignored && strings.TrimSpace(said) == "" {
				t.Errorf("%s: a %v has no name", name, node.Role.Value)
			}
		}
	}
}
