package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/umpirehq/umpire"
)

// secretValue is what a command must never see.
const secretValue = "s3cret/value+1234"

// leasedWorld returns a world with a lease for api.example.com, and its placeholder.
func leasedWorld(t *testing.T, site http.HandlerFunc, listed ...string) (w *world, trusted *x509.CertPool, placeholder string) {
	t.Helper()
	w = newWorld(t, listed...)
	lease, err := NewLease("API_TOKEN", "api.example.com", []string{"GET", "POST"}, []string{"/repos/me/*"})
	if err != nil {
		t.Fatal(err)
	}
	lease.Value = func() (string, error) { return secretValue, nil }
	w.proxy.leases = activate([]Lease{lease})
	server := httptest.NewUnstartedServer(site)
	server.StartTLS()
	t.Cleanup(server.Close)
	w.proxy.roots = x509.NewCertPool()
	w.proxy.roots.AddCert(server.Certificate())
	for _, host := range []string{"api.example.com", "www.example.com"} {
		w.host(host, publicAddr, 443, server.Listener.Addr().String())
		w.host("", publicAddr, 80, website(t))
	}
	text, err := w.proxy.Authorities()
	if err != nil {
		t.Fatal(err)
	}
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	_, placeholder, _ = strings.Cut(w.proxy.Placeholders()[0], "=")
	return w, trusted, placeholder
}

// asked sends a request to api.example.com, and returns the whole answer.
func (w *world) askedOver(t *testing.T, trusted *x509.CertPool, request string) string {
	t.Helper()
	conn := tls.Client(w.direct(t, "api.example.com", portHTTPS), &tls.Config{ServerName: "api.example.com", RootCAs: trusted})
	return say(conn, request)
}

func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

