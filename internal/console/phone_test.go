//go:build unix

package console_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// startPhone starts a browser that trusts a certificate and has a device with passkeys in it.
func startPhone(t *testing.T, address, certificate, lang string, dark bool) *fake.Page {
	t.Helper()
	block, _ := pem.Decode(ok(os.ReadFile(certificate))(t))
	sum := sha256.Sum256(ok(x509.ParseCertificate(block.Bytes))(t).RawSubjectPublicKeyInfo)
	b := fake.StartBrowser(t, 390, 844, dark, "--accept-lang="+lang,
		"--host-resolver-rules=MAP "+remoteHost+":443 "+address,
		"--ignore-certificate-errors-spki-list="+base64.StdEncoding.EncodeToString(sum[:]))
	b.Call(t, "WebAuthn.enable", nil, nil)
	b.Call(t, "WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
		"isUserVerified": true, "automaticPresenceSimulation": true,
	}}, nil)
	return b
}

// faultsOf returns the browser's errors, except for answers that report the end of a sign-in.
func faultsOf(b *fake.Page) []string {
	return slices.DeleteFunc(b.Faults(), func(fault string) bool { return strings.Contains(fault, "401 (Unauthorized)") })
}

// cutEntries are the entries of the menu that are seen only after scrolling.
const cutEntries = `[...document.querySelectorAll("nav a, nav button:not([data-keys])")].filter((e) => {
	const at = e.getBoundingClientRect(); return at.width === 0 || at.left < 0 || at.right > innerWidth
}).map((e) => e.innerText).join(" ")`

// The way of a person with a phone: a passkey is added with a code of the terminal, and approves once.
func TestPhoneInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct {
		lang, allowed, signIn string
		dark                  bool
	}{
		{"en", "Allowed tool: Bash", "Sign in with a passkey", false},
		{"zh-CN", "已允许工具: Bash", "使用通行密钥登录", true},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			w, local := newWorld(t, tt.lang)
			local.close()
			p, certificate := w.listenRemote(t, tt.lang)
			b := startPhone(t, w.console.RemoteAddress(), certificate, tt.lang, tt.dark)
			p.close()
			p = followTerminal(t, w.console, tt.lang, true) // the browser may have been long in coming
			defer p.close()
			asked := w.ask(t, bash("git push origin main"))[0]

			b.Call(t, "Browser.grantPermissions", map[string]any{
				"origin": remoteOrigin, "permissions": []string{"notifications"},
			}, nil)
			b.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": subscribing}, nil)
			b.Open(t, strings.TrimSpace(p.link))
			b.Until(t, `document.querySelectorAll(".item").length === 1`)
			if cut := b.Eval(t, cutEntries); cut != "" {
				t.Errorf("the menu goes beyond the screen: %s", cut)
			}
			b.Click(t, `nav a[href="/passkeys"]`)
			b.Until(t, `document.querySelector("form[data-passkey]")`)
			b.Click(t, `details:has(form[data-passkey]) summary`)
			line := p.line(t)
			b.Until(t, `document.activeElement.name === "code"`)
			b.TypeText(t, line[strings.IndexAny(line, " ")+1:][:4])
			b.Picture(t, "phone-passkey-"+tt.lang)
			b.Click(t, `form[data-passkey] .go`)
			b.Until(t, `document.querySelector("form[data-post='/passkeys/remove']")`)
			b.Picture(t, "phone-passkeys-"+tt.lang)

			// Notices take the passkey from now on, and no code.
			b.Click(t, `form[data-push][data-challenge] button`)
			b.Until(t, `document.querySelector("form[data-post='/notices/remove']")`)
			if got := w.endpoints(t); len(got) != 1 {
				t.Errorf("notices go to %q", got)
			}

			b.Click(t, `nav a[href="/"]`)
			b.Until(t, `document.querySelector(".item")`)
			b.Click(t, `.item`)
			b.Until(t, fmt.Sprintf(`document.querySelector(".chosen .card.seen")?.dataset.request === %q`, asked.Request))
			b.Eval(t, `new Promise((done) => setTimeout(done, 450))`) // answers count a moment later
			b.Picture(t, "phone-card-"+tt.lang)
			b.Click(t, "[data-allow]")
			b.Until(t, `!document.querySelector(".menu").hidden`)
			if n := b.Eval(t, `document.querySelectorAll(".menu button").length`); n != "1" {
				t.Errorf("the menu has %s entries, want only this time", n)
			}
			b.Picture(t, "phone-menu-"+tt.lang)
			b.Click(t, "[data-scope=once]")
			b.Until(t, `document.querySelector(".card").dataset.state === "approved"`)
			b.Until(t, fmt.Sprintf("document.body.innerText.includes(%q)", tt.allowed))
			b.Picture(t, "phone-approved-"+tt.lang)
			if got := w.standing(t, &asked); got.Choice != umpire.Approve || got.Scope != umpire.ScopeOnce {
				t.Errorf("the gate has %+v", got)
			}

			// After twelve hours the passkey signs in again, and the page that was asked for opens.
			w.later.Add(int64(12*time.Hour + time.Second))
			b.Open(t, remoteOrigin+"/timeline")
			b.Until(t, fmt.Sprintf("document.querySelector('.signin [data-passkey]')?.innerText === %q", tt.signIn))
			b.Picture(t, "phone-sign-in-"+tt.lang)
			b.Click(t, "[data-passkey]")
			b.Until(t, `location.pathname === "/timeline" && document.querySelector("li.event")`)
			if faults := faultsOf(b); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}
