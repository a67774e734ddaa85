package console_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
)

// subscription returns a browser's subscription to notices at an address.
func subscription(t testing.TB, endpoint string) map[string]any {
	t.Helper()
	key := ok(ecdh.P256().GenerateKey(rand.Reader))(t)
	return map[string]any{"endpoint": endpoint, "key": key.PublicKey().Bytes(), "secret": make([]byte, 16)}
}

// subscribe submits a subscription, with a new code of the terminal.
func (b *browser) subscribe(t testing.TB, p *terminal, endpoint string) (status int) {
	t.Helper()
	if status, _ := b.post(t, "/notices/code", nil); status != http.StatusNoContent {
		t.Fatalf("a code: %d", status)
	}
	value := subscription(t, endpoint)
	value["code"] = p.line(t)[len("code "):][:4]
	status, _ = b.post(t, "/notices/add", value)
	return status
}

func (w *world) endpoints(t testing.TB) (all []string) {
	t.Helper()
	for _, b := range ok(w.push.Browsers())(t) {
		all = append(all, b.Endpoint)
	}
	return all
}

// A browser subscribes at the address for other machines, is listed without the address that takes its
// notices, and gets no more once it is removed or signed out.
func TestBrowserSubscribes(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	here := w.browser(t)
	here.signIn(t, local.token(t))
	local.close()
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	if status, _ := phone.post(t, "/notices/add", subscription(t, "https://push.example/0")); status != http.StatusUnauthorized {
		t.Errorf("before signing in: %d", status)
	}
	phone.signIn(t, p.token(t))
	for endpoint, want := range map[string]int{
		"https://push.example/secret1": http.StatusOK, "https://other.example/secret2": http.StatusOK,
		"http://push.example/x": http.StatusBadRequest, "https://u@push.example/x": http.StatusBadRequest,
		"": http.StatusBadRequest,
	} {
		if status := phone.subscribe(t, p, endpoint); status != want {
			t.Errorf("%q: %d, want %d", endpoint, status, want)
		}
	}
	if status, _ := here.post(t, "/notices/add", subscription(t, "https://push.example/3")); status != http.StatusForbidden {
		t.Errorf("on the gate's machine: %d", status)
	}
	if got := w.endpoints(t); len(got) != 2 {
		t.Fatalf("got %q", got)
	}
	for name, b := range map[string]*browser{"phone": phone, "here": here} {
		page := b.send(t, http.MethodGet, "/passkeys", "").body
		if !strings.Contains(page, "other.example") || strings.Contains(page, "secret2") ||
			strings.Contains(page, "data-push=") != (b == phone) {
			t.Errorf("the page of %s:\n%s", name, page)
		}
	}
	another := w.remoteBrowser(t, certificate)
	q := followTerminal(t, w.console, "en", true)
	defer q.close()
	another.signIn(t, q.token(t))
	p.close()
	another.subscribe(t, q, "https://push.example/another")
	// A later sign-in of the same browser names an earlier one's subscription.
	if a := another.send(t, http.MethodPost, "/sign-out", `{"endpoint":"https://other.example/secret2"}`); a.status != http.StatusOK {
		t.Errorf("signing out: %d %s", a.status, a.body)
	}
	if got := w.endpoints(t); len(got) != 1 || got[0] != "https://push.example/secret1" {
		t.Errorf("after signing out: %q", got)
	}
	_, id, _ := strings.Cut(here.send(t, http.MethodGet, "/passkeys", "").body, `{&#34;id&#34;:&#34;`)
	if status, _ := here.post(t, "/notices/remove", map[string]string{"id": id[:16]}); status != http.StatusOK {
		t.Errorf("removing: %d", status)
	}
	if got := w.endpoints(t); len(got) != 0 {
		t.Errorf("after removing: %q", got)
	}
}

// Signing out and removing a passkey succeed even if the file of the browsers is broken, and report that.
func TestBrokenFileHoldsNobodyIn(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	phone, p := w.phoneOf(t)
	d := newDevice(t)
	phone.addPasskey(t, p, d)
	if err := os.WriteFile(w.push.File, []byte("[{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	signedIn := w.named(t, "Ana")
	signedIn.signOutSays(t, "signed out; notices could not be turned off: notify: "+w.push.File+":1: ")
	challenge := phone.signInChallenge(t)
	if !phone.signInWith(t, challenge, d.assert(t, challenge)) {
		t.Fatal("the passkey does not sign in")
	}
	a := phone.send(t, http.MethodPost, "/passkeys/remove", string(ok(json.Marshal(map[string]any{"id": d.id}))(t)))
	if a.status != http.StatusOK || !strings.Contains(a.body, "the passkey was removed; notices could not be turned off: ") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := phone.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("the sign-in of the passkey: %d", a.status)
	}
}

// signOutSays signs out, and checks the console's message.
func (b *browser) signOutSays(t testing.TB, want string) {
	t.Helper()
	a := b.send(t, http.MethodPost, "/sign-out", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, want) {
		t.Errorf("signing out: %d %s, want %s", a.status, a.body, want)
	}
	if a := b.send(t, http.MethodGet, "/events", ""); a.status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", a.status)
	}
}

