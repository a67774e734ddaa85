//go:build unix

package console_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// subscribing stands in for the browser's push service, which is a server of its maker.
const subscribing = `
	let made = null;
	PushManager.prototype.getSubscription = async () => made;
	PushManager.prototype.subscribe = async (options) => {
		const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
		const key = await crypto.subtle.exportKey("raw", pair.publicKey);
		window.asked = [options.userVisibleOnly, options.applicationServerKey.byteLength].join();
		return made = { endpoint: "https://push.example/send/1", unsubscribe: async () => !(made = null),
			getKey: (name) => name === "p256dh" ? key : new Uint8Array(16).buffer };
	}`

// shownNotices are the notices that the browser shows.
const shownNotices = `navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) =>
	JSON.stringify(all.map((n) => [n.title, n.body, n.tag, n.silent, n.data.card ?? ""].join("|"))))`

// tapping is the tap on a notice, which the protocol cannot make.
const tapping = `registration.getNotifications().then(([notification]) => {
	dispatchEvent(new NotificationEvent("notificationclick", { notification })) })`

// push delivers a message to the page's worker, as the browser does when one comes.
func push(t *testing.T, b *fake.Page, registration string, message map[string]any) {
	t.Helper()
	data := string(ok(json.Marshal(message))(t))
	b.Call(t, "ServiceWorker.deliverPushMessage", map[string]any{
		"origin": remoteOrigin, "registrationId": registration, "data": data,
	}, nil)
}

// A person has notices sent to a phone. They replace each other, and a tap opens the card.
func TestNoticesInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct {
		lang, button, said string
		dark               bool
	}{
		{"en", "Notify me on this phone", "this browser gets notices through push.example", false},
		{"zh-CN", "在这部手机上通知我", "通知将通过 push.example 送达此处", true},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			w, local := newWorld(t, tt.lang)
			local.close()
			_, certificate := w.listenRemote(t, tt.lang)
			b := startPhone(t, w.console.RemoteAddress(), certificate, tt.lang, tt.dark)
			p := followTerminal(t, w.console, tt.lang, true) // the browser may have been long in coming
			defer p.close()
			asked := w.ask(t, bash("git push origin main"))[0]
			b.Call(t, "Browser.grantPermissions", map[string]any{
				"origin": remoteOrigin, "permissions": []string{"notifications"},
			}, nil)
			b.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": subscribing}, nil)
			b.Call(t, "ServiceWorker.enable", nil, nil)

			b.Open(t, strings.TrimSpace(p.link))
			b.Until(t, `document.querySelector(".item")`)
			var faults struct {
				Errors []any `json:"installabilityErrors"`
			}
			b.Call(t, "Page.getInstallabilityErrors", nil, &faults)
			if len(faults.Errors) > 0 {
				t.Errorf("the page cannot be installed: %v", faults.Errors)
			}
			b.Click(t, `nav a[href="/passkeys"]`)
			b.Until(t, fmt.Sprintf(`document.querySelector("details:has(form[data-push]) summary")?.innerText.trim() === %q`, tt.button))
			b.Click(t, `details:has(form[data-push]) summary`)
			line := p.line(t)
			b.Until(t, `document.activeElement.name === "code"`)
			b.TypeText(t, line[strings.IndexAny(line, " ")+1:][:4])
			b.Click(t, `form[data-push] .go`)
			b.Until(t, fmt.Sprintf(`document.getElementById("said").innerText === %q`, tt.said))
			b.Until(t, `document.querySelector("form[data-post='/notices/remove']")`)
			b.Picture(t, "phone-notices-"+tt.lang)
			checkAccess(t, b)
			if got := b.Eval(t, "window.asked"); got != "true,65" {
				t.Errorf("the browser is asked for %s", got)
			}
			if got := w.endpoints(t); len(got) != 1 || got[0] != "https://push.example/send/1" {
				t.Errorf("the gate has %q", got)
			}

			registration, began := registrationOf(t, b), time.Now()
			late := func() bool { return time.Since(began) > patience }
			message := map[string]any{
				"title": "Bash · high", "text": "Claude Code asks in webshop", "tag": "one", "card": asked.Request,
				"session": asked.Session,
			}
			// A push that comes while the browser is too busy to start the worker is lost. One that comes
			// twice takes its own place.
			shown := func(want string) {
				for got := ""; got != want; {
					push(t, b, registration, message)
					got = b.Eval(t, fmt.Sprintf(`new Promise((done) => setTimeout(done, 500)).then(() => %s)`, shownNotices))
					if got != want && late() {
						t.Fatalf("the browser shows %s, want %s", got, want)
					}
				}
			}
			shown(fmt.Sprintf(`["Bash · high|Claude Code asks in webshop|one|false|%s"]`, asked.Request))
			message["text"], message["quiet"] = "denied by ann", true
			shown(fmt.Sprintf(`["Bash · high|denied by ann|one|true|%s"]`, asked.Request))
			if got := w.standing(t, &asked); got.Choice != "" {
				t.Errorf("a notice has answered: %+v", got)
			}

			b.Open(t, remoteOrigin+"/timeline")
			b.Until(t, `navigator.serviceWorker.controller`)
			b.EvalWorker(t, tapping)
			b.Until(t, fmt.Sprintf(`document.querySelector(".chosen .card")?.dataset.request === %q`, asked.Request))
			b.Until(t, fmt.Sprintf(`%s.then((now) => { window.now = now }), window.now === "[]"`, shownNotices))

			b.Click(t, "[data-sign-out]")
			b.Until(t, `document.querySelector("body.signin")`)
			if got := w.endpoints(t); len(got) != 0 {
				t.Errorf("after signing out the gate has %q", got)
			}
			if faults := faultsOf(b); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}

// registrationOf returns the id of the page's worker.
func registrationOf(t *testing.T, b *fake.Page) string {
	t.Helper()
	for {
		var event struct {
			Registrations []struct {
				ID    string `json:"registrationId"`
				Scope string `json:"scopeURL"`
			}
		}
		b.Event(t, "ServiceWorker.workerRegistrationUpdated", &event)
		for _, r := range event.Registrations {
			if r.Scope == remoteOrigin+"/" {
				return r.ID
			}
		}
	}
}
