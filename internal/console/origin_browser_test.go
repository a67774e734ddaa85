//go:build unix

package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/server"
)

// thiefVariable has this program make requests in place of tests, as a program of an agent does.
const thiefVariable = "UMPIRE_TEST_THIEF"

// A taken is a request: one that a server got, or that a thief makes.
type taken struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Body   string      `json:"body"`
	Header http.Header `json:"header"`
}

// A loot is a thief's result.
type loot struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

func init() {
	if os.Getenv(thiefVariable) == "" {
		return
	}
	if err := steal(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// steal makes the requests of its input, confined as a browser is.
func steal() error {
	if err := confine(); err != nil {
		return err
	}
	var requests []taken
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		return err
	}
	var got []loot
	for _, wanted := range requests {
		r, err := http.NewRequest(wanted.Method, wanted.URL, strings.NewReader(wanted.Body))
		if err != nil {
			return err
		}
		r.Header = wanted.Header
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		one := loot{Status: response.StatusCode}
		if response.Header.Get("Content-Type") != "text/event-stream" {
			body, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			one.Body = string(body)
		}
		_ = response.Body.Close()
		got = append(got, one)
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

// stealAll makes requests in another process, and returns the answers.
func stealAll(t *testing.T, requests []taken) []loot {
	t.Helper()
	thief := exec.CommandContext(t.Context(), ok(os.Executable())(t))
	thief.Env = append(os.Environ(), thiefVariable+"=1")
	thief.Stdin, thief.Stderr = bytes.NewReader(ok(json.Marshal(requests))(t)), os.Stderr
	var got []loot
	if err := json.Unmarshal(ok(thief.Output())(t), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// A devServer is a server of an agent on another port. It keeps every request that it gets.
type devServer struct {
	*httptest.Server

	mu  sync.Mutex
	got []taken
}

func (s *devServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // of a page that may be gone
	s.mu.Lock()
	s.got = append(s.got, taken{r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()})
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*")
	switch r.URL.Path {
	case "/worker.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, devWorker)
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>the app</title><body data-ready><p id=part>fake</p>`)
	}
}

func (s *devServer) taken() []taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// devWorker requests from the console whatever its page names.
const devWorker = `addEventListener("message", async (event) => {
	const said = [];
	for (const mode of ["no-cors", "cors"]) {
		try {
			const answer = await fetch(event.data, { credentials: "include", mode });
			said.push(await answer.text());
		} catch (problem) { said.push("refused: " + problem.message) }
	}
	event.source.postMessage(said.join("\n")) })`

// devAttacks are a page of the dev server attacking the console: C is its address, A an answer that approves.
const devAttacks = `(async () => {
	const said = {};
	const soon = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 2000, "nothing"))]);
	const attempt = async (name, run) => {
		try { said[name] = String(await soon(run())) } catch (problem) { said[name] = "refused: " + problem.message } };
	for (const mode of ["cors", "no-cors"]) {
		for (const path of ["/", "/timeline", "/rules", "/sessions", "/events", "/sign-in", "/assets/key.js"]) {
			await attempt(mode + " GET " + path, async () => (await fetch(C + path, { credentials: "include", mode })).text());
		}
		for (const path of ["/answer", "/sign-out", "/sign-in", "/undo"]) {
			await attempt(mode + " POST " + path, async () =>
				(await fetch(C + path, { method: "POST", credentials: "include", mode, body: A })).text());
		}
	}
	await attempt("signed by a guess", async () => (await fetch(C + "/", { credentials: "include", mode: "cors",
		headers: { "Umpire-Signature": "a.1.b" } })).text());
	await attempt("form", () => new Promise((done) => {
		const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { name: "target" }));
		const form = document.body.appendChild(Object.assign(document.createElement("form"),
			{ action: C + "/answer", method: "post", enctype: "text/plain", target: "target" }));
		form.append(Object.assign(document.createElement("input"), { name: A.slice(0, -1) + ', "x":"', value: '"}' }));
		frame.onload = () => { try { done(frame.contentDocument.body.innerText) } catch (problem) { done(problem.message) } };
		form.submit() }));
	await attempt("frame", () => new Promise((done) => {
		const frame = document.createElement("iframe");
		frame.onload = () => { try { done(frame.contentDocument.body.innerText) } catch (problem) { done(problem.message) } };
		frame.src = C + "/";
		document.body.append(frame) }));
	await attempt("object", () => new Promise((done) => {
		const object = document.createElement("object");
		object.onload = object.onerror = () => done(object.contentDocument?.body?.innerText);
		object.data = C + "/";
		document.body.append(object) }));
	for (const rel of ["prefetch", "prerender", "preload"]) {
		await attempt(rel, () => new Promise((done) => {
			const link = Object.assign(document.createElement("link"), { rel, href: C + "/", as: "fetch" });
			link.onload = link.onerror = () => done(caches.match(C + "/").then((found) => found?.text()));
			document.head.append(link) }));
	}
	for (const path of ["/assets/key.js", "/assets/console.js"]) {
		await attempt("module " + path, async () => Object.keys(await import(C + path)).join());
		await attempt("script " + path, () => new Promise((done) => {
			const script = Object.assign(document.createElement("script"), { src: C + path, type: "module" });
			script.onload = () => done("loaded");
			script.onerror = () => done("refused");
			document.head.append(script) }));
	}
	await attempt("keys", async () => JSON.stringify(await indexedDB.databases()));
	await attempt("cookies", async () => document.cookie);
	await attempt("their worker", () => navigator.serviceWorker.register(C + "/assets/worker.js"));
	await attempt("a worker for them", () => navigator.serviceWorker.register("/worker.js", { scope: C + "/" }));
	await attempt("worker", async () => {
		await navigator.serviceWorker.register("/worker.js");
		const { active } = await navigator.serviceWorker.ready;
		return new Promise((done) => {
			navigator.serviceWorker.onmessage = (event) => done(event.data);
			active.postMessage(C + "/") }) });
	await attempt("window", async () => {
		const opened = window.open(C + "/");
		if (!opened) { return "no window opens" }
		for (let n = 0; n < 20; n++) {
			await new Promise((done) => setTimeout(done, 100));
			try { if (opened.location.href !== "about:blank") { return opened.document.body.innerText } } catch { break }
		}
		opened.postMessage(A, "*");
		const end = [opened.closed, opened.length];
		return "opened, " + end });
	return JSON.stringify(said) })()`

// A dev server on another port, opened in the browser that is signed in, gets nothing from the browser or its own page
// that approves a call, reads a page or changes anything, in this browser or in a process that copies it.
func TestDevServerInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, false, "--disable-popup-blocking")
	w, p := newWorld(t, "en")
	asked := w.ask(t, bash("npm install left-pad"))[0]
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelectorAll(".item").length === 1`)
	agent := b.Eval(t, `navigator.userAgent`)

	s := &devServer{}
	s.Server = httptest.NewServer(s)
	defer s.Close()
	b.Open(t, s.URL+"/app")
	var out struct{ Result struct{ Value string } }
	b.Call(t, "Runtime.evaluate", map[string]any{
		"expression":   fmt.Sprintf("(() => { const C = %q, A = %q; return %s })()", w.base, bound(t, &asked, nil), devAttacks),
		"awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &out)
	var said map[string]string
	if err := json.Unmarshal([]byte(out.Result.Value), &said); err != nil {
		t.Fatalf("%v: %s", err, out.Result.Value)
	}
	if len(said) < 30 || said["window"] == "no window opens" {
		t.Errorf("%d attempts were made: %v", len(said), said)
	}
	for name, got := range said {
		if strings.Contains(got, "left-pad") || strings.Contains(got, string(asked.Request)) || strings.Contains(got, "umpire") {
			t.Errorf("%s gets %q", name, got)
		}
	}

	// Outside of the browser, with all that the browser sent.
	var requests []taken
	for _, from := range append(s.taken(), taken{Header: http.Header{}}) {
		for _, at := range guarded {
			h := from.Header.Clone()
			maps.Copy(h, http.Header{
				"User-Agent": {agent}, "Origin": {w.base}, "Content-Type": {"application/json"}, "Sec-Fetch-Site": {"same-origin"},
			})
			for _, name := range []string{"Sec-Fetch-Dest", "Sec-Fetch-Mode", "Accept-Encoding"} {
				h.Del(name)
			}
			requests = append(requests, taken{at.method, w.base + at.path, bound(t, &asked, nil), h})
		}
	}
	for i, got := range stealAll(t, requests) {
		shell := got.Status == http.StatusOK && requests[i].URL == w.base+"/" && strings.Contains(got.Body, `class="signin"`)
		if got.Status != http.StatusUnauthorized && !shell || strings.Contains(got.Body, "left-pad") {
			t.Errorf("%s %s gets %d %s", requests[i].Method, requests[i].URL, got.Status, got.Body)
		}
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Fatalf("%d wait, want the one", len(list))
	}

	b.Open(t, "http://"+w.console.Address()+"/") // the browser is still signed in, and no other window of it is
	b.Until(t, `document.querySelectorAll(".item").length === 1`)
	if got := b.Eval(t, `String(window.opener)`); got != "null" {
		t.Errorf("the console has an opener: %s", got)
	}
}

// A thiefPage has the origin of the console, and with it what the browser kept there: it signs an answer for the gate.
const thiefPage = `new Promise((done, failed) => {
	const opening = indexedDB.open("umpire", 1);
	opening.onerror = () => failed(opening.error);
	opening.onsuccess = () => {
		const reading = opening.result.transaction("keys").objectStore("keys").get("console");
		reading.onsuccess = async () => {
			const { id, key, instance, next, gate } = reading.result, utf8 = (text) => new TextEncoder().encode(text);
			const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");
			const sum = hex(await crypto.subtle.digest("SHA-256", utf8(A)));
			const text = ["umpire console 1", I || instance, location.origin, next + 100, "POST", "/answer", sum].join("\n");
			const made = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, utf8(text));
			const exported = await crypto.subtle.exportKey("jwk", key).then(() => "exported", () => "kept");
			const imitated = await crypto.subtle.sign("HMAC", gate, utf8("x")).then(() => "imitated", () => "kept");
			done([exported, imitated, id + "." + (next + 100) + "." + btoa(String.fromCharCode(...new Uint8Array(made)))
				.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")].join(" ")) } } })`

// A program that takes the console's port while a page is open gets one request without content, again and again. It
// shows nothing in that page. Neither what it got, nor what its own page signs with the key, is worth anything at the next
// console, even at the same address.
func TestTakenPortInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, false)
	w, p := newWorld(t, "en")
	asked := w.ask(t, write("secret-plan.txt"))[0]
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelectorAll(".item").length === 1`)
	b.Click(t, ".item")
	b.Until(t, `document.querySelector(".chosen .card.seen")`)
	address := w.console.Address()
	p.close()
	if err := w.console.Close(); err != nil {
		t.Fatal(err)
	}

	s := &devServer{}
	s.Server = httptest.NewUnstartedServer(s)
	_ = s.Listener.Close()
	s.Listener = ok(new(net.ListenConfig).Listen(t.Context(), "tcp", address))(t)
	s.Start()
	defer s.Close()
	for began := time.Now(); len(s.taken()) < 2; { // the page looks for the gate
		b.Until(t, `!document.getElementById("lost").hidden`)
		b.Eval(t, `document.querySelector('nav a[href="/timeline"]').click(), document.querySelector("[data-cancel]").click(), 0`)
		if time.Since(began) > patience {
			t.Fatal("the page does not look for the gate")
		}
	}
	if text := b.Eval(t, `document.body.innerText`); strings.Contains(text, "fake") || !strings.Contains(text, "secret-plan") {
		t.Errorf("the page shows %s", text)
	}
	b.Open(t, "http://"+address+"/") // a person loads it again, and has the page of the thief
	b.Until(t, `document.body.innerText.includes("fake")`)
	requests := s.taken()
	for _, r := range requests[:len(requests)-1] {
		path, _, _ := strings.Cut(r.URL, "?") // with the ids of the open card, if its part was being read again
		if r.Method != http.MethodGet || path != "/events" && path != "/" && path != "/favicon.ico" || r.Body != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("it gets %+v", r)
		}
	}
	signed := func(instance string) string {
		text := b.Eval(t, fmt.Sprintf("(() => { const A = %q, I = %q; return %s })()", bound(t, &asked, nil), instance, thiefPage))
		rest, found := strings.CutPrefix(text, "kept kept ")
		if !found {
			t.Errorf("the keys are %s", text)
		}
		return rest
	}
	forged := []string{signed("")}
	s.Close()

	// The next console, at the same address.
	w.console = console.New(console.Config{
		Gate:    server.Local(w.gate, "console"),
		GateOf:  func(person string) umpire.Gate { return server.LocalAs(w.gate, "console", person) },
		NewCode: w.newCode,
	})
	if err := w.console.Listen(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	next := w.named(t, "Ana")
	forged = append(forged, signed(next.page.Instance), strings.Replace(forged[0], forged[0][:43], next.page.ID, 1))
	for _, r := range requests {
		forged = append(forged, r.Header.Get("Umpire-Signature"))
	}
	agent := b.Eval(t, `navigator.userAgent`)
	for _, signature := range forged {
		for _, at := range guarded {
			if at.path == "/" && signature == "" {
				continue // which is a navigation
			}
			a := w.browser(t).send(t, at.method, at.path, bound(t, &asked, nil), "User-Agent", agent, "Umpire-Signature", signature)
			if a.status != http.StatusUnauthorized && a.status != http.StatusForbidden || strings.Contains(a.body, "secret-plan") {
				t.Errorf("%s %s with %q: %d %s", at.method, at.path, signature, a.status, a.body)
			}
		}
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Errorf("%d wait, want the one", len(list))
	}
}

// A browser that keeps no keys, as some private windows do, says so and leaves the link for another one.
func TestKeylessBrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for name, without := range map[string]string{
		"no store":     `Object.defineProperty(window, "indexedDB", { value: undefined })`,
		"no WebCrypto": `Object.defineProperty(crypto, "subtle", { value: undefined })`,
		"no keys":      `IDBObjectStore.prototype.put = () => { throw new DOMException("not here", "DataCloneError") }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fake.StartBrowser(t, 390, 844, false)
			w, p := newWorld(t, "zh-CN")
			w.ask(t, write("a.txt"))
			var script struct{ Identifier string }
			b.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": without}, &script)
			b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
			b.Until(t, `!document.querySelector("main").hidden`)
			if got := b.Eval(t, `document.getElementById("said").innerText`); got != b.Eval(t, `document.getElementById("said").dataset.keyless`) {
				t.Errorf("the page says %q", got)
			}
			b.Call(t, "Page.removeScriptToEvaluateOnNewDocument", map[string]any{"identifier": script.Identifier}, nil)
			w.later.Store(int64(-time.Hour)) // the link has not expired, however long the browser takes
			b.Open(t, "http://"+w.console.Address()+"/timeline#"+p.token(t))
			b.Until(t, `document.querySelector(".event")`)
			b.Click(t, "nav a[href='/']")
			b.Until(t, `document.querySelector(".item")`)
		})
	}
}

