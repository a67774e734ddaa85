package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A proxiedGate approves, denies or holds a call by a word in its input.
type proxiedGate struct {
	ProxyGate

	finished  chan umpire.Result
	submitted atomic.Pointer[umpire.Call]
}

func (g *proxiedGate) Submit(_ context.Context, s umpire.Submission) (umpire.Batch, error) {
	c := umpire.BatchCall{ID: s.Calls[0].ID, State: umpire.CallDenied, Reason: umpire.Verbatim("a bad thing")}
	b := umpire.Batch{ID: s.Batch, Session: s.Session, State: umpire.BatchFinished}
	g.submitted.Store(&s.Calls[0])
	switch text := string(s.Calls[0].Input); {
	case strings.Contains(text, "good"):
		c.State, b.State = umpire.CallApproved, umpire.BatchRunning
	case strings.Contains(text, "held"):
		c.State, b.State = umpire.CallAsked, umpire.BatchWaiting
	}
	b.Calls = []umpire.BatchCall{c}
	return b, nil
}

func (g *proxiedGate) Await(
	ctx context.Context, session umpire.SessionID, batch umpire.BatchID, _ time.Duration,
) (umpire.Batch, error) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
	c := umpire.BatchCall{ID: umpire.CallID(batch), State: umpire.CallAsked}
	return umpire.Batch{ID: batch, Session: session, State: umpire.BatchWaiting, Calls: []umpire.BatchCall{c}}, nil
}

func (g *proxiedGate) Start(_ context.Context, s umpire.Start) (umpire.Started, error) {
	return umpire.Started{Go: true, Call: umpire.Call{ID: s.Call, Session: s.Session, Batch: s.Batch}}, nil
}

func (g *proxiedGate) Finish(_ context.Context, r umpire.Result) (umpire.Batch, error) {
	g.finished <- r
	return umpire.Batch{}, nil
}

// A proxyEnd is the client or the server, as a test plays it.
type proxyEnd struct {
	t   testing.TB
	in  *bufio.Reader
	out io.WriteCloser
	fed io.Closer
}

func newProxyEnd(t testing.TB) (*proxyEnd, *jsonrpc.Peer) {
	t.Helper()
	fromProxy, toEnd := io.Pipe()
	fromEnd, toProxy := io.Pipe()
	t.Cleanup(func() { toProxy.Close(); fromProxy.Close() })
	return &proxyEnd{t, bufio.NewReader(fromProxy), toProxy, toEnd}, jsonrpc.NewPeer(fromEnd, toEnd)
}

func (e *proxyEnd) say(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.out, format+"\n", args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *proxyEnd) hear() string {
	e.t.Helper()
	line, err := e.in.ReadString('\n')
	if err != nil {
		e.t.Fatalf("read: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (e *proxyEnd) hears(want string) {
	e.t.Helper()
	if got := e.hear(); got != want {
		e.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// lists answers umpire's own question for the tools.
func (e *proxyEnd) lists(tools string) {
	e.t.Helper()
	m, err := jsonrpc.Parse([]byte(e.hear()))
	if err != nil || m.Method != methodList {
		e.t.Fatalf("asked %s: %v", m.Raw, err)
	}
	e.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, m.ID, tools)
}

func startMCP(t testing.TB) (client, server *proxyEnd, gate *proxiedGate, done chan error) {
	t.Helper()
	client, clientPeer := newProxyEnd(t)
	server, serverPeer := newProxyEnd(t)
	gate = &proxiedGate{finished: make(chan umpire.Result, 8)}
	p := &Proxy{
		Client: clientPeer, Server: serverPeer, Gate: gate, Name: "s", Key: make([]byte, 32),
		Pins: &Pins{Path: filepath.Join(t.TempDir(), "pins.json")},
	}
	done = make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { done <- p.Run(ctx) }()
	return client, server, gate, done
}

const oneTool = `[{"name":"t","inputSchema":{"type":"object"}}]`

func TestProxyCalls(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	good := `{"jsonrpc":"2.0", "id":"a","method":"tools/call","params":{"name":"t","arguments":{"x":"good"}}}`
	client.say("%s", good)
	server.lists(oneTool)
	server.hears(good)
	server.say(`{"jsonrpc":"2.0","id":"a","result":{"content":[]}}`)
	client.hears(`{"jsonrpc":"2.0","id":"a","result":{"content":[]}}`)
	if r := <-gate.finished; r.Status != umpire.ResultOK {
		t.Errorf("finished as %s", r.Status)
	}
	client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"bad"}}}`)
	server.lists(oneTool)
	client.hears(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"umpire: a bad thing","type":"text"}],"isError":true}}`)
}

