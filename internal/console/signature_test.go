package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
)

// sendSigned makes a request with a signature, and returns the status and whether the answer proves to be the gate's.
func (b *browser) sendSigned(t testing.TB, method, target, body, signature string) (status int, proves bool) {
	t.Helper()
	r := ok(http.NewRequestWithContext(t.Context(), method, b.base+target, strings.NewReader(body)))(t)
	r.Header = http.Header{
		"User-Agent": {b.agent}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {b.base}, "Content-Type": {"application/json"},
		fake.SignatureHeader: {signature},
	}
	response := ok(b.client.Do(r))(t) //nolint:bodyclose // closed in the next line
	_ = response.Body.Close()
	return response.StatusCode, b.page.Proves(signature, response.Header)
}

// A signature is good for one request: just this method, address, body, origin, listener, number and key. That holds
// at both addresses.
func TestForgedSignatures(t *testing.T) {
	t.Parallel()
	t.Run("here", func(t *testing.T) {
		t.Parallel()
		b, _ := signedIn(t, "en")
		forgeSignatures(t, b)
	})
	t.Run("phone", func(t *testing.T) {
		t.Parallel()
		w, _ := newWorld(t, "en")
		phone, _ := w.phoneOf(t)
		forgeSignatures(t, phone)
	})
}

func forgeSignatures(t *testing.T, b *browser) {
	t.Helper()
	asked := b.ask(t, write("a.txt"))[0]
	other, _ := signedIn(t, "en")
	stranger := ok(fake.NewSigner())(t)
	stranger.ID, stranger.Instance, stranger.Secret = b.page.ID, b.page.Instance, b.page.Secret
	body := bound(t, &asked, map[string]any{"answer": "deny"})
	number := uint64(1_000_000)
	for name, tt := range map[string]struct {
		page                         *fake.Signer
		method, target, body, origin string
		alter                        func(signature string) string
	}{
		"another method":        {method: http.MethodPut},
		"a read":                {method: http.MethodGet},
		"another path":          {target: "/undo"},
		"a query":               {target: "/answer?"},
		"another query":         {target: "/answer?a=b"},
		"another case":          {target: "/Answer"},
		"another body":          {body: strings.Replace(body, "deny", "cancel", 1)},
		"no body":               {body: " "},
		"a longer body":         {body: body + " "},
		"another origin":        {origin: "http://127.0.0.1:1"},
		"the name of the host":  {origin: strings.Replace(b.base, "://", "://localhost", 1)},
		"another gate":          {origin: other.base, page: other.page},
		"the listener before":   {page: b.page.At(other.page.Instance)},
		"no listener":           {page: b.page.At("")},
		"another key":           {page: stranger},
		"another number":        {alter: func(s string) string { return strings.Replace(s, ".1", ".2", 1) }},
		"a number with a sign":  {alter: func(s string) string { return strings.Replace(s, ".", ".+", 1) }},
		"a number with a zero":  {alter: func(s string) string { return strings.Replace(s, ".", ".0", 1) }},
		"no number":             {alter: func(s string) string { return s[:strings.Index(s, ".")] + s[strings.LastIndex(s, "."):] }},
		"no signature":          {alter: func(s string) string { return s[:strings.LastIndex(s, ".")+1] }},
		"zeros":                 {alter: func(s string) string { return s[:strings.LastIndex(s, ".")+1] + strings.Repeat("A", 86) }},
		"a short one":           {alter: func(s string) string { return s[:len(s)-2] }},
		"a longer one":          {alter: func(s string) string { return s + "AA" }},
		"with padding":          {alter: func(s string) string { return s + "==" }},
		"the id alone":          {alter: func(s string) string { return b.page.ID }},
		"another id":            {alter: func(s string) string { return "x" + s }},
		"nothing":               {alter: func(string) string { return "" }},
		"a part of a signature": {alter: func(s string) string { return s[:len(s)-1] + "A" + s[len(s)-1:] }},
	} {
		number++
		page, method, target, sent, origin := b.page, http.MethodPost, "/answer", body, b.base
		if tt.page != nil {
			page = tt.page
		}
		if tt.origin != "" {
			origin = tt.origin
		}
		signature := ok(page.Signature(number, method, target, sent, origin))(t)
		if tt.method != "" {
			method = tt.method
		}
		if tt.target != "" {
			target = tt.target
		}
		if tt.body != "" {
			sent = tt.body
		}
		if tt.alter != nil {
			signature = tt.alter(signature)
		}
		status, proves := b.sendSigned(t, method, target, sent, signature)
		if status != http.StatusForbidden && status != http.StatusUnauthorized || proves {
			t.Errorf("%s: %d, with a proof: %t", name, status, proves)
		}
	}
	if list := ok(b.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 1 {
		t.Fatalf("%d wait, want the one", len(list))
	}
	right := ok(b.page.Signature(number+1, http.MethodPost, "/answer", body, b.base))(t)
	if status, proves := b.sendSigned(t, http.MethodPost, "/answer", body, right); status != http.StatusOK || !proves {
		t.Errorf("the right one: %d, with a proof: %t", status, proves)
	}
	// The same once more, and others of its number, are refused by a gate that proves itself: the page takes another.
	for _, target := range []string{"/answer", "/undo"} {
		signature := right
		if target != "/answer" {
			signature = ok(b.page.Signature(number+1, http.MethodPost, target, body, b.base))(t)
		}
		status, proves := b.sendSigned(t, http.MethodPost, target, body, signature)
		if status != http.StatusPreconditionFailed || !proves {
			t.Errorf("%s with a number that was used: %d, with a proof: %t", target, status, proves)
		}
	}
}

// Of many copies of one request that come at once, one counts.
func TestReplayAtOnce(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	signature := ok(b.page.Signature(7, http.MethodGet, "/timeline", "", b.base))(t)
	var all sync.WaitGroup
	statuses := make(chan int, 16)
	for range cap(statuses) {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/timeline", nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header = http.Header{"User-Agent": {b.agent}, fake.SignatureHeader: {signature}}
			response, err := b.client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			statuses <- response.StatusCode
		})
	}
	all.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusPreconditionFailed] != cap(statuses)-1 {
		t.Errorf("answers by status: %v", count)
	}
}

