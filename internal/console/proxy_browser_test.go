//go:build unix

package console_test

import (
	"testing"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// The path of a person known to a proxy: a button signs in, and signing out does not sign in again.
func TestProxyInABrowser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, tt := range []struct{ lang, offer, denied string }{
		{"en", "Continue as Ana", "Denied tool: Bash"},
		{"zh-CN", "以 Ana 的身份继续", "已拒绝工具: Bash"},
	} {
		t.Run(tt.lang, func(t *testing.T) {
			t.Parallel()
			w, local := newWorld(t, tt.lang)
			local.close()
			p, _ := w.listenBehindProxy(t)
			b := startPhone(t, p.server.Listener.Addr().String(), p.certificate, tt.lang, false)
			asked := w.ask(t, bash("git push origin main"))[0]

			b.Open(t, remoteOrigin+"/?card="+string(asked.Request)+"&session="+string(asked.Session))
			b.Until(t, `document.body.dataset.ready !== undefined`)
			if got := b.Eval(t, `document.querySelector("[data-proxy]").innerText`); got != tt.offer {
				t.Errorf("the button says %q, want %q", got, tt.offer)
			}
			b.Picture(t, "proxy-"+tt.lang)
			b.Click(t, "[data-proxy]")
			b.Until(t, `document.querySelector(".chosen .card.seen")`)
			// A card takes no answer in its first moment.
			b.Until(t, `(window.opened ??= performance.now()) + 400 < performance.now()`)
			b.Click(t, "[data-refuse]")
			b.Until(t, `document.activeElement.name === "reason"`)
			b.Click(t, ".refuse .no")
			b.Until(t, `document.body.innerText.includes("`+tt.denied+`")`)
			if got := w.standing(t, &asked); got.Actor != "Ana" {
				t.Errorf("the gate has %+v", got)
			}
			b.Click(t, "[data-sign-out]")
			b.Until(t, `document.querySelector("[data-proxy]")`)
			if faults := faultsOf(b); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
	}
}