func TestProxyHoldsUntilCancelled(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"held"},"_meta":{"progressToken":7}}}`)
	server.lists(oneTool)
	if got := client.hear(); !strings.Contains(got, `"progressToken":7`) {
		t.Errorf("no progress: %s", got)
	}
	go io.Copy(io.Discard, client.in)
	client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if r := <-gate.finished; r.Status != umpire.ResultCancelled {
		t.Errorf("finished as %s", r.Status)
	}
	client.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	server.hears(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // and not the cancelled call before it
}

// A message that is not forwarded is answered under its own id, if it has one that can be read.
func TestProxyAnswersWhatItRefuses(t *testing.T) {
	t.Parallel()
	client, server, _, _ := startMCP(t)
	for line, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"x","method":"tools/call"}`:           "7",
		`{"jsonrpc":"2.0","id":"a","Method":"tools/call"}`:                      `"a"`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1,"a":2}}`: "7",
		`[{"jsonrpc":"2.0","id":7,"method":"tools/call"}]`:                      "null",
		`{"jsonrpc":"2.0","id":{},"method":"tools/call"}`:                       "null",
		`{"jsonrpc":"2.0","id":[7],"method":"ping"}`:                            "null",
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                           "null",
		`{"jsonrpc":"2.0","id":7,"method":"Tools/Call"}`:                        "7",
		`{"jsonrpc":"2.0","id":7,"method":" tools/call"}`:                       "7",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call\u0000"}`:                  "7",
		`{"jsonrpc":"2.0","id":7,"method":"tools/invoke"}`:                      "7",
		"{\"id\":7,\"method\":\"\xff\"}":                                        "null",
		`nonsense`:                                                              "null",
	} {
		client.say("%s", line)
		if m, err := jsonrpc.Parse([]byte(client.hear())); err != nil || string(m.ID) != id || m.Error == nil {
			t.Errorf("%s: %s, %v; want an error for %s", line, m.Raw, err, id)
		}
	}
	for _, quiet := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}`, `{"jsonrpc":"2.0","id":null,"method":"tools/call"}`,
	} {
		client.say("%s", quiet)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	client.say("%s", ping)
	server.hears(ping) // and nothing before it
}

// A tool that is another one to a rule, or to the server, is not called.
func TestProxyToolsOfOneName(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	go func() {
		for range gate.finished {
		}
	}()
	for list, called := range map[string]string{
		`[{"name":"a.b"},{"name":"a b"}]`:                         "a.b",
		`[{"name":"a_b"}]`:                                        "a.b",
		`[{"name":"t"},{"name":"t","title":"another"}]`:           "t",
		`[{"name":"t\u200b"}]`:                                    "t_",
		`[{"name":"t"},{"name":"t","name":"t"},{"name":"t"}]`:     "t",
		`[{"name":"r\u0435ad"},{"name":"other"},{"name":"r_ad"}]`: "r_ad",
	} {
		client.say(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":{"x":"good"}}}`, list, called)
		server.lists(list)
		want := "share the name"
		if strings.Contains(list, `"name":"t","name"`) {
			want = "cannot be read"
		}
		if got := client.hear(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", list, got)
		}
	}
}

// A file that a server reads for its client is judged as one that the client reads.
func TestProxyFilesByURI(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	read := func(uri string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"resources/read","params":{"uri":%q}}`, uri, uri)
	}
	for uri, path := range map[string]string{
		"file:///bad": "/bad", "FILE:///b%61d": "/bad", "file:/bad": "/bad", "file:bad": "bad", "file://localhost/bad": "/bad",
		"/bad": "/bad", "../bad": "../bad", "C:/bad": "C:/bad", "file://host/bad": "//host/bad", "file:///bad?x#y": "/bad",
	} {
		client.say("%s", read(uri))
		if got := client.hear(); !strings.Contains(got, `"error":{"code":-32001,"message":"umpire: a bad thing"}`) {
			t.Errorf("%s: %s", uri, got)
		}
		want := fmt.Sprintf(`{"file_path":%q}`, path)
		if call := gate.submitted.Load(); call.Tool != "Read" || strings.TrimSpace(string(call.Input)) != want {
			t.Errorf("%s: judged as %s of %s, want %s", uri, call.Tool, call.Input, want)
		}
	}
	// A server may drop a character that makes the address another one to umpire, wherever it stands.
	for _, c := range []string{"\t", "\n", "\r", " ", "\u00a0", "\u200b", "\ufeff", "\u202e", "\x00", "\x7f", "\u0085", "\u2028"} {
		for at := range len("file:///good") + 1 {
			uri := "file:///good"[:at] + c + "file:///good"[at:]
			for _, method := range []string{"read", "subscribe", "unsubscribe"} {
				address, _ := json.Marshal(uri)
				client.say(`{"jsonrpc":"2.0","id":1,"method":"resources/%s","params":{"uri":%s}}`, method, address)
				if got := client.hear(); !strings.Contains(got, "invisible character") {
					t.Errorf("%s of %q: %s", method, uri, got)
				}
			}
		}
	}
	for _, uri := range []string{"https://example.com/bad", "memo://bad", "file:///good"} {
		client.say("%s", read(uri))
		server.hears(read(uri))
		server.say(`{"jsonrpc":"2.0","id":%q,"result":{}}`, uri)
		client.hears(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{}}`, uri))
	}
}

