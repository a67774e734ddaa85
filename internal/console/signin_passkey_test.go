package console_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// signInChallenge returns the challenge that the page of a browser without a sign-in gets.
func (b *browser) signInChallenge(t testing.TB) string {
	t.Helper()
	a := b.send(t, http.MethodGet, "/sign-in", "")
	var said struct {
		Challenge string `json:"challenge"`
		Keys      []any  `json:"keys"`
	}
	if err := json.Unmarshal([]byte(a.body), &said); a.status != http.StatusOK || err != nil || said.Challenge == "" {
		t.Fatalf("a challenge: %d %s %v", a.status, a.body, err)
	}
	if len(said.Keys) > 0 {
		t.Errorf("a stranger is told which passkeys there are: %s", a.body)
	}
	return said.Challenge
}

// signInWith submits an assertion, and reports whether the browser is then signed in.
func (b *browser) signInWith(t testing.TB, challenge string, assertion any) bool {
	t.Helper()
	a := b.signInBy(t, map[string]any{"challenge": challenge, "assertion": assertion})
	in := b.page != nil && b.send(t, http.MethodGet, "/passkeys", "").status == http.StatusOK
	if (a.status == http.StatusOK) != in {
		t.Fatalf("the answer is %d, and the browser is signed in: %t", a.status, in)
	}
	return in
}

// After twelve hours a passkey lets its browser in again, without a link.
func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	p, certificate := w.listenRemote(t, "en")
	phone, d := w.remoteBrowser(t, certificate), newDevice(t)
	offers := func() bool {
		return strings.Contains(phone.send(t, http.MethodGet, "/sign-in", "").body, `"passkey":true`)
	}
	if offers() {
		t.Error("a passkey is asked for where there is none")
	}
	phone.signIn(t, p.token(t))
	phone.addPasskey(t, p, d)
	w.later.Add(int64(12*time.Hour + time.Second))
	if a := phone.send(t, http.MethodGet, "/passkeys", ""); a.status != http.StatusUnauthorized {
		t.Errorf("a part of it: %d", a.status)
	}
	challenge := phone.signInChallenge(t)
	if !offers() || !phone.signInWith(t, challenge, d.assert(t, challenge)) {
		t.Fatal("the passkey does not sign in")
	}
	// The sign-in is one like any other: it adds a passkey only with a code of the terminal.
	another := newDevice(t)
	if status, _ := phone.post(t, "/passkeys/begin", map[string]string{"code": ""}); status != http.StatusForbidden {
		t.Errorf("beginning without a code: %d", status)
	}
	if status, _ := phone.post(t, "/passkeys/add", another.register(t, w.remoteBrowser(t, certificate).signInChallenge(t))); status != http.StatusForbidden {
		t.Errorf("adding by the challenge of a sign-in: %d", status)
	}
	phone.addPasskey(t, p, another)
	w.later.Add(int64(12*time.Hour + time.Second))
	if a := phone.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("it lasts longer than twelve hours: %d", a.status)
	}
}

