package console_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// A device makes passkeys and assertions, as the ones in phones do.
type device struct {
	private *ecdsa.PrivateKey
	id      []byte
	count   uint32

	// What its assertions claim; tests change it to forge them.
	site, origin string
	flags        byte
	cross        bool
	uncounted    bool // its counter is always 0
}

func newDevice(t testing.TB) *device {
	t.Helper()
	id := make([]byte, 20)
	ok(rand.Read(id))(t)
	return &device{
		private: ok(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t), id: id,
		site: remoteHost, origin: remoteOrigin, flags: 0x05, count: 10,
	}
}

func (d *device) data(flags byte) []byte {
	sum := sha256.Sum256([]byte(d.site))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), d.count)
}

func (d *device) client(kind, challenge string) []byte {
	text, _ := json.Marshal(map[string]any{
		"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": d.cross,
	})
	return text
}

func (d *device) assert(t testing.TB, challenge string) map[string]any {
	t.Helper()
	if d.count++; d.uncounted {
		d.count = 0
	}
	data, client := d.data(d.flags), d.client("webauthn.get", challenge)
	clientSum := sha256.Sum256(client)
	sum := sha256.Sum256(append(slices.Clone(data), clientSum[:]...))
	signature := ok(ecdsa.SignASN1(rand.Reader, d.private, sum[:]))(t)
	return map[string]any{"id": d.id, "client_data": client, "auth_data": data, "signature": signature}
}

func (d *device) register(t testing.TB, challenge string) map[string]any {
	t.Helper()
	data := append(d.data(d.flags|0x40), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(d.id))), d.id...)
	return map[string]any{
		"id": d.id, "public": ok(x509.MarshalPKIXPublicKey(d.private.Public()))(t), "name": "my phone",
		"client_data": d.client("webauthn.create", challenge), "auth_data": data,
	}
}

// post posts a value and returns the status, and the challenge if there is one.
func (b *browser) post(t testing.TB, path string, value any) (status int, challenge string) {
	t.Helper()
	a := b.send(t, http.MethodPost, path, string(ok(json.Marshal(value))(t)))
	var said struct {
		Challenge string `json:"challenge"`
	}
	_ = json.Unmarshal([]byte(a.body), &said)
	return a.status, said.Challenge
}

// code has the terminal show a code for a new passkey.
func (b *browser) code(t testing.TB, p *terminal) string {
	t.Helper()
	if status, _ := b.post(t, "/passkeys/code", nil); status != http.StatusNoContent {
		t.Fatalf("a code: %d", status)
	}
	return p.line(t)[len("code "):][:4]
}

// addPasskey registers a device.
func (b *browser) addPasskey(t testing.TB, p *terminal, d *device) {
	t.Helper()
	_, challenge := b.post(t, "/passkeys/begin", map[string]string{"code": b.code(t, p)})
	if status, _ := b.post(t, "/passkeys/add", d.register(t, challenge)); status != http.StatusOK {
		t.Fatalf("registering: %d", status)
	}
}

// phoneOf signs a phone in.
func (w *world) phoneOf(t testing.TB) (*browser, *terminal) {
	t.Helper()
	p, certificate := w.listenRemote(t, "en")
	phone := w.remoteBrowser(t, certificate)
	phone.signIn(t, p.token(t))
	return phone, p
}

func answerTo(t testing.TB, p *umpire.Pending, fields map[string]any) json.RawMessage {
	t.Helper()
	return json.RawMessage(bound(t, p, fields))
}

func TestPasskeyApprovesOnce(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close() // codes come on the other terminal
	asked := w.ask(t, bash("git push origin main"))[0]
	phone, p := w.phoneOf(t)
	if status, _ := phone.post(t, "/challenge", answerTo(t, &asked, nil)); status != http.StatusForbidden {
		t.Errorf("a challenge without a passkey: %d", status)
	}
	d := newDevice(t)
	phone.addPasskey(t, p, d)
	_, challenge := phone.post(t, "/challenge", answerTo(t, &asked, nil))
	status, _ := phone.post(t, "/answer", answerTo(t, &asked, map[string]any{"assertion": d.assert(t, challenge)}))
	if got := w.standing(t, &asked); status != http.StatusOK || got.Choice != umpire.Approve || got.Scope != umpire.ScopeOnce {
		t.Errorf("%d, and the gate has %+v", status, got)
	}
}

