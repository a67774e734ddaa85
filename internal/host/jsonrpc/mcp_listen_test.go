package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A served is a listener with sessions that answer what they are asked: "echo" with its
// parameters, "slow" when it is cancelled, and "ask" with a request of the server's.
type served struct {
	t         *testing.T
	url       string
	cancelled chan string
	began     chan bool
}

func startListener(t *testing.T) *served {
	t.Helper()
	return startListenerWith(t, nil)
}

// startListenerWith has sessions that a test plays; nil are those of a served.
func startListenerWith(t *testing.T, begin func(context.Context, Side) error) *served {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, url: "http://" + on.Addr().String() + MCPPath, cancelled: make(chan string, 8), began: make(chan bool, 64)}
	if begin == nil {
		begin = s.session
	}
	l := &MCPListener{Token: "T", Begin: begin, Report: func(err error) { t.Log(err) }}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- l.Serve(ctx, on) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) session(_ context.Context, client Side) error {
	s.began <- true
	for line, err := client.Read(); err == nil; line, err = client.Read() {
		m, err := Parse(line)
		if err != nil {
			return err
		}
		switch m.Method {
		case "slow":
			client.Write(Call(nil, "notifications/tools/list_changed", nil))
			continue
		case methodCancelled:
			s.cancelled <- string(m.Params)
			continue
		case "end":
			return io.ErrUnexpectedEOF
		}
		if meta, err := rename(m.Params, "_meta", "progressToken", nil); err != nil && meta != nil {
			client.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, err))
		}
		if m.IsRequest() {
			client.Write(Answer(m.ID, map[string]any{"params": m.Params, "protocolVersion": "2025-11-25"}))
		}
	}
	return nil
}