// A method that a careless server could take for one that is judged is not forwarded.
func TestIsForwarded(t *testing.T) {
	t.Parallel()
	for _, method := range []string{methodCall, methodList, methodResource} {
		if !isForwarded(method) {
			t.Errorf("%q is refused", method)
		}
		variants := []string{strings.ToUpper(method), strings.Title(method), strings.ReplaceAll(method, "s", "\u017f")} //nolint:staticcheck // of ASCII
		for at := range len(method) + 1 {
			for _, c := range []string{" ", "\t", "\u200b", "\u00a0", "\x00"} {
				variants = append(variants, method[:at]+c+method[at:])
			}
		}
		for _, variant := range variants {
			if isForwarded(variant) {
				t.Errorf("%q is forwarded", variant)
			}
		}
	}
	for _, method := range []string{
		"resources/list", "resources/templates/list", "resources/subscribe", "prompts/get", "logging/setLevel",
		"notifications/tools/list_changed", "sampling/createMessage", "initialize",
	} {
		if !isForwarded(method) {
			t.Errorf("%q is refused", method)
		}
	}
}

// A tool that is described otherwise than the client was told asks.
func TestProxyListChangedBeforeTheCall(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	client.say("%s", list)
	server.hears(list)
	server.say(`{"jsonrpc":"2.0","id":1,"result":{"tools":%s}}`, oneTool)
	client.hear()
	for _, anew := range []bool{false, true} {
		tools := oneTool
		if anew {
			tools = strings.Replace(oneTool, `"name"`, `"title":"other","name"`, 1)
		}
		client.say(`{"jsonrpc":"2.0","id":"%v","method":"tools/call","params":{"name":"t","arguments":{"x":"bad"}}}`, anew)
		server.lists(tools)
		client.hear()
		if got := gate.submitted.Load().Extra["described_anew"] != nil; got != anew {
			t.Errorf("described anew: %v, want %v", got, anew)
		}
	}
}