// Notices go on after the sign-in, so a signed-in browser alone does not have them sent: one without the code, or without
// the passkey of its person, gets none.
func TestForgedSubscriptions(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	phone, p := w.phoneOf(t)
	const endpoint = "https://push.example/thief"
	refused := func(what string, proof map[string]any) {
		t.Helper()
		value := subscription(t, endpoint)
		maps.Copy(value, proof)
		if status, _ := phone.post(t, "/notices/add", value); status != http.StatusForbidden {
			t.Errorf("%s: %d", what, status)
		}
	}
	refused("without a proof", nil)
	refused("with an empty code", map[string]any{"code": ""})
	refused("with the code for a passkey", map[string]any{"code": phone.code(t, p)})
	d := newDevice(t)
	refused("with an assertion of no passkey", map[string]any{"assertion": d.assert(t, "AAAA")})
	phone.addPasskey(t, p, d)
	asked := w.ask(t, write("a.txt"))[0]
	challengeFor := func(endpoint string) string {
		_, challenge := phone.post(t, "/notices/challenge", map[string]any{"endpoint": endpoint})
		return challenge
	}
	mine := func() string { return challengeFor(endpoint) }
	other := func() string {
		_, challenge := phone.post(t, "/challenge", answerTo(t, &asked, nil))
		return challenge
	}
	for name, forged := range w.forgeries(t, d, newDevice(t), mine, other) {
		refused(name, map[string]any{"assertion": forged()})
	}
	mine()
	refused("for another address", map[string]any{"assertion": d.assert(t, challengeFor("https://push.example/mine"))})
	if status, _ := phone.post(t, "/notices/code", nil); status != http.StatusNoContent {
		t.Fatalf("a code: %d", status)
	}
	refused("a code in place of the passkey", map[string]any{"code": p.line(t)[len("code "):][:4]})
	if got := w.endpoints(t); len(got) != 0 {
		t.Fatalf("notices go to %q", got)
	}
	value := subscription(t, endpoint)
	value["assertion"] = d.assert(t, mine())
	if status, _ := phone.post(t, "/notices/add", value); status != http.StatusOK || len(w.endpoints(t)) != 1 {
		t.Errorf("with the passkey: %d", status)
	}
	if status, _ := phone.post(t, "/notices/add", value); status != http.StatusForbidden {
		t.Errorf("a second time: %d", status)
	}
}

// Only where the page can be installed may it start its worker, and read its manifest.
func TestInstallable(t *testing.T) {
	t.Parallel()
	w, _ := newWorld(t, "en")
	_, certificate := w.listenRemote(t, "en")
	here, phone := w.browser(t), w.remoteBrowser(t, certificate)
	policy := phone.send(t, http.MethodGet, "/", "").header.Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "worker-src https://umpire.example/assets/worker.js;",
		"manifest-src https://umpire.example/assets/console.webmanifest;",
	} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	if policy := here.send(t, http.MethodGet, "/", "").header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"worker-src 'none'; manifest-src 'none'") {
		t.Errorf("on this machine: %s", policy)
	}
	type icon struct {
		Src  string `json:"src"`
		Type string `json:"type"`
	}
	var manifest struct {
		StartURL string `json:"start_url"`
		Icons    []icon `json:"icons"`
	}
	a := phone.send(t, http.MethodGet, "/assets/console.webmanifest", "")
	if err := json.Unmarshal([]byte(a.body), &manifest); err != nil || manifest.StartURL != "/" || len(manifest.Icons) == 0 {
		t.Errorf("%v: %s", err, a.body)
	}
	for _, icon := range manifest.Icons {
		if a := phone.send(t, http.MethodGet, icon.Src, ""); a.header.Get("Content-Type") != icon.Type {
			t.Errorf("%s: %d %v", icon.Src, a.status, a.header)
		}
	}
	if a := phone.send(t, http.MethodGet, "/assets/worker.js", ""); a.header.Get("Service-Worker-Allowed") != "/" ||
		strings.Contains(a.body, "fetch") || strings.Contains(a.body, "caches") {
		t.Errorf("the worker does more than to show notices: %v\n%s", a.header, a.body)
	}
}
