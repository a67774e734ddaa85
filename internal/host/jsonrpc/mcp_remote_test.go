package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// dial returns a side of a server that a test plays.
func dial(t *testing.T, serve http.HandlerFunc) *MCPRemote {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	r := DialMCP(t.Context(), server.URL, http.Header{"X-Key": {"k"}})
	r.endTime = time.Minute // a busy machine does not get through in two seconds
	t.Cleanup(r.Close)
	return r
}

func say(t *testing.T, r *MCPRemote, line string) {
	t.Helper()
	if err := r.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, r *MCPRemote) Message {
	t.Helper()
	line, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// No matter what a server does, its client gets one answer, under the id of its request.
func TestEveryRequestIsAnswered(t *testing.T) {
	t.Parallel()
	body := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, text)
		}
	}
	good := `{"jsonrpc":"2.0","id":"a","result":{}}`
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		error string // "" for the server's own answer
	}{
		"an answer":            {body(200, "application/json; charset=utf-8", "{\n\"jsonrpc\":\"2.0\",\n\"id\":\"a\",\"result\":{}}"), ""},
		"an answer of events":  {body(200, "text/event-stream", "event: message\ndata: "+good+"\n\n"), ""},
		"data of two lines":    {body(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":\"a\",\"result\":{}}\r\n\r\n"), ""},
		"an error of its own":  {body(400, "application/json", `{"jsonrpc":"2.0","id":"a","error":{"code":-32022}}`), ""},
		"no content":           {body(204, "", ""), "204"},
		"not found":            {body(404, "text/plain", "no"), "404"},
		"a page":               {body(200, "text/html", "<html>"), "200"},
		"another's answer":     {body(200, "application/json", `{"jsonrpc":"2.0","id":"b"}`), ""},
		"two meanings":         {body(200, "application/json", `{"id":"a","id":"b","result":{}}`), "200"},
		"a list":               {body(200, "application/json", "["+good+"]"), "200"},
		"an event without end": {body(200, "text/event-stream", "data: "+good), "was cut off"},
		"a redirect":           {http.RedirectHandler("https://b.example", http.StatusTemporaryRedirect).ServeHTTP, "does not follow"},
		"a sign-in": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://a.example/meta"`)
			w.WriteHeader(http.StatusUnauthorized)
		}, `resource_metadata=\"https://a.example/meta\"), which umpire does not support: give it a token with --header`},
		"a sign-in without a word": {body(401, "text/plain", "no"), "requires sign-in (401 Unauthorized)"},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := dial(t, c.serve)
			say(t, r, `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`)
			m := hear(t, r)
			if m.Key() == `"b` { // a stranger's answer comes before umpire's own
				c.error = "200"
				m = hear(t, r)
			}
			if m.Key() != `"a` || (c.error == "") != (m.Result != nil || strings.Contains(string(m.Error), "-32022")) ||
				!strings.Contains(string(m.Error), c.error) {
				t.Errorf("got %s, want %q", m.Raw, c.error)
			}
		})
	}
}

// A stream that breaks is taken up again after its last event, and the request is sent once.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	posts := 0
	r := dial(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if q.Method == http.MethodPost {
			posts++
			io.WriteString(w, "retry: 1\nid: s-0\ndata:\n\n")
			return
		}
		if q.Header.Get("Last-Event-Id") != "s-0" {
			http.Error(w, "which", http.StatusBadRequest)
			return
		}
		io.WriteString(w, "id: s-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	})
	say(t, r, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	if m := hear(t, r); m.Result == nil || posts != 1 {
		t.Errorf("%d posts, %s", posts, m.Raw)
	}
}

// The session, the version and the names travel as the protocol wants it, and no secret with an
// error.
func TestHeaders(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 8)
	r := dial(t, func(w http.ResponseWriter, q *http.Request) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		json.NewDecoder(q.Body).Decode(&m)
		h := q.Header
		seen <- strings.Join([]string{q.Method, h.Get("X-Key"), h.Get(headerSession), h.Get(headerVersion), h.Get(headerMethod), h.Get(headerName)}, " ")
		if m.ID == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(headerSession, "S1")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, m.ID)
	})
	say(t, r, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	hear(t, r)
	say(t, r, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(t, r, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"é","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	hear(t, r)
	want := map[string]bool{
		"POST k    ": true, "POST k S1 2025-06-18  ": true, "GET k S1 2025-06-18  ": true,
		"POST k S1 2026-07-28 tools/call =?base64?w6k=?=": true,
	}
	for range len(want) {
		if got := <-seen; !want[got] {
			t.Errorf("sent %q", got)
		}
	}
	r.Close()
	if got := <-seen; got != "DELETE k S1 2025-06-18  " {
		t.Errorf("ended with %q", got)
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

// A server that does not accept a notice delays only later messages.
func TestCancel(t *testing.T) {
	t.Parallel()
	arrived, gone := make(chan bool, 1), make(chan bool, 1)
	r := dial(t, func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if strings.Contains(string(body), "tools/call") {
			arrived <- true
			<-q.Context().Done()
			gone <- true
		}
		w.WriteHeader(http.StatusAccepted)
	})
	say(t, r, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	<-arrived
	say(t, r, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the request goes on")
	}
}
