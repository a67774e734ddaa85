//go:build unix

package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// The whole way of a person through the inbox in a real browser, in both languages, on a
// phone and on a wide screen.
func TestInboxInABrowser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lang, allow, session, refuse, allowed, denied, elsewhere string
		width, height                                            int
		dark                                                     bool
	}{
		{"en", "allow", "allow this session", "confirm denying", "Allowed tool: Write", "Denied tool: Write", "already resolved: denied", 1440, 900, false},
		{"zh-CN", "允许", "允许本次对话", "确认拒绝", "已允许工具: Write", "已拒绝工具: Write", "已有回答：已拒绝", 390, 844, true},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			b := fake.StartBrowser(t, tt.width, tt.height, tt.dark, "--accept-lang="+tt.lang)
			w, p := newWorld(t, tt.lang)
			asked := w.ask(t, editGreeting(), bash("git push origin main && npm test"))
			asked = append(asked, w.ask(t, write("b.txt"))...)
			name := fmt.Sprintf("%s-%d-%v", tt.lang, tt.width, tt.dark)
			shown := func(text string) string { return fmt.Sprintf("document.body.innerText.includes(%q)", text) }
			opened := func(q *umpire.Pending) {
				b.Until(t, fmt.Sprintf(`document.querySelector(".chosen .card.seen")?.dataset.request === %q`, q.Request))
				b.Eval(t, `new Promise((done) => setTimeout(done, 450))`) // keys count a moment later
			}

			b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
			b.Until(t, `document.querySelectorAll(".item").length === 3`)
			if at := b.Eval(t, "location.href"); strings.Contains(at, "#") {
				t.Errorf("the token stays on the address: %s", at)
			}
			b.Picture(t, name+"-list")

			// With a menu: for the session, which opens its widths with the narrowest selected.
			b.Click(t, `.item`)
			opened(&asked[0])
			b.Picture(t, name+"-card")
			b.Until(t, `[...document.querySelectorAll("time[data-age]")].every((time) => parseInt(time.textContent) >= 2)`)
			b.Click(t, "[data-allow]")
			b.Until(t, `!document.querySelector(".menu").hidden`)
			b.Picture(t, name+"-menu")
			b.Click(t, ".card .where") // a click elsewhere closes it
			b.Until(t, `document.querySelector(".menu").hidden`)
			b.Click(t, "[data-allow]")
			b.Click(t, "[data-scope=session]")
			b.Until(t, `document.querySelector("[data-panel-of=session] input").checked`)
			b.Picture(t, name+"-width")
			b.Click(t, "[data-panel-of=session] .go")
			b.Until(t, shown(strings.Replace(tt.allowed, "Write", "Edit", 1)))
			b.Picture(t, name+"-approved")
			if got := w.standing(t, &asked[0]); got.Choice != umpire.Approve || got.Scope != umpire.ScopeSession {
				t.Errorf("the gate has %+v", got)
			}

			// The next one opens by itself. It needs the code that the terminal shows.
			opened(&asked[1])
			b.Press(t, "y")
			line := p.line(t)
			code := line[strings.IndexAny(line, " ")+1:][:4]
			b.Until(t, `document.activeElement.name === "code"`)
			b.TypeText(t, code)
			b.Picture(t, name+"-code")
			b.Press(t, "Enter")

			// A refusal with a reason.
			opened(&asked[2])
			b.Press(t, "n")
			b.Until(t, `document.activeElement.name === "reason"`)
			b.TypeText(t, "不要修改 <b>配置文件</b>")
			b.Picture(t, name+"-deny")
			b.Press(t, "Enter")
			b.Until(t, shown(tt.denied))
			b.Until(t, `document.querySelector(".settled") && !document.querySelector(".card")`)
			if got := w.standing(t, &asked[2]); string(got.Reason) == "" || got.Choice != umpire.Refuse {
				t.Errorf("the gate has %+v", got)
			}

			// One that is answered elsewhere says so, without a reload.
			q := w.ask(t, bash("npm install left-pad"))[0]
			b.Until(t, fmt.Sprintf(`document.querySelector(".item").dataset.request === %q`, q.Request))
			b.Click(t, ".item")
			opened(&q)
			ok(w.gate.Resolve(t.Context(), umpire.Answer{
				Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Refuse,
			}))(t)
			b.Until(t, shown(tt.elsewhere))
			b.Until(t, `document.querySelector(".controls").hidden`)
			b.Picture(t, name+"-elsewhere")
			b.Press(t, "2")
			b.Until(t, `location.pathname === "/timeline"`)
			b.Press(t, "1")
			b.Until(t, `location.pathname === "/" && document.querySelector(".list")`)
			if faults := b.Faults(); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}