// Tabs share the key and count together. One that signs out signs all of them out, and leaves no key.
func TestTabsInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	b := fake.StartBrowser(t, 1440, 900, false, "--disable-popup-blocking")
	w, p := newWorld(t, "en")
	w.ask(t, write("a.txt"))
	b.Open(t, "http://"+w.console.Address()+"/#"+p.token(t))
	b.Until(t, `document.querySelector(".item")`)
	b.Call(t, "Runtime.evaluate", map[string]any{"expression": `window.tab = open("/timeline"), 0`, "userGesture": true}, nil)
	b.Until(t, `tab.document.querySelector(".event")`)
	const both = `(async () => {
		const { send } = await import("/assets/key.js");
		const mine = Array.from({ length: 40 }, () => send("/sessions").then((answer) => answer.status));
		for (let n = 0; n < 5; n++) { tab.document.querySelector("nav a[href='/rules']").click() }
		return [...new Set(await Promise.all(mine))].join() })()`
	if got := b.Eval(t, both); got != "200" {
		t.Errorf("of many requests at once the answers are %s", got)
	}
	b.Until(t, `tab.location.pathname === "/rules" && tab.document.querySelector("[name=command]")`)
	b.Click(t, "[data-sign-out]")
	b.Until(t, `document.querySelector("body.signin") && !document.querySelector("main").hidden`)
	b.Eval(t, `tab.document.querySelector("nav a[href='/']").click(), 0`)
	b.Until(t, `tab.document.querySelector("body.signin")`)
	const kept = `new Promise((done) => { const opening = indexedDB.open("umpire", 1); opening.onsuccess = () => {
		const reading = opening.result.transaction("keys").objectStore("keys").getAllKeys();
		reading.onsuccess = () => done(reading.result.join()) } })`
	if got := b.Eval(t, kept); got != "" {
		t.Errorf("after signing out the browser keeps %s", got)
	}
}