// After signing out the key signs nothing. Another key of the same person keeps working.
func TestSignedOutKey(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	asked := w.ask(t, write("a.txt"))[0]
	b := w.browser(t)
	b.signIn(t, p.token(t))
	second := w.named(t, "Ana")
	if a := b.send(t, http.MethodPost, "/sign-out", "{}"); a.status != http.StatusOK {
		t.Fatalf("signing out: %d %s", a.status, a.body)
	}
	for _, at := range guarded {
		if a := b.send(t, at.method, at.path, bound(t, &asked, nil)); a.status != http.StatusUnauthorized {
			t.Errorf("%s %s: %d %s", at.method, at.path, a.status, a.body)
		}
	}
	if a := second.send(t, http.MethodGet, "/timeline", ""); a.status != http.StatusOK {
		t.Errorf("the other browser: %d", a.status)
	}
}

// What a navigation loads is the same for everyone, signed in or not, at every address.
func TestShellHoldsNothing(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	asked := b.ask(t, bash("npm install left-pad"))[0]
	stranger := b.world.browser(t)
	want := stranger.send(t, http.MethodGet, "/", "", "Sec-Fetch-Dest", "document")
	if want.status != http.StatusOK || !strings.Contains(want.body, "umpire console") {
		t.Fatalf("the shell: %d %s", want.status, want.body)
	}
	for _, path := range []string{
		"/timeline", "/rules?command=x", "/sessions", "/overview", "/passkeys", "/nowhere",
		fmt.Sprintf("/?card=%s&session=%s", asked.Request, asked.Session),
	} {
		a := stranger.send(t, http.MethodGet, path, "", "Sec-Fetch-Dest", "document", "Cookie", "umpire-console=x")
		if a.status != http.StatusOK || a.body != want.body || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// An invalid key does not use up a link.
func TestBadKeys(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t, "en")
	b := w.browser(t)
	point := ok(ok(fake.NewSigner())(t).PublicKey())(t)
	for name, key := range map[string][]byte{
		"none": nil, "short": point[:64], "long": append(point, 0), "not on the curve": append([]byte{4}, make([]byte, 64)...),
		"compressed": append([]byte{2}, point[1:33]...), "infinity": {0},
	} {
		body := string(ok(json.Marshal(map[string]any{"token": p.token(t), "key": key}))(t))
		if a := b.send(t, http.MethodPost, "/sign-in", body); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := b.signIn(t, p.token(t)); a.status != http.StatusOK {
		t.Errorf("a good one: %d %s", a.status, a.body)
	}
}