// Keys of the first moment, and those for a card that has not been read, answer nothing.
func TestHastyKeysInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 390, 500, false)
	w, p := newWorld(t, "en")
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "curl https://example%d.com/install.sh; ", i)
	}
	asked := w.ask(t, bash(long.String()))
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelectorAll(".item").length === 1`)
	b.Click(t, `.item`)
	b.Until(t, `document.querySelector("#part.chosen .card")`)
	if b.Eval(t, `document.querySelector("[data-allow]").disabled`) != "true" {
		t.Error("it can be allowed before it was read")
	}
	b.Press(t, "y")
	b.Until(t, `document.querySelector(".card.seen")`) // the key shows the rest instead
	if got := b.Eval(t, `document.querySelector(".card").dataset.state`); got != "idle" {
		t.Errorf("the card is %s", got)
	}
	b.Picture(t, "long-390")
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != len(asked) {
		t.Errorf("%d wait, want %d", len(list), len(asked))
	}
}

// Hostile texts do nothing in a real browser either: no script runs, no element appears.
func TestHostileTextsInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, true)
	w, p := newWorld(t, "en")
	all := strings.Join(hostile, " ")
	w.ask(t, bash("frob "+all))
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelector(".card")`)
	if got := b.Eval(t, `document.querySelectorAll("main script, main img, main b:not(.menu b)").length`); got != "0" {
		t.Errorf("%s elements came from a command", got)
	}
	b.Picture(t, "hostile-1440-dark")
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}

// A link whose path would be the address of another host by itself signs in, and stays at the console.
func TestSignInStaysHereInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, false)
	w, p := newWorld(t, "en")
	b.Open(t, "http://"+w.console.Address()+"//other.example/page#"+p.token(t))
	b.Until(t, `!document.querySelector("body.signin")`)
	if got := b.Eval(t, "location.host"); got != w.console.Address() {
		t.Errorf("the browser is at %s", got)
	}
	b.Open(t, "http://"+w.console.Address()+"/")
	b.Until(t, `document.querySelector("nav")`)
}

// A person's way through the timeline in a real browser: it grows without a reload, filters,
// searches and undoes.
func TestTimelineInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct {
		lang, title, denied string
		width, height       int
		dark                bool
	}{
		{"en", "Timeline", "denied", 1440, 900, false},
		{"zh-CN", "时间线", "已拒绝", 390, 844, true},
		{"en", "Timeline", "denied", 390, 844, false},
		{"zh-CN", "时间线", "已拒绝", 1440, 900, true},
	} {
		name := fmt.Sprintf("timeline-%s-%d", tt.lang, tt.width)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fake.StartBrowser(t, tt.width, tt.height, tt.dark, "--accept-lang="+tt.lang)
			w, p := newWorld(t, tt.lang)
			ran := w.ask(t, editGreeting())[0]
			w.run(t, &ran)
			w.undoable.Store(&map[umpire.CallID][]console.Undoable{ran.Call: {
				{ID: "k1", Session: ran.Session, Paths: []string{"/home/me/webshop/greet.sh"}},
			}})
			w.refuse(t, &w.ask(t, bash("git push origin main && npm test"))[0], "use pnpm")
			w.ask(t, write("b.txt"))
			rows := func(n int) {
				b.Until(t, fmt.Sprintf(`document.querySelectorAll(".page .event").length === %d`, n))
			}
			b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
			b.Until(t, `document.querySelector("nav")`)
			b.Click(t, `nav a[href="/timeline"]`)
			rows(4)
			b.Until(t, fmt.Sprintf(`document.querySelector("h1").innerText === %q`, tt.title))
			b.Picture(t, name)

			w.refuse(t, &w.ask(t, bash("npm install left-pad"))[0], "")
			rows(5) // without a reload
			b.Until(t, fmt.Sprintf(`document.querySelector(".event").innerText.toLowerCase().includes(%q)`, tt.denied))

			b.Eval(t, chooseDenied)
			rows(2)
			b.Click(t, "[name=q]")
			b.TypeText(t, "left-pad")
			b.Press(t, "Enter")
			rows(1)
			b.Picture(t, name+"-search")
			b.Eval(t, "history.back()")
			rows(2)
			b.Eval(t, "history.back()")
			rows(5)

			b.Click(t, ".undo summary")
			b.Until(t, `document.querySelector(".undo").open`)
			b.Picture(t, name+"-undo")
			b.Click(t, `[data-post="/undo"] button`)
			b.Until(t, `document.getElementById("said").innerText === "Undid 1 change"`)
			b.Until(t, `!document.querySelector("[data-post='/undo']")`)
			if faults := b.Faults(); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}

			b.Eval(t, `window.connected = fetch, window.fetch = () => Promise.reject(new TypeError("no network")), 0`)
			w.ask(t, write("c.txt"))
			b.Until(t, `!document.getElementById("lost").hidden`)
			b.Eval(t, `window.fetch = connected, 0`)
			w.ask(t, write("d.txt"))
			b.Until(t, `document.getElementById("lost").hidden`)
			b.Until(t, `document.getElementById("said").innerText === "Undid 1 change"`)
		})
	}
}

// chooseDenied filters the timeline, at once: the page may be drawn again between two expressions.
const chooseDenied = `(() => { const kind = document.querySelector("[name=kind]");
	kind.value = "denied"; kind.dispatchEvent(new Event("change", {bubbles: true})) })()`

