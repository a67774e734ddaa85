package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// M-124 to M-128: the controls in both languages, letter by letter.
func TestControls(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string][]string{
		"en": {`lang="en"`, "allow this time", "allow this session", "allow this project", "allow everywhere",
			"reason for denying (optional)", "confirm denying"},
		"zh-CN": {`lang="zh-CN"`, "允许本次", "允许本次对话", "允许此项目", "允许全局", `placeholder="拒绝原因（可选）"`, "确认拒绝", ">允许 <", "拒绝 <", "取消 <"},
	} {
		b, _ := signedIn(t, lang)
		b.ask(t, write("a.txt"))
		page := b.send(t, http.MethodGet, "/", "").body
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q\n%s", lang, text, page)
			}
		}
		if n := strings.Count(page, `role="menuitem"`); n != 4 {
			t.Errorf("%s: the menu has %d entries", lang, n)
		}
		if n := strings.Count(page, `data-panel-of="`); n != 3 {
			t.Errorf("%s: %d entries open a panel", lang, n)
		}
		for _, panel := range strings.Split(page, `data-panel-of="`)[1:] {
			panel, _, _ = strings.Cut(panel, "</form>")
			last := strings.Index(panel, "checked") > strings.LastIndex(panel, "<label>")
			if strings.Count(panel, "checked") != 1 || last && strings.Count(panel, "<label>") > 2 {
				t.Errorf("%s: the narrowest is not the one that is selected:\n%s", lang, panel)
			}
		}
	}
}

// TestCoverage: each width of an approval says what it would have covered lately, and the worst of that.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string][]string{
		"en":    {"would have covered the 1 question here, the worst: ", "would not have covered the 1 question here"},
		"zh-CN": {"会涵盖此处的 1 次询问，其中最严重的：", "此处最近的 1 次询问，一次也不会涵盖"},
	} {
		b, _ := signedIn(t, lang)
		before := b.ask(t, write("src/a.txt"))[0]
		if status, said := b.give(t, "/answer", &before, map[string]any{"answer": "deny"}); status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
		b.ask(t, write("src/b.txt"))
		page := b.send(t, http.MethodGet, "/", "").body
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q\n%s", lang, text, page)
			}
		}
	}
}

// hostile are texts that would run, hide or forge something if they were shown raw.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><b title='`, `{{.CSRF}}`, `</pre><b>`,
	"\x1b[2Jgone", "a\u202eb", "zero\u200bwidth", "tag\U000e0041", "\u2028line",
}

// checkSafe finds the hostile texts on a page.
func checkSafe(t testing.TB, page string) {
	t.Helper()
	for _, text := range append(hostile[:3:3], hostile[4], "\x1b", "\u202e", "\u200b", "\U000e0041", "\u2028") {
		if at := strings.Index(page, text); at >= 0 {
			t.Errorf("%q stands raw on the page: %s", text, page[max(0, at-80):min(len(page), at+80)])
		}
	}
}

// Hostile texts in every field of a call are shown, and neither obeyed nor hidden.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "en")
	for i, text := range hostile {
		input, _ := json.Marshal(map[string]any{
			"command": "frob " + text, "file_path": text, "url": text, text: text,
			"nested":      map[string]any{text: []string{text}},
			"description": text, "diff": "+" + text + "\n-" + text + "\n",
		})
		extra, _ := json.Marshal(text)
		for _, tool := range []string{"Bash", "Write", "WebFetch", "mcp__x__" + text, text} {
			b.n++
			batch := umpire.BatchID(fmt.Sprintf("h%d", b.n))
			_, err := b.gate.Submit(t.Context(), umpire.Submission{
				Session: b.session.ID, Batch: batch, Lane: string(batch), Epoch: b.session.Epoch,
				Calls: []umpire.Call{{ID: umpire.CallID(fmt.Sprintf("%s-%d", batch, i)), Tool: tool, Input: input,
					Extra: map[string]json.RawMessage{"note": extra}}},
			})
			if err != nil {
				t.Logf("%s %q: %v", tool, text, err) // some are refused, which is as well
			}
		}
	}
	list := ok(b.gate.Pending(t.Context(), umpire.PendingQuery{}))(t)
	if len(list) < len(hostile) {
		t.Fatalf("only %d ask", len(list))
	}
	pages := []string{b.send(t, http.MethodGet, "/", "").body}
	for i := range list {
		q := &list[i]
		page := b.send(t, http.MethodGet, "/?card="+string(q.Request)+"&session="+string(q.Session), "")
		if page.status != http.StatusOK {
			t.Errorf("%s: %d", q.Tool, page.status)
		}
		pages = append(pages, page.body)
		if i == 0 {
			_, out := b.give(t, "/answer", q, map[string]any{"answer": "deny", "reason": hostile[0] + hostile[5]})
			pages = append(pages, b.send(t, http.MethodGet, "/?card="+string(q.Request)+"&session="+string(q.Session), "").body, out)
		}
	}
	for _, page := range pages {
		checkSafe(t, page)
	}
	_ = p
	for _, query := range []string{"card=%3Cscript%3E", "card=x&session=%22%3E%3Cscript%3E", "card=%1b", "x=<script>"} {
		if page := b.send(t, http.MethodGet, "/?"+query, ""); strings.Contains(page.body, "<script>") {
			t.Errorf("?%s is shown raw:\n%s", query, page.body)
		}
	}
}