// A server's answer that comes before the question, or too late, answers nothing.
func TestProxyEarlyAnswers(t *testing.T) {
	t.Parallel()
	client, server, gate, _ := startMCP(t)
	client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"held"}}}`)
	asked, err := jsonrpc.Parse([]byte(server.hear()))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "1.0", "10e-1"} {
		server.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"made up"}]}}`, id)
	}
	for range 2 {
		server.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, asked.ID, oneTool)
	}
	server.say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	client.hears(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	client.say(`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"t","arguments":{"x":"good"}}}`)
	if got := client.hear(); !strings.Contains(got, "is already waiting") {
		t.Errorf("an id that is held was taken again: %s", got)
	}
	for gate.submitted.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if r := <-gate.finished; r.Status != umpire.ResultCancelled {
		t.Errorf("finished as %s", r.Status)
	}
	// A call that the server has: it need not answer when it is cancelled.
	client.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"x":"good"}}}`)
	server.lists(oneTool)
	server.hear()
	client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	server.hear()
	if r := <-gate.finished; r.Status != umpire.ResultCancelled {
		t.Errorf("finished as %s", r.Status)
	}
}

// TestProxyForwardsAllElse: a message that is not a call comes out byte for byte and in order.
func TestProxyForwardsAllElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		client, server, _, _ := startMCP(t)
		for _, way := range [][2]*proxyEnd{{client, server}, {server, client}} {
			lines := rapid.SliceOfN(rapid.Custom(drawLine), 1, 8).Draw(r, "lines")
			go func() {
				for _, line := range lines {
					way[0].say("%s", line)
				}
			}()
			for _, line := range lines {
				way[1].hears(line)
			}
		}
		server.out.Close()
	})
}

func drawLine(r *rapid.T) string {
	text, err := json.Marshal(rapid.String().Draw(r, "text"))
	if err != nil {
		r.Fatal(err)
	}
	method := rapid.SampledFrom([]string{"initialize", "tools/list", "resources/read", "x/y"}).Draw(r, "method")
	id := rapid.SampledFrom([]string{"", `"id":"x",`, `"id":-3.50,`}).Draw(r, "id")
	return fmt.Sprintf(`{%s "jsonrpc":"2.0","method":%q,"params":{"a":%s}}`, id, method, text)
}

// FuzzProxyClient gives the proxy any bytes as the client's. No call reaches the server that
// the gate has not let start.
func FuzzProxyClient(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"bad"}}}`)
	f.Add(`{"id":1,"method":"x","method":"tools/call","params":{"name":"t"}}`)
	f.Add("[{\"method\":\"tools/call\"}]\n{\"Method\":\"tools/call\",\"id\":1}")
	f.Fuzz(func(t *testing.T, said string) {
		if strings.Contains(said, "good") {
			return
		}
		client, server, gate, done := startMCP(t)
		go func() {
			for range gate.finished {
			}
		}()
		go io.Copy(io.Discard, client.in)
		go func() {
			io.WriteString(client.out, said+"\n")
			client.out.Close()
		}()
		go func() {
			time.Sleep(time.Millisecond)
			server.out.Close()
			<-done
			server.fed.Close()
		}()
		for {
			line, err := server.in.ReadString('\n')
			if err != nil {
				return
			}
			m, err := jsonrpc.Parse([]byte(line))
			if err != nil && line != "\n" || m.Method == methodCall {
				t.Fatalf("forwarded %q", line)
			}
		}
	})
}

// FuzzProxyServer gives the proxy arbitrary bytes from the server. The client must only get
// unambiguous messages, none of which answers umpire's own requests, and for its call umpire's
// denial or an error.
func FuzzProxyServer(f *testing.F) {
	for _, said := range []string{
		`{"jsonrpc":"2.0","id":{{ID}},"result":{"tools":[{"name":"t","name":"u"}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		`{"jsonrpc":"2.0","id":1.0,"id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":{{ID}},"id":2,"result":{}}`,
		"log: ready\n\n{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"id\":1}",
		`[{"jsonrpc":"2.0","id":1,"result":{}}]`,
		`{"jsonrpc":"2.0","id":{{ID}},"result":{"tools":{},"nextCursor":7}}`,
		`{"jsonrpc":"2.0","id":{{ID}},"error":{"code":"x"}}`,
	} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said string) {
		client, server, gate, done := startMCP(t)
		go func() {
			for range gate.finished {
			}
		}()
		client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"bad"}}}`)
		asked, err := jsonrpc.Parse([]byte(server.hear()))
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, server.in) // it may be asked for more
		defer func() {
			go io.Copy(io.Discard, client.in)
			client.out.Close()
			server.out.Close()
			<-done
		}()
		go func() {
			id := string(asked.ID)
			io.WriteString(server.out, strings.ReplaceAll(said, "{{ID}}", id)+"\n")
			io.WriteString(server.out, `{"jsonrpc":"2.0","id":`+id+`,"result":{"tools":[]}}`+"\n")
			io.WriteString(server.out, `{"jsonrpc":"2.0","id":"umpire-last","method":"ping"}`+"\n")
		}()
		answered, last := false, false
		for !last || !answered {
			line := client.hear()
			m, err := jsonrpc.Parse([]byte(line))
			switch {
			case strings.TrimSpace(line) == "":
			case err != nil || m.IsResponse() && strings.HasPrefix(m.Key(), strings.TrimSuffix(string(asked.ID), `1"`)):
				t.Fatalf("the client got %q: %v", line, err)
			case m.Method == "ping" && string(m.ID) == `"umpire-last"`:
				last = true
				if strings.Contains(said, "nextCursor") {
					return // it is asked for the next page, and never answers
				}
			case m.Key() == "1" && m.IsResponse() && !strings.Contains(line, "umpire: "):
				t.Fatalf("the call that was not let run was answered: %s", line)
			case m.Key() == "1" && m.IsResponse():
				answered = true
			}
		}
	})
}