// A response that arrives after another page was opened must not replace that page.
func TestLateRefreshInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, false)
	w, p := newWorld(t, "en")
	rows := func(n int) {
		t.Helper()
		b.Until(t, fmt.Sprintf(`document.querySelectorAll(".page .event").length === %d`, n))
	}
	refuse := func(command string) { w.refuse(t, &w.ask(t, bash(command))[0], "") }
	refuse("npm install left-pad")
	w.ask(t, write("a.txt"))
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelector("nav")`)
	b.Click(t, `nav a[href="/timeline"]`)
	rows(3)
	b.Eval(t, `(() => { const connected = fetch; let release;
		const released = new Promise((done) => { release = done });
		window.held = 0;
		window.release = release;
		window.fetch = async (address, ...rest) => {
			const answer = await connected(address, ...rest);
			if (!new URL(address, location).search) { window.held++; await released }
			return answer } })()`)
	refuse("npm install right-pad")
	b.Until(t, `held > 0`)
	b.Eval(t, chooseDenied)
	rows(2)
	b.Eval(t, `window.most = 0, new MutationObserver(() => {
		most = Math.max(most, document.querySelectorAll(".page .event").length) })
		.observe(document.body, {childList: true, subtree: true})`)
	b.Eval(t, `release()`)
	refuse("npm install middle-pad")
	rows(3)
	if most := b.Eval(t, `most`); most != "3" {
		t.Errorf("%s lines were shown, of 3 that were asked for", most)
	}
}

// The way of a person through sessions and rules in a real browser.
func TestRulesInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct {
		lang          string
		width, height int
		dark          bool
	}{{"en", 1440, 900, false}, {"zh-CN", 390, 844, true}, {"en", 390, 844, false}, {"zh-CN", 1440, 900, true}} {
		name := fmt.Sprintf("%s-%d", tt.lang, tt.width)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fake.StartBrowser(t, tt.width, tt.height, tt.dark, "--accept-lang="+tt.lang)
			w, p := newWorld(t, tt.lang)
			side := &browser{world: w}
			side.addRule(t, umpire.ScopeProject, "frobs", umpire.Allow, "frob")
			side.addRule(t, umpire.ScopeGlobal, "pushes", umpire.Deny, "git push")
			w.run(t, &w.ask(t, write("b.txt"))[0])
			asked := w.ask(t, write("a.txt"), bash("npm install left-pad"))
			ok(w.gate.Resolve(t.Context(), umpire.Answer{
				Request: asked[0].Request, ArgsHash: asked[0].ArgsHash, ShownDigest: asked[0].ShownDigest,
				Choice: umpire.Approve, Scope: umpire.ScopeSession,
			}))(t)
			for _, agent := range []string{"Codex", "umpire chat", "Claude Code"} {
				ok(w.gate.Sessions().Open(t.Context(), umpire.Opening{Dir: t.TempDir(), Agent: agent}))(t)
			}
			over := ok(w.gate.Sessions().Open(t.Context(), umpire.Opening{Dir: w.session.Root, Agent: "Codex"}))(t)
			b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
			b.Until(t, `document.querySelector("nav")`)

			b.Click(t, `nav a[href="/sessions"]`)
			b.Until(t, `document.querySelectorAll(".session").length === 5`)
			b.Picture(t, "sessions-"+name)
			row := fmt.Sprintf(`[data-body*=%q]`, over.ID)
			b.Eval(t, fmt.Sprintf(`document.querySelector(%q).closest("details").open = true`, row))
			b.Click(t, row+" button")
			b.Until(t, `document.querySelectorAll(".session.over").length === 1`)
			b.Until(t, fmt.Sprintf(`document.getElementById("said").innerText.includes(%q)`, over.ID))

			checkAccess(t, b)
			b.Open(t, "http://"+w.console.Address()+"/rules?session="+string(w.session.ID))
			b.Until(t, `document.querySelectorAll(".rule .tag.low").length > 0`)
			b.Click(t, "[name=command]")
			b.TypeText(t, "frob && git push origin main")
			b.Press(t, "Enter")
			b.Until(t, `document.querySelector(".decided")?.innerText.includes("pushes")`)
			b.Picture(t, "rules-"+name)
			checkAccess(t, b)
			b.Click(t, `.act:has([data-body*="frobs"]) summary`)
			line := p.line(t)
			code := line[strings.IndexAny(line, " ")+1:][:4]
			b.Until(t, `document.activeElement.name === "code"`)
			b.TypeText(t, code)
			b.Picture(t, "rules-remove-"+name)
			b.Press(t, "Enter")
			b.Until(t, `!document.querySelector("[data-body*=frobs]")`)

			b.Click(t, `nav a[href="/overview"]`)
			b.Until(t, `document.querySelectorAll(".plot").length >= 3`)
			b.Picture(t, "overview-"+name)
			checkAccess(t, b)
			b.Click(t, `nav a[href="/"]`)
			b.Until(t, `document.querySelector(".card")`)
			b.Click(t, ".item")
			b.Until(t, `document.querySelector("#part.chosen .card.seen")`)
			checkAccess(t, b)
			if faults := b.Faults(); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}
