package console_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os/user"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console"
)

// A name on the record is that of a person, as it looks, and of nothing else.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Ana", "Ana María", "ana@example.com", "O'Neill", "李雷", "דנה", "Zoë", "bob-2", "ana+work@a.example",
		strings.Repeat("x", 60),
	} {
		if err := console.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for what, name := range map[string]string{
		"none": "", "long": strings.Repeat("x", 61), "a line break": "Ana\nBob", "an escape": "Ana\x1b[2J", "NUL": "A\x00",
		"bidi": "Ana\u202ebob", "a mark of direction": "Ana\u200f", "zero width": "A\u200bna", "a filler": "A\u3164",
		"a variation": "A\ufe0f", "not UTF-8": "A\xff", "two spaces": "Ana  B", "a space first": " Ana", "a space last": "Ana ",
		"a wide space": "Ana\u00a0B", "markup": "<b>Ana", "a quote": `Ana"`, "brackets": "Ana (once)", "a comma": "Ana, Bob",
		"a colon": "Ana: yes", "a flag": "--allowed-tools", "a point first": ".Ana", "a mark first": "\u0301a",
		"the gate": "gate", "the relay": "Relay", "an unknown user": "uid 0", "a channel": "UNIX", "pruning": "person",
		"an address": "192.0.2.1", "Unicode's signs": "Ana♥",
	} {
		if err := console.CheckName(name); !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// named is a browser of a person on this machine.
func (w *world) named(t testing.TB, name string) *browser {
	t.Helper()
	p := followTerminalOf(t, w.console, "en", name, false)
	defer p.close()
	b := w.browser(t)
	b.signIn(t, p.token(t))
	return b
}

// A browser's answers and changes are recorded under the name of its link, no matter what name the browser sends.
func TestNamesAreRecorded(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	nobody := w.browser(t)
	nobody.signIn(t, p.token(t))
	ana, bob := w.named(t, "Ana"), w.named(t, "Bob")
	account := ok(user.Current())(t).Username
	asked := append(w.ask(t, write("a.txt")), append(w.ask(t, write("b.txt")), w.ask(t, write("c.txt"))...)...)
	claims := map[string]any{"actor": "Bob", "By": map[string]any{"name": "Bob"}, "person": "Bob", "name": "Bob"}
	for i, who := range []struct {
		browser *browser
		name    string
	}{{ana, "Ana"}, {bob, "Bob"}, {nobody, account}} {
		if status, said := who.browser.give(t, "/answer?name=Bob", &asked[i], claims); status != http.StatusOK {
			t.Fatalf("%s: %d %s", who.name, status, said)
		}
		var data struct {
			By umpire.Actor `json:"by"`
		}
		e := w.answered(t, &asked[i])
		if err := json.Unmarshal(e.Data, &data); err != nil || e.Actor != who.name || data.By.Name != who.name ||
			data.By.Client != "console" || data.By.UID == nil {
			t.Errorf("%s: %v, by %q and %+v", who.name, err, e.Actor, data.By)
		}
	}
	status, said := bob.give(t, "/answer", &asked[0], map[string]any{"answer": "deny"})
	if status != http.StatusConflict || !strings.Contains(said, "approved (once) by Ana") {
		t.Errorf("too late: %d %s", status, said)
	}
	page := bob.send(t, http.MethodGet, "/timeline", "").body
	for _, want := range []string{"by Ana", "by Bob", "by " + account, `title="signed in as Bob">Bob<`} {
		if !strings.Contains(page, want) {
			t.Errorf("the timeline lacks %q", want)
		}
	}
	if page := nobody.send(t, http.MethodGet, "/", "").body; strings.Contains(page, "signed in as") {
		t.Error("a page without a name has one")
	}
	if err := w.console.Open(t.Context(), "en", "gate", false, lineTaker(p.lines)); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("a link for the gate itself: %v", err)
	}
}

// answered is the event of the answer to a question.
func (w *world) answered(t testing.TB, p *umpire.Pending) umpire.Event {
	t.Helper()
	for _, e := range ok(w.gate.Events(t.Context(), umpire.Filter{Session: p.Session}))(t) {
		if e.Request == p.Request && e.Kind != umpire.EventPermissionAsked {
			return e
		}
	}
	t.Fatal("there is no answer")
	return umpire.Event{}
}

// Revoked grants and shown codes name the person.
func TestNamesOfChanges(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	ana := w.named(t, "Ana")
	asked := w.ask(t, bash("rm -rf build"))
	if status, said := ana.give(t, "/code", &asked[0], nil); status != http.StatusNoContent {
		t.Fatalf("a code: %d %s", status, said)
	}
	if line := p.line(t); !strings.HasSuffix(strings.TrimSpace(line), "(Ana)") {
		t.Errorf("the terminal shows %q", line)
	}
	asked = w.ask(t, write("a.txt"))
	if status, said := ana.give(t, "/answer", &asked[0], map[string]any{"scope": "session"}); status != http.StatusOK {
		t.Fatalf("for the session: %d %s", status, said)
	}
	grants := ok(w.gate.Grants().List(t.Context(), w.session.Dir))(t)
	if len(grants) == 0 || grants[0].Source != "Ana" {
		t.Fatalf("the grants are %+v", grants)
	}
	status, _ := ana.post(t, "/rules/revoke", map[string]any{"session_id": w.session.ID, "grant_id": grants[0].ID})
	if status != http.StatusOK {
		t.Fatalf("revoking: %d", status)
	}
	events := ok(w.gate.Events(t.Context(), umpire.Filter{Last: 1}))(t)
	if e := events[0]; e.Kind != umpire.EventGrantRevoked || e.Actor != "Ana" {
		t.Errorf("%s by %q", e.Kind, e.Actor)
	}
}

// A passkey belongs to the person who registered it: it signs that person in, and cannot approve for anybody else.
func TestPasskeyHasAName(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	asked := append(w.ask(t, write("a.txt")), w.ask(t, write("b.txt"))...)
	bobs, certificate := w.listenRemote(t, "en")
	bobs.close()
	phones, devices := map[string]*browser{}, map[string]*device{}
	for _, name := range []string{"Ana", "Bob", ""} {
		p := followTerminalOf(t, w.console, "en", name, true)
		phones[name], devices[name] = w.remoteBrowser(t, certificate), newDevice(t)
		phones[name].signIn(t, p.token(t))
		if name != "" {
			phones[name].addPasskey(t, p, devices[name])
		}
		p.close()
	}
	_, challenge := phones["Bob"].post(t, "/challenge", answerTo(t, &asked[0], nil))
	status, _ := phones["Bob"].post(t, "/answer",
		answerTo(t, &asked[0], map[string]any{"assertion": devices["Ana"].assert(t, challenge)}))
	if status != http.StatusForbidden {
		t.Errorf("Bob approves with Ana's passkey: %d", status)
	}
	if status, _ := phones[""].post(t, "/challenge", answerTo(t, &asked[0], nil)); status != http.StatusForbidden {
		t.Errorf("without a name, a challenge for a passkey of somebody: %d", status)
	}
	page := phones["Bob"].send(t, http.MethodGet, "/passkeys", "").body
	for _, want := range []string{"Ana · umpire.example", "Bob · umpire.example", "signed in as Bob"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of passkeys lacks %q:\n%s", want, page)
		}
	}
	w.later.Add(int64(12*time.Hour + time.Second))
	phone := w.remoteBrowser(t, certificate)
	challenge = phone.signInChallenge(t)
	if !phone.signInWith(t, challenge, devices["Ana"].assert(t, challenge)) {
		t.Fatal("the passkey does not sign in")
	}
	_, challenge = phone.post(t, "/challenge", answerTo(t, &asked[1], nil))
	status, _ = phone.post(t, "/answer",
		answerTo(t, &asked[1], map[string]any{"assertion": devices["Ana"].assert(t, challenge)}))
	if e := w.answered(t, &asked[1]); status != http.StatusOK || e.Actor != "Ana" {
		t.Errorf("%d, by %q", status, e.Actor)
	}
}