// A reply is the response to an HTTP request; its body is closed at the end of the test.
type reply struct {
	Status     string
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

// do makes a request of HTTP. Fields are "Name: value".
func (s *served) do(method, body string, fields ...string) reply {
	s.t.Helper()
	q, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer T")
	q.Header.Set("Content-Type", typeJSON)
	q.Header.Set("Accept", typeJSON+", "+typeEvents)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if q.Header.Set(name, value); name == "Host" {
			q.Host = value
		}
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	return reply{answer.Status, answer.StatusCode, answer.Header, answer.Body}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`

// begin begins a session, and returns the header field that names it.
func (s *served) begin() string {
	s.t.Helper()
	answer := s.do(http.MethodPost, hello)
	io.Copy(io.Discard, answer.Body)
	id := answer.Header.Get(headerSession)
	if id == "" {
		s.t.Fatalf("no session: %s", answer.Status)
	}
	return headerSession + ": " + id
}

func events(t *testing.T, body io.Reader) (all []event) {
	t.Helper()
	in := bufio.NewReader(body)
	for {
		e, err := readEvent(in)
		if err != nil {
			return all
		}
		all = append(all, e)
	}
}

func TestOnlyProgramsOfThisMachine(t *testing.T) {
	t.Parallel()
	s := startListener(t)
	for _, c := range []struct {
		field  string
		status int
	}{
		{"Origin: http://localhost:3000", http.StatusForbidden},
		{"Origin: null", http.StatusForbidden},
		{"Host: evil.example", http.StatusForbidden},
		{"Host: 127.0.0.1.evil.example:80", http.StatusForbidden},
		{"Authorization: Bearer t", http.StatusUnauthorized},
		{"Authorization: T", http.StatusUnauthorized},
		{"Content-Type: text/plain", http.StatusUnsupportedMediaType},
		{"Accept: application/json", http.StatusNotAcceptable},
		{headerSession + ": made-up", http.StatusNotFound},
		{"Host: localhost:1", http.StatusOK},
		{"Host: [::1]:1", http.StatusOK},
	} {
		if answer := s.do(http.MethodPost, hello, c.field); answer.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", c.field, answer.Status, c.status)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		if answer := s.do(method, ""); answer.StatusCode/100 != 4 {
			t.Errorf("%s without a session: %s", method, answer.Status)
		}
	}
}

// Any body may be posted: the answer is a message under the id that was asked with, or there is
// none.
func TestPostedBytes(t *testing.T) {
	t.Parallel()
	s := startListener(t)
	session := s.begin()
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a","method":"echo"}`:           `200 "a"`,
		`{"jsonrpc":"2.0","id":-3.50,"method":"echo"}`:         `200 -3.50`,
		`{"jsonrpc":"2.0","id":7,"method":"x","method":"y"}`:   `400 7`,
		`{"jsonrpc":"2.0","id":7,"Method":"tools/call"}`:       `400 7`,
		`{"jsonrpc":"2.0","id":{},"method":"echo"}`:            `400 null`,
		`{"jsonrpc":"2.0","id":[1],"method":"echo"}`:           `400 null`,
		`[{"jsonrpc":"2.0","id":7,"method":"echo"}]`:           `400 null`,
		`{"jsonrpc":"2.0","id":7,"method":"echo"} {}`:          `400 null`,
		`{"jsonrpc":"2.0"}`:                                    `400 null`,
		"":                                                     `400 null`,
		"\xff":                                                 `400 null`,
		`{"jsonrpc":"2.0","method":"notifications/x"}`:         `202 `,
		`{"jsonrpc":"2.0","id":99,"result":{}}`:                `202 `,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`: `202 `,
	} {
		answer := s.do(http.MethodPost, body, session)
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events(t, strings.NewReader(string(text))) {
			text = e.data
		}
		id := ""
		if len(text) > 0 {
			m, err := Parse(text)
			if err != nil || m.Method != "" || m.Result == nil && m.Error == nil {
				t.Errorf("%s: answered %s: %v", body, text, err)
			}
			id = string(m.ID)
		}
		if got := fmt.Sprintf("%d %s", answer.StatusCode, id); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// Clients without sessions use the same ids and tokens, and each gets its own answer.
func TestClientsWithoutSessions(t *testing.T) {
	t.Parallel()
	s := startListener(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}`
	fields := []string{headerVersion + ": 2026-07-28", headerMethod + ": tools/call", headerName + ": =?base64?w6k=?="}
	for i := range 3 {
		answer := s.do(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","n":%d,%s}}`, i, meta), fields...)
		got := events(t, answer.Body)
		if len(got) != 2 || !strings.Contains(string(got[0].data), `"progressToken":1`) ||
			!strings.Contains(string(got[1].data), fmt.Sprintf(`"n":%d`, i)) || !strings.Contains(string(got[1].data), `"id":1,`) || got[1].id != "" {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for _, field := range []string{headerMethod + ": tools/list", headerName + ": b", headerVersion + ": 2099-01-01"} {
		answer := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é",`+meta+`}}`, append(fields, field)...)
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "-32020") {
			t.Errorf("%s: %s %s", field, answer.Status, text)
		}
	}
	if len(s.began) != 1 {
		t.Errorf("%d sessions began", len(s.began))
	}
	// A client that goes away has cancelled.
	ctx, cancel := context.WithCancel(t.Context())
	q, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"slow","params":{`+meta+`}}`))
	q.Header = http.Header{"Authorization": {"Bearer T"}, "Content-Type": {typeJSON}, "Accept": {typeEvents}, headerVersion: {"2026-07-28"}, headerMethod: {"slow"}}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cancel()
	select {
	case <-s.cancelled:
	case <-time.After(time.Minute):
		t.Error("the request goes on")
	}
}

// A client that lost its stream resumes it, and a session's notices have a separate stream.
func TestStreamsOfASession(t *testing.T) {
	t.Parallel()
	s := startListener(t)
	session := s.begin()
	version := headerVersion + ": 2025-11-25"
	answer := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"progressToken":"p"}}}`, session, version)
	got := events(t, answer.Body)
	if len(got) != 3 || got[0].data != nil || !strings.Contains(string(got[1].data), `"progressToken":"p"`) {
		t.Fatalf("got %+v", got)
	}
	again := events(t, s.do(http.MethodGet, "", session, headerLastEvent+": "+got[1].id).Body)
	if len(again) != 1 || again[0].id != got[2].id || string(again[0].data) != string(got[2].data) {
		t.Errorf("taken up again: %+v, want %+v", again, got[2])
	}
	if answer := s.do(http.MethodGet, "", session, headerLastEvent+": other-1"); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a stream that never was: %s", answer.Status)
	}
	s.do(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"slow"}`, session, version)
	first, err := readEvent(bufio.NewReader(s.do(http.MethodGet, "", session).Body))
	if err != nil || !strings.Contains(string(first.data), "list_changed") {
		t.Errorf("notices: %s, %v", first.data, err)
	}
	// The same id again, while it waits.
	twice := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"echo"}`, session)
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	if json.NewDecoder(twice.Body).Decode(&said); said.Error == nil {
		t.Errorf("an id that waits was taken again")
	}
	s.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, session)
	if params := <-s.cancelled; !strings.Contains(params, `"requestId":"h`) {
		t.Errorf("cancelled with %s", params)
	}
	// Another client is not stalled by any of this, and the end is the end.
	other := s.begin()
	if answer := s.do(http.MethodDelete, "", other); answer.StatusCode != http.StatusNoContent {
		t.Errorf("end: %s", answer.Status)
	}
	if answer := s.do(http.MethodPost, hello, other); answer.StatusCode != http.StatusNotFound {
		t.Errorf("after the end: %s", answer.Status)
	}
	last := events(t, s.do(http.MethodPost, `{"jsonrpc":"2.0","id":3,"method":"end"}`, session).Body)
	if len(last) != 1 || !strings.Contains(string(last[0].data), "ended the session") {
		t.Errorf("a server that ends: %+v", last)
	}
}