// An assertion that is forged, replayed, late or for something else does not sign in.
func TestForgedSignIns(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	asked := w.ask(t, write("a.txt"))[0]
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	phone.signIn(t, p.token(t))
	here := w.browser(t)
	here.signIn(t, local.token(t))
	local.close()
	d, stranger := newDevice(t), newDevice(t)
	phone.addPasskey(t, p, d)
	var last string
	mine := func() string { last = w.remoteBrowser(t, certificate).signInChallenge(t); return last }
	approval := func() string {
		_, challenge := phone.post(t, "/challenge", answerTo(t, &asked, nil))
		return challenge
	}
	for name, forged := range w.forgeries(t, d, stranger, mine, approval) {
		last = ""
		assertion := forged()
		if w.remoteBrowser(t, certificate).signInWith(t, last, assertion) {
			t.Errorf("%s: it is let in", name)
		}
	}
	another, _ := newWorld(t, "en")
	_, itsCertificate := another.listenRemote(t, "en")
	altered := func(challenge string, at int) string {
		raw := ok(base64.RawURLEncoding.DecodeString(challenge))(t)
		raw[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	for name, challenge := range map[string]string{
		"of an approval": approval(), "of another gate": another.remoteBrowser(t, itsCertificate).signInChallenge(t),
		"altered": altered(mine(), 0), "longer": altered(mine(), 23), "altered proof": altered(mine(), 55),
		"none": "", "short": "AAAA",
	} {
		if w.remoteBrowser(t, certificate).signInWith(t, challenge, d.assert(t, challenge)) {
			t.Errorf("a challenge %s lets in", name)
		}
	}
	// An assertion for signing in approves nothing.
	_, _ = mine(), approval()
	status, _ := phone.post(t, "/answer", answerTo(t, &asked, map[string]any{"assertion": d.assert(t, last)}))
	if status != http.StatusForbidden {
		t.Errorf("it approves: %d", status)
	}
	// The right one counts once, at its own address. Some keys do not count how often they were used.
	if a := here.signInBy(t, map[string]any{"challenge": mine(), "assertion": d.assert(t, last)}); a.status != http.StatusForbidden {
		t.Errorf("on the gate's machine: %d", a.status)
	}
	once := newDevice(t)
	once.uncounted, once.count = true, 0
	phone.addPasskey(t, p, once)
	challenge := mine()
	assertion := once.assert(t, challenge)
	for i := range 2 {
		if in := w.remoteBrowser(t, certificate).signInWith(t, challenge, assertion); in != (i == 0) {
			t.Errorf("time %d: let in: %t", i+1, in)
		}
	}
}

// However many challenges strangers ask for, the one of a person counts.
func TestStrangersAskForChallenges(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	p, certificate := w.listenRemote(t, "en")
	phone, d := w.remoteBrowser(t, certificate), newDevice(t)
	phone.signIn(t, p.token(t))
	phone.addPasskey(t, p, d)
	mine, stranger := w.remoteBrowser(t, certificate), w.remoteBrowser(t, certificate)
	challenge := mine.signInChallenge(t)
	for range 200 {
		forged := stranger.signInChallenge(t)
		if stranger.signInWith(t, forged, newDevice(t).assert(t, forged)) {
			t.Fatal("a stranger is let in")
		}
	}
	if !mine.signInWith(t, challenge, d.assert(t, challenge)) {
		t.Error("the person is shut out")
	}
}

// With a passkey that is removed the sign-ins end that were made with it, and the notices to their browsers. Others
// stay.
func TestRemovedPasskeyEndsItsSignIns(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	p, certificate := w.listenRemote(t, "en")
	phone, lost, kept := w.remoteBrowser(t, certificate), newDevice(t), newDevice(t)
	phone.signIn(t, p.token(t))
	phone.addPasskey(t, p, lost)
	phone.addPasskey(t, p, kept)
	enter := func(d *device, endpoint string) *browser {
		b := w.remoteBrowser(t, certificate)
		challenge := b.signInChallenge(t)
		if !b.signInWith(t, challenge, d.assert(t, challenge)) {
			t.Fatal("the passkey does not sign in")
		}
		_, challenge = b.post(t, "/notices/challenge", map[string]any{"endpoint": endpoint})
		value := subscription(t, endpoint)
		value["assertion"] = d.assert(t, challenge)
		if status, _ := b.post(t, "/notices/add", value); status != http.StatusOK {
			t.Errorf("notices to %s: %d", endpoint, status)
		}
		return b
	}
	stolen, mine := enter(lost, "https://push.example/lost"), enter(kept, "https://push.example/kept")
	if status, _ := phone.post(t, "/passkeys/remove", map[string]any{"id": lost.id}); status != http.StatusOK {
		t.Fatalf("removing: %d", status)
	}
	for name, b := range map[string]*browser{"lost": stolen, "kept": mine, "link": phone} {
		if in := b.send(t, http.MethodGet, "/passkeys", "").status == http.StatusOK; in != (b != stolen) {
			t.Errorf("the sign-in of %s: %t", name, in)
		}
	}
	if got := w.endpoints(t); len(got) != 1 || got[0] != "https://push.example/kept" {
		t.Errorf("notices go to %q", got)
	}
}