// A page stays light, however much waits.
func TestManyQuestions(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	calls := make([]umpire.Call, 100)
	for range 10 {
		for i := range calls {
			calls[i] = bash(fmt.Sprintf("npm install p%d-%d", b.n, i))
			calls[i].ID = umpire.CallID(fmt.Sprintf("c%d-%d", b.n, i))
		}
		b.ask(t, calls...)
	}
	page := b.send(t, http.MethodGet, "/", "").body
	if n := strings.Count(page, `class="item`); n != 60 {
		t.Errorf("the page lists %d", n)
	}
	if !strings.Contains(page, "940 more wait") || len(page) > 100<<10 {
		t.Errorf("the page has %d bytes, and says nothing of the rest", len(page))
	}
	if !strings.Contains(page, "waits for the call above") {
		t.Error("it does not say what waits behind what")
	}
}

// The caption of a diff names its files and counts their lines. The names above the changes are
// neither removed nor added, and lines that look like names are both.
func TestDiff(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	call := bash("make")
	diff := "--- x.sql\n+++ x.sql\n@@ -1,2 +1 @@\n--- a comment\n-c\n+++ y\n\\ No newline at end of file\n@@ -9 +8,2 @@\n d\n+e\n" +
		"--- /dev/null\n+++ new <b>\n@@ -0,0 +1 @@\n+1\n--- old\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" +
		"--- long\n+++ long\n@@ -1,9 +1,9 @@\n-1\n[90 more bytes of this change]\n"
	call.Input, _ = json.Marshal(map[string]string{"command": "make", "diff": diff})
	b.ask(t, call)
	page := b.send(t, http.MethodGet, "/", "").body
	for _, line := range []string{
		`<figcaption><code>x.sql +2 −2</code>`, `<figcaption><code>new &lt;b&gt; +1 −0</code>`,
		`<figcaption><code>old +0 −1</code>`, `<figcaption><code>long</code>`,
		`<span class="del" data-n="1">--- a comment</span>`, `<span class="del" data-n="2">-c</span>`,
		`<span class="add" data-n="1">+++ y</span>`, `<span class="same" data-n="8"> d</span>`,
		`<span class="at">⋯ 6 unchanged lines</span>`, `<span class="at">[90 more bytes of this change]</span>`,
	} {
		if !strings.Contains(page, line) {
			t.Errorf("the page lacks %s\n%s", line, page)
		}
	}
	for _, raw := range []string{">--- x.sql", ">+++ x.sql", "@@ -1,2", "/dev/null"} {
		if figures, _, _ := strings.Cut(page, "<details>"); strings.Contains(figures, raw) {
			t.Errorf("the page has the raw line %s", raw)
		}
	}
}

// A diff marks the words that differ, not the whole line, and folds what need not be read.
func TestMarkedWordsOfADiff(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	for diff, want := range map[string]string{
		"@@ -1 +1 @@\n-echo \"Hello\"\n+echo \"Hello, you\"\n":  `>+echo &#34;Hello<mark>, you</mark>&#34;<`,
		"@@ -1 +1 @@\n-价格：十元\n+价格：百元\n":                         `>+价格：<mark>百</mark>元<`,
		"@@ -1 +1,2 @@\n-a b\n+a c\n+d\n":                       `<span class="add" data-n="1">+a c</span>`,
		"@@ -0,0 +1,12 @@\n" + strings.Repeat("+same\n", 12):    `<details class="fold"><summary>… the same line 11 more times`,
		strings.Repeat("+++ x\n", 9) + strings.Repeat("x\n", 9): `<code>x</code>`,
	} {
		call := bash("make")
		call.Input, _ = json.Marshal(map[string]string{"command": "make", "diff": "--- f\n+++ f\n" + diff})
		q := b.ask(t, call)[0]
		page := b.send(t, http.MethodGet, "/?card="+string(q.Request)+"&session="+string(q.Session), "").body
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %s\n%s", diff, want, page)
		}
		b.refuse(t, &q, "")
	}
}