// The session does not wait for a client that reads nothing, and bounds the memory for it.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	f := newFront(t.Context(), "s")
	big := strings.Repeat("x", 1<<20)
	line := Call(nil, "notifications/message", json.RawMessage(`"`+big+`"`))
	for range 3 * maxKept >> 20 {
		if err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if f.kept > maxKept || f.ctx.Err() != nil {
		t.Errorf("%d bytes are kept; the session is over: %v", f.kept, f.ctx.Err())
	}
	go func() {
		for {
			if _, err := f.Read(); err != nil {
				return
			}
		}
	}()
	var keys []string
	for i := range 5 {
		_, key, err := f.takeRequest(t.Context(), &Message{ID: fmt.Append(nil, i), Method: "x", Params: json.RawMessage(`{"_meta":{"progressToken":1}}`)})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		if err := f.Write(Answer(json.RawMessage(key+`"`), strings.Repeat("x", 30<<20))); err != nil {
			t.Fatal(err)
		}
	}
	if f.kept > maxSessionKept || f.ctx.Err() != nil {
		t.Errorf("%d bytes are kept; the session is over: %v", f.kept, f.ctx.Err())
	}
	if gone := f.leftAlone(time.Now().Add(2 * graceTime)); gone != nil || f.ctx.Err() != nil {
		t.Errorf("gone: %v", gone)
	}
	if f.leftAlone(time.Now().Add(2 * idleTime)); f.ctx.Err() == nil {
		t.Error("a session that nobody uses goes on")
	}
}

// FuzzPost posts arbitrary bytes. The answer is an unambiguous message, or there is no answer and
// nothing was asked.
func FuzzPost(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":7,"method":"echo"}`)
	f.Add(`{"jsonrpc":"2.0","id":1e400,"method":"echo","params":{"_meta":{"progressToken":[1]}}}`)
	f.Add(`{"jsonrpc":"2.0","id":"\ud800","method":"echo"}`)
	f.Add("\n{\"id\":1,\n\"method\":\"x\"}\n")
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "slow") || strings.Contains(body, "end") || strings.Contains(body, `\u`) {
			return // the server of this test does not answer these
		}
		s := startListener(t)
		answer := s.do(http.MethodPost, body, s.begin(), headerVersion+": 2025-11-25")
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events(t, strings.NewReader(string(text))) {
			text = e.data
		}
		asked, wrong := readMessage([]byte(body))
		if len(text) == 0 {
			if wrong != nil || asked.IsRequest() {
				t.Fatalf("%q: no answer, %s", body, answer.Status)
			}
			return
		}
		m, err := Parse(text)
		if err != nil || !m.HasValidID() || m.Method != "" || (m.Result == nil) == (m.Error == nil) {
			t.Fatalf("%q: answered %s: %v", body, text, err)
		}
		if wrong == nil && m.Key() != asked.Key() {
			t.Fatalf("%q: answered %s", body, m.ID)
		}
	})
}

// TestSignIn: a server that requires sign-in gets the fields that the person named, and never the
// client's own. The client learns the server's requirement, and sees no 401.
func TestSignIn(t *testing.T) {
	t.Parallel()
	asked := make(chan http.Header, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked <- q.Header
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://a.example/meta"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	s := startListenerWith(t, func(ctx context.Context, client Side) error {
		remote := DialMCP(ctx, server.URL, http.Header{"X-Key": {"k"}})
		defer remote.Close()
		relay := Relay{Client: client, Server: remote, HangUp: remote.Close}
		relay.Begin(ctx)
		return relay.Run(remote.Write, client.Write)
	})
	answer := s.do(http.MethodPost, hello)
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if h := <-asked; h.Get("Authorization") != "" || h.Get("X-Key") != "k" {
		t.Errorf("the server was sent %v", h)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("WWW-Authenticate") != "" || !strings.Contains(string(text), `a.example/meta\"`) {
		t.Errorf("the client got %s %v: %s", answer.Status, answer.Header, text)
	}
	if len(asked) > 0 {
		t.Errorf("the server was asked again: %v", <-asked)
	}
}