// TestLease: a secret leaves in the fields of requests that its lease covers, and nowhere else.
func TestLease(t *testing.T) {
	t.Parallel()
	const good = "GET /repos/me/x HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n"
	for name, tt := range map[string]struct {
		request string // <P> stands for the placeholder
		want    string // in the request as the server sees it; "" if it must not get there
		why     Reason
	}{
		"bearer":          {good + "Authorization: Bearer <P>\r\n\r\n", "Authorization:Bearer " + secretValue, 0},
		"its own field":   {good + "Private-Token: <P>\r\n\r\n", "Private-Token:" + secretValue, 0},
		"a cookie":        {good + "Cookie: a=b; s=<P>\r\n\r\n", "Cookie:a=b; s=" + secretValue, 0},
		"a password":      {good + "Authorization: " + "<x:P>" + "\r\n\r\n", "Authorization:" + basic("x:"+secretValue), 0},
		"a user":          {good + "Authorization: " + "<P:>" + "\r\n\r\n", "Authorization:" + basic(secretValue+":"), 0},
		"no placeholder":  {good + "\r\n", "GET /repos/me/x", 0},
		"a post":          {strings.Replace(good, "GET", "POST", 1) + "Authorization: <P>\r\nContent-Length: 2\r\n\r\n{}", "Authorization:" + secretValue, 0},
		"an upgrade":      {good + "Upgrade: websocket\r\nAuthorization: <P>\r\n\r\n", "Authorization:" + secretValue, 0},
		"a whole address": {strings.Replace(good, "GET /", "GET http://api.example.com:443/", 1) + "Authorization: <P>\r\n\r\n", "Authorization:" + secretValue, 0},

		"another path":       {"GET /user HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: <P>\r\n\r\n", "", MisplacedSecret},
		"a path without it":  {"GET /user HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "", NotLeased},
		"another method":     {strings.Replace(good, "GET", "DELETE", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"dots":               {strings.Replace(good, "me/x", "me/../other", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"escaped dots":       {strings.Replace(good, "me/x", "me/%2e%2E/other", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"a double slash":     {strings.Replace(good, "me/x", "me//x", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"parameters":         {strings.Replace(good, "me/x", "me/..;/x", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"a method override":  {good + "X-HTTP-Method-Override: DELETE\r\nAuthorization: <P>\r\n\r\n", "", MisplacedSecret},
		"with underscores":   {good + "X_HTTP_Method_Override: DELETE\r\nAuthorization: <P>\r\n\r\n", "", MisplacedSecret},
		"one in the query":   {strings.Replace(good, "me/x", "me/x?_method=DELETE", 1) + "Authorization: <P>\r\n\r\n", "", MisplacedSecret},
		"a path override":    {good + "X-Original-URL: /user\r\nAuthorization: <P>\r\n\r\n", "", MisplacedSecret},
		"the path":           {strings.Replace(good, "me/x", "me/<P>", 1) + "\r\n", "", MisplacedSecret},
		"the query":          {strings.Replace(good, "me/x", "me/x?t=<P>", 1) + "\r\n", "", MisplacedSecret},
		"a field's name":     {good + "<P>: x\r\n\r\n", "", MisplacedSecret},
		"in lower case":      {good + "<p>: x\r\n\r\n", "", MisplacedSecret},
		"a stored field":     {good + "Content-Type: <P>\r\n\r\n", "", MisplacedSecret},
		"a logged field":     {good + "User-Agent: <P>\r\n\r\n", "", MisplacedSecret},
		"a hop":              {good + "TE: <P>\r\n\r\n", "", MisplacedSecret},
		"a part of Basic":    {good + "Authorization: <x:y>\r\n\r\n", "", MisplacedSecret},
		"another host":       {"GET /repos/me/x HTTP/1.1\r\nHost: www.example.com\r\nAuthorization: <P>\r\n\r\n", "", OtherHost},
		"two lengths":        {good + "Content-Length: 0\r\nContent-Length: 4\r\nAuthorization: <P>\r\n\r\nabcd", "", BadRequest},
		"length and chunks":  {good + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\nAuthorization: <P>\r\n\r\n0\r\n\r\n", "", BadRequest},
		"a tunnel":           {"CONNECT www.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: <P>\r\n\r\n", "", BadRequest},
		"the whole server":   {"OPTIONS * HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: <P>\r\n\r\n", "", MisplacedSecret},
		"the next request":   {strings.Replace(good, "Connection: close\r\n", "\r\n", 1) + "GET /user HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: <P>\r\n\r\n", "GET /repos/me/x", MisplacedSecret},
		"the body":           {strings.Replace(good, "GET", "POST", 1) + "Content-Length: 40\r\n\r\n<P>" + strings.Repeat("x", 60), "", MisplacedSecret},
		"a chunk":            {strings.Replace(good, "GET", "POST", 1) + "Transfer-Encoding: chunked\r\n\r\n21\r\n<P>\r\n0\r\n\r\n", "", MisplacedSecret},
		"chunks":             {strings.Replace(good, "GET", "POST", 1) + "Transfer-Encoding: chunked\r\n\r\n7\r\numpire_\r\n1a\r\n<REST>\r\n0\r\n\r\n", "", MisplacedSecret},
		"a trailer":          {strings.Replace(good, "GET", "POST", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: <P>\r\n\r\n", "", BadRequest},
		"a field without it": {good + "Authorization: Bearer mine\r\n\r\n", "Authorization:Bearer mine", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := make(chan string, 9)
			w, trusted, placeholder := leasedWorld(t, func(out http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				for name, values := range r.Header {
					body = fmt.Appendf(body, "\n%s:%s", name, strings.Join(values, "|"))
				}
				if err == nil {
					seen <- r.Method + " " + r.RequestURI + "\n" + string(body)
				}
			})
			request := strings.NewReplacer(
				"<P>", placeholder, "<p>", strings.ToLower(placeholder), "<REST>", strings.TrimPrefix(placeholder, "umpire_"),
				"<x:P>", basic("x:"+placeholder), "<P:>", basic(placeholder+":"), "<x:y>", basic("x:a"+placeholder),
			).Replace(tt.request)
			answer := w.askedOver(t, trusted, request)
			done := w.refuses(tt.why)
			got := ""
			select {
			case got = <-seen:
			default:
			}
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" || strings.Contains(got, placeholder) {
				t.Errorf("the server got %q, want %q\n%s", got, tt.want, answer)
			}
			if sent := strings.Contains(tt.want, secretValue) || strings.Contains(tt.want, "Basic"); sent != (len(done.Uses) > 0) {
				t.Errorf("recorded %+v", done.Uses)
			}
			if (tt.why == MisplacedSecret) != (done.Misplaced == "API_TOKEN") {
				t.Errorf("recorded %+v", done)
			}
			if len(done.Uses) > 0 && done.Uses[0].Request[len(done.Uses[0].Request)-len(" /repos/me/x"):] != " /repos/me/x" {
				t.Errorf("recorded %+v", done.Uses)
			}
		})
	}
}

// TestLeaseElsewhere: a placeholder in clear text, or to another host that is listed, is refused.
func TestLeaseElsewhere(t *testing.T) {
	t.Parallel()
	w, _, placeholder := leasedWorld(t, describe, "www.example.com", "api.example.com")
	for _, request := range []string{
		"GET http://www.example.com/?t=" + placeholder + " HTTP/1.1\r\nHost: www.example.com\r\n\r\n",
		"GET http://api.example.com/repos/me/x HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: " + basic("x:"+placeholder) + "\r\n\r\n",
	} {
		if got := say(w.open(t), request); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
			t.Errorf("%s", got)
		}
		w.refuses(MisplacedSecret)
	}
	w.silent()
	conn := w.direct(t, "www.example.com", portHTTP)
	got := say(conn, "POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 33\r\n\r\n"+placeholder)
	if strings.Contains(got, placeholder) {
		t.Errorf("%s", got)
	}
	var sum Traffic
	sum.Note(w.refuses(MisplacedSecret))
	_, refused := sum.Sum()
	want := umpire.TrialAttempt{Kind: umpire.AttemptSecret, Target: "API_TOKEN@www.example.com:80"}
	if !slices.Equal(refused, []umpire.TrialAttempt{want}) {
		t.Errorf("%v", refused)
	}
}

// TestListedAndLeased: what the list permits at a leased host goes without the secret.
func TestListedAndLeased(t *testing.T) {
	t.Parallel()
	w, trusted, placeholder := leasedWorld(t, describe, "api.example.com")
	const other = "PUT /other HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n"
	if got := w.askedOver(t, trusted, other+"\r\n"); !strings.Contains(got, "PUT api.example.com /other") {
		t.Errorf("%s", got)
	}
	w.refuses(0)
	w.askedOver(t, trusted, other+"Authorization: "+placeholder+"\r\n\r\n")
	w.refuses(MisplacedSecret)
	w.proxy.Judge = func(_ context.Context, _ Destination, e Entry, _ Reason) umpire.Verdict {
		if e.leased {
			return umpire.Allow
		}
		return umpire.Deny
	}
	w.askedOver(t, trusted, other+"\r\n")
	w.refuses(NotLeased)
	w.proxy.List = List{[]Entry{{Text: "pages", Group: "pages", host: "api.example.com", port: portHTTPS}}}
	w.proxy.Judge = nil
	w.askedOver(t, trusted, other+"\r\n")
	w.refuses(NotFetching)
}

// TestEndedLease: once a lease has ended, nothing is sent for it.
func TestEndedLease(t *testing.T) {
	t.Parallel()
	w, trusted, placeholder := leasedWorld(t, describe)
	w.proxy.leases[0].Value = func() (string, error) { return "", errors.New("it has ended") }
	w.askedOver(t, trusted, "GET /repos/me/x HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: "+placeholder+"\r\n\r\n")
	if done := w.refuses(MisplacedSecret); done.Up > 0 && len(done.Uses) > 0 {
		t.Errorf("%+v", done)
	}
	w.askedOver(t, trusted, "GET /repos/me/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
	w.refuses(NotLeased)
}

// TestReflectedSecret: an answer that repeats the secret shows the placeholder.
func TestReflectedSecret(t *testing.T) {
	t.Parallel()
	w, trusted, placeholder := leasedWorld(t, func(out http.ResponseWriter, r *http.Request) {
		shown := r.Header.Get("Authorization") + r.Header.Get("X-Token")
		out.Header().Set("X-Echo", shown)
		if strings.HasSuffix(r.RequestURI, "encoded") {
			out.Header().Set("Content-Encoding", "gzip")
		}
		if r.Header.Get("Range") != "" || r.Header.Get("Accept-Encoding") != "identity" {
			out.WriteHeader(http.StatusPartialContent)
		}
		for _, part := range []string{shown[:len(shown)/2], shown[len(shown)/2:], " and more"} {
			_, _ = io.WriteString(out, part)
			if strings.HasSuffix(r.RequestURI, "flushed") {
				_ = http.NewResponseController(out).Flush()
			}
		}
	})
	for _, form := range []string{"Authorization: Bearer <P>", "Authorization: <x:P>", "X-Token: <P>"} {
		for _, path := range []string{"flushed", "whole", "encoded"} {
			sent := strings.NewReplacer("<P>", placeholder, "<x:P>", basic("x:"+placeholder)).Replace(form)
			_, value, _ := strings.Cut(sent, ": ")
			got := w.askedOver(t, trusted, "GET /repos/me/"+path+" HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n"+
				"Range: bytes=1-2\r\nAccept-Encoding: gzip\r\n"+sent+"\r\n\r\n")
			if path == "encoded" {
				if !strings.HasPrefix(got, "HTTP/1.1 502 ") {
					t.Errorf("%s", got)
				}
				w.refuses(BadResponse)
				continue
			}
			if strings.Contains(got, secretValue) || strings.Contains(got, basic("x:" + secretValue)[6:]) ||
				!strings.Contains(got, "X-Echo: "+value) || !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "and mor") {
				t.Errorf("%s, %s: %s", form, path, got)
			}
			w.refuses(0)
		}
	}
}

// TestLeaseUnderRules: a lease leads out a command although nothing is listed, unless a rule speaks against its host.
func TestLeaseUnderRules(t *testing.T) {
	t.Parallel()
	leases := []Lease{{Name: "T", Host: "api.example.com"}}
	for name, tt := range map[string]struct {
		decision umpire.Decision
		want     bool
	}{
		"asks by itself": {umpire.Decision{Verdict: umpire.Ask}, true},
		"allows":         {umpire.Decision{Verdict: umpire.Allow}, true},
		"a rule asks":    {umpire.Decision{Verdict: umpire.Ask, Rule: &umpire.RuleRef{}}, false},
		"denies":         {umpire.Decision{}, false},
	} {
		p, err := NewProxy(Way{
			Listed: []string{"npm"}, Network: umpire.NetworkAsk, Leases: leases,
			Decide: func(context.Context, umpire.Call) (umpire.Decision, error) { return tt.decision, nil },
		})
		if err != nil || len(p.Placeholders()) != 1 || len(p.List.entries) != 0 {
			t.Fatal(p, err)
		}
		d := Destination{"api.example.com", portHTTPS}
		entry, found := p.entryOf(d)
		if got := p.Judge(t.Context(), d, entry, 0); (got == umpire.Allow) != tt.want || !found {
			t.Errorf("%s: got %s", name, got)
		}
		if _, found := p.entryOf(Destination{"api.example.com", portHTTP}); found {
			t.Error("a lease covers clear text")
		}
	}
}

// TestUnreadGroups: to a command that trusts no further authority, a group is an entry like any other. With once, each
// of its hosts needs an approval in the session.
func TestUnreadGroups(t *testing.T) {
	t.Parallel()
	for network, want := range map[umpire.NetworkAnswer]string{umpire.NetworkOnce: "Bash", umpire.NetworkListed: "WebFetch"} {
		last := ""
		p, err := NewProxy(Way{
			Listed: []string{"npm"}, Network: network, Unread: true,
			Decide: func(_ context.Context, call umpire.Call) (umpire.Decision, error) {
				last = call.Tool
				return umpire.Decision{Verdict: umpire.Ask}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		d := Destination{"registry.npmjs.org", portHTTPS}
		entry, found := p.entryOf(d)
		if verdict := p.Judge(t.Context(), d, entry, 0); !found || entry.seals(d) || verdict != umpire.Ask || last != want {
			t.Errorf("%d: %s of %s, found %t, read %t", network, verdict, last, found, entry.seals(d))
		}
	}
}

func TestNewLease(t *testing.T) {
	t.Parallel()
	good := func(path string) bool {
		_, err := NewLease("T", "api.example.com", []string{"GET"}, []string{path})
		return err == nil
	}
	for path, want := range map[string]bool{
		"/": true, "/*": true, "/a/*": true, "/a/*/b*": true, "/@me%2f*": true, "/a/b.git/info/refs": true,
		"": false, "a": false, "/a/../b": false, "/a//b": false, "/**": false, "/a;b": false, "/a?b": false, "/%2e%2e/a": false,
		"/a b": false, "/%": false, "/ä": false,
	} {
		if good(path) != want {
			t.Errorf("%q: want %t", path, want)
		}
	}
	for _, bad := range [][3]string{
		{"", "api.example.com", "GET"}, {"A-B", "api.example.com", "GET"}, {"SSL_CERT_FILE", "api.example.com", "GET"},
		{"https_PROXY", "api.example.com", "GET"}, {"PATH", "api.example.com", "GET"}, {"T", "localhost", "GET"},
		{"T", "https://api.example.com", "GET"}, {"T", "10.0.0.1", "GET"}, {"T", "*.example.com", "GET"},
		{"T", "api.example.com:443", "GET"}, {"T", "api.example.com", "get"}, {"T", "api.example.com", "CONNECT"},
		{"T", "api.example.com", "*"},
	} {
		if _, err := NewLease(bad[0], bad[1], []string{bad[2]}, []string{"/*"}); err == nil {
			t.Errorf("%q is a lease", bad)
		}
	}
}

// FuzzLease: a request that a lease covers has one path below its folder, however a server reads it, and a secret is in
// no part of a head but the values of fields.
func FuzzLease(f *testing.F) {
	for _, path := range []string{
		"/repos/me/x", "/repos/me/../x", "/repos/me/%2e%2e/x", "/repos/me%2f..%2fx", "/repos/me/..;/x", "/repos/me/%252e%252e/x",
		"/repos/me/\\..\\x", "/repos/me/.%2e", "/repos/me//x", "/repos/me/%c0%ae%c0%ae/x", "/repos/me/x?_method=PUT", "/repos/me/ ../x",
	} {
		f.Add(path, "Authorization", "Bearer umpire_X")
		f.Add(path, "Authorization", basic("x:umpire_X"))
		f.Add(path, "umpire_X", "Content-Type")
		f.Add(path, "Content-Type", "umpire_X")
	}
	lease, err := NewLease("T", "api.example.com", []string{"GET"}, []string{"/repos/me/*"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, name, value string) {
		lease.Value = func() (string, error) { return secretValue, nil }
		l := &link{to: Destination{"api.example.com", portHTTPS}, entry: Entry{leased: true}}
		l.secrets = inspector{leases: []activeLease{{lease, "umpire_X"}}, listed: func() Entry { return Entry{} }}
		h, err := readHead(bufio.NewReader(strings.NewReader("GET " + path + " HTTP/1.1\r\nHost: api.example.com\r\n" + name + ": " + value + "\r\n\r\n")))
		if err != nil {
			return
		}
		path, reason := h.within(l.to)
		if reason != 0 || l.admitRequest(h, path) != 0 {
			return
		}
		sent := string(h.rewritten(l.to, path))
		if strings.Contains(strings.ToLower(sent), "umpire_x") {
			t.Errorf("a placeholder leaves: %q", sent)
		}
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(sent)))
		if err != nil || request.Method != http.MethodGet || request.Host != "api.example.com" {
			t.Fatalf("sent %q: %v", sent, err)
		}
		clean := request.URL.JoinPath().Path
		if !strings.HasPrefix(request.URL.Path, "/repos/me/") || !strings.HasPrefix(clean, "/repos/me/") ||
			strings.Contains(request.URL.Path, "//") || strings.Contains(request.RequestURI, secretValue) {
			t.Errorf("sent %q", sent)
		}
	})
}

// FuzzFilter: however a text is cut, its words are replaced as in the whole, and none passes.
func FuzzFilter(f *testing.F) {
	f.Add("a secret and secretly", "secret", "secretly", 1)
	f.Add("xxabcabcabd", "abcabd", "abc", 3)
	f.Add("aaaa", "aa", "aaa", 2)
	f.Fuzz(func(t *testing.T, text, first, second string, size int) {
		if first == "" || second == "" || size < 1 {
			return
		}
		words := []word{{first, "\x00"}, {second, "\x01"}}
		want := replaceWords(text, words)
		var got bytes.Buffer
		for _, from := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), &cutReader{text, size}} {
			got.Reset()
			if _, err := io.Copy(&got, &filter{from: from, words: words}); err != nil || got.String() != want {
				t.Errorf("got %q, want %q: %v", got.String(), want, err)
			}
		}
		if !strings.ContainsAny(first+second, "\x00\x01") && (strings.Contains(want, first) || strings.Contains(want, second)) {
			t.Errorf("%q has a word", want)
		}
	})
}

// A cutReader returns pieces of one size.
type cutReader struct {
	text string
	size int
}

func (r *cutReader) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), r.size)], r.text)
	if r.text = r.text[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestUsesAreSummedUp: a sum counts equal requests with a secret, and bounds the different ones.
func TestUsesAreSummedUp(t *testing.T) {
	t.Parallel()
	var sum Traffic
	use := func(path string) []umpire.SecretUse {
		return []umpire.SecretUse{{Name: "T", Request: "GET " + path, Times: 1}}
	}
	for range 3 {
		sum.Note(Connection{Destination: example, How: ByEntry, Uses: use("/a")})
	}
	for i := range 2 * maxUses {
		sum.Note(Connection{Destination: example, How: ByEntry, Uses: use(fmt.Sprint("/", i))})
	}
	reached, _ := sum.Sum()
	total := 0
	for _, u := range reached[0].Secrets {
		total += u.Times
	}
	if uses := reached[0].Secrets; uses[0].Times != 3 || len(uses) != maxUses+1 || total != 3+2*maxUses {
		t.Errorf("%+v", uses)
	}
}