// A card always says why it asks, marks what asks in the command, and folds equal safe parts.
func TestWhyAndWhatACardAsks(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	command := "npm install x && git push --force origin main"
	for i := range 6 {
		command = fmt.Sprintf("grep -rn todo%d . && ", i) + command
	}
	b.ask(t, bash(command))
	page := b.send(t, http.MethodGet, "/", "").body
	for _, want := range []string{"<mark>git push --force origin main</mark>", "safe parts</summary>", `<p class="why">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the card lacks %s:\n%s", want, page)
		}
	}
	q := b.ask(t, write("a.txt"))[0]
	page = b.send(t, http.MethodGet, "/?card="+string(q.Request)+"&session="+string(q.Session), "").body
	if !strings.Contains(page, "In mode default, umpire asks before this.") {
		t.Errorf("the card does not say why:\n%s", page)
	}
}

// The page speaks the language that the person chose there, else the browser's, else the terminal's.
func TestLanguageOfThePage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "zh-CN")
	for _, tt := range []struct{ chosen, browser, want string }{
		{"", "", "zh-CN"}, {"", "fr-FR,fr;q=0.9", "zh-CN"}, {"", "en-US,en;q=0.9,zh;q=0.8", "en"},
		{"", "de, zh-TW;q=0.8, en;q=0.5", "zh-CN"}, {"zh-CN", "en-US", "zh-CN"}, {"en", "zh-CN", "en"}, {"<x>", "en", "en"},
	} {
		page := b.send(t, http.MethodGet, "/", "", "Umpire-Language", tt.chosen, "Accept-Language", tt.browser).body
		other := map[string]string{"en": "zh-CN", "zh-CN": "en"}[tt.want]
		if !strings.Contains(page, `<html lang="`+tt.want+`"`) || !strings.Contains(page, `data-language="`+other+`"`) {
			t.Errorf("%+v: %s", tt, page)
		}
	}
}

// A page that does not exist or cannot be shown says so in the frame of the console, and leads back. It tells a stranger
// nothing.
func TestProblemPages(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	for path, want := range map[string]struct {
		status int
		title  string
	}{
		"/nosuch": {http.StatusNotFound, "There is no such page"}, "/a//b": {http.StatusNotFound, "There is no such page"},
		"/?card=x&session=none":    {http.StatusNotFound, "There is no such page"},
		"/session?id=%3Cb%3E":      {http.StatusNotFound, "There is no such page"},
		"/timeline?before=%3Cb%3E": {http.StatusBadRequest, "This page cannot be shown"},
	} {
		a := b.send(t, http.MethodGet, path, "")
		if a.status != want.status || !strings.Contains(a.body, "<h1>"+want.title+"</h1>") ||
			!strings.Contains(a.body, `href="/">Back to the inbox`) || strings.Contains(a.body, "<b>") {
			t.Errorf("%s: %d\n%s", path, a.status, a.body)
		}
		if a = b.send(t, http.MethodGet, path, "", "Umpire-Signature", ""); strings.Contains(a.body, want.title) {
			t.Errorf("%s without a signature: %s", path, a.body)
		}
	}
}

// Pages without content say that the gate runs, for which agents, and what to try.
func TestEmptyPages(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	inbox := b.send(t, http.MethodGet, "/", "").body
	for _, text := range []string{
		"Nothing waits", "The gate runs, and decides the calls of:", "webshop · Claude Code</a>", "umpire check -- git push --force",
	} {
		if !strings.Contains(inbox, text) {
			t.Errorf("the inbox lacks %q:\n%s", text, inbox)
		}
	}
	if err := b.gate.Sessions().End(t.Context(), b.session.ID, ""); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/": "No agent has asked it yet", "/rules": "umpire rules add allow", "/timeline?q=nothing": "Show the whole timeline",
	} {
		if page := b.send(t, http.MethodGet, path, "").body; !strings.Contains(page, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, page)
		}
	}
}