// forgeries are assertions that must be rejected, each for its own challenge; other makes a
// challenge for something else.
func (w *world) forgeries(
	t testing.TB, d, stranger *device, mine, other func() string,
) map[string]func() map[string]any {
	t.Helper()
	forge := func(change func(d *device)) func() map[string]any {
		return func() map[string]any {
			challenge := mine()
			forged := *d
			change(&forged)
			defer func() { d.count = max(d.count, forged.count) }()
			return forged.assert(t, challenge)
		}
	}
	alter := func(field string) func() map[string]any {
		return func() map[string]any {
			a := d.assert(t, mine())
			data := slices.Clone(a[field].([]byte))
			data[len(data)-1] ^= 1
			a[field] = data
			return a
		}
	}
	return map[string]func() map[string]any{
		"none":              func() map[string]any { return nil },
		"without asking":    func() map[string]any { return d.assert(t, "AAAA") },
		"no challenge":      func() map[string]any { mine(); return d.assert(t, "") },
		"for another use":   func() map[string]any { mine(); return d.assert(t, other()) },
		"of another site":   forge(func(d *device) { d.site = "evil.example" }),
		"of another page":   forge(func(d *device) { d.origin = "https://evil.example" }),
		"of a port":         forge(func(d *device) { d.origin += ":8443" }),
		"framed":            forge(func(d *device) { d.cross = true }),
		"not verified":      forge(func(d *device) { d.flags = 0x01 }),
		"nobody there":      forge(func(d *device) { d.flags = 0x04 }),
		"a counter back":    forge(func(d *device) { d.count = 0; d.count-- }),
		"a stranger":        func() map[string]any { return stranger.assert(t, mine()) },
		"a stranger's hand": forge(func(d *device) { d.private = stranger.private }),
		"altered signature": alter("signature"),
		"altered data":      alter("auth_data"),
		"a registration": func() map[string]any {
			a := d.assert(t, mine())
			a["client_data"] = d.client("webauthn.create", "AAAA")
			return a
		},
		"late": func() map[string]any {
			a := d.assert(t, mine())
			w.later.Add(int64(121 * time.Second))
			return a
		},
	}
}

// Nothing is approved by an assertion that is forged, replayed, late or for something else.
func TestForgedAssertions(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	asked := append(w.ask(t, write("a.txt")), w.ask(t, write("b.txt"))...)
	phone, p := w.phoneOf(t)
	d, stranger := newDevice(t), newDevice(t)
	phone.addPasskey(t, p, d)
	challengeOf := func(q *umpire.Pending) string {
		status, challenge := phone.post(t, "/challenge", answerTo(t, q, nil))
		if status != http.StatusOK || challenge == "" {
			t.Fatalf("a challenge: %d", status)
		}
		return challenge
	}
	mine, other := func() string { return challengeOf(&asked[0]) }, func() string { return challengeOf(&asked[1]) }
	for name, forged := range w.forgeries(t, d, stranger, mine, other) {
		status, _ := phone.post(t, "/answer", answerTo(t, &asked[0], map[string]any{"assertion": forged()}))
		if status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	// A valid assertion approves its own card, and only once.
	a := d.assert(t, challengeOf(&asked[0]))
	for _, wider := range []map[string]any{{"scope": "session"}, {"scope": "global"}, {"width": "tool"}, {"answer": "try"}} {
		wider["assertion"] = a
		if status, _ := phone.post(t, "/answer", answerTo(t, &asked[0], wider)); status/100 != 4 {
			t.Errorf("%v: %d", wider, status)
		}
	}
	if status, _ := phone.post(t, "/answer", answerTo(t, &asked[0], map[string]any{"assertion": a})); status != http.StatusOK {
		t.Errorf("the right one: %d", status)
	}
	challengeOf(&asked[1])
	if status, _ := phone.post(t, "/answer", answerTo(t, &asked[1], map[string]any{"assertion": a})); status != http.StatusForbidden {
		t.Errorf("a second time: %d", status)
	}
	removed := d.assert(t, challengeOf(&asked[1]))
	if status, _ := phone.post(t, "/passkeys/remove", map[string]any{"id": d.id}); status != http.StatusOK {
		t.Errorf("removing: %d", status)
	}
	if status, _ := phone.post(t, "/answer", answerTo(t, &asked[1], map[string]any{"assertion": removed})); status != http.StatusForbidden {
		t.Errorf("a removed key: %d", status)
	}
	if list := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Errorf("%d wait, want the second", len(list))
	}
}

// A passkey is registered with a code of the terminal, at the address for phones, with a person verified.
func TestForgedRegistrations(t *testing.T) {
	t.Parallel()
	w, local := newWorld(t, "en")
	local.close()
	phone, p := w.phoneOf(t)
	d := newDevice(t)
	if status, _ := phone.post(t, "/passkeys/begin", map[string]string{"code": "nope"}); status != http.StatusForbidden {
		t.Errorf("without a code: %d", status)
	}
	if status, _ := phone.post(t, "/passkeys/add", d.register(t, "AAAA")); status != http.StatusForbidden {
		t.Errorf("without a challenge: %d", status)
	}
	for name, change := range map[string]func(d *device){
		"of another site": func(d *device) { d.site = "evil.example" },
		"of another page": func(d *device) { d.origin = "https://evil.example" },
		"not verified":    func(d *device) { d.flags = 0x01 },
	} {
		_, challenge := phone.post(t, "/passkeys/begin", map[string]string{"code": phone.code(t, p)})
		forged := *d
		change(&forged)
		if status, _ := phone.post(t, "/passkeys/add", forged.register(t, challenge)); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
		if status, _ := phone.post(t, "/passkeys/add", d.register(t, challenge)); status != http.StatusForbidden {
			t.Errorf("%s, again: %d", name, status)
		}
	}
	again := followTerminal(t, w.console, "en", false)
	defer again.close()
	here := w.browser(t)
	here.signIn(t, again.token(t))
	for _, path := range []string{"/passkeys/code", "/passkeys/begin", "/passkeys/add", "/challenge"} {
		if status, _ := here.post(t, path, nil); status != http.StatusForbidden {
			t.Errorf("%s on this machine: %d", path, status)
		}
	}
	if a := phone.send(t, http.MethodGet, "/passkeys", ""); strings.Contains(a.body, "my phone") {
		t.Errorf("a passkey was added:\n%s", a.body)
	}
}
