package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/server"
)

// badInput are requests that are refused before the gate is called, with a word that the
// error must contain.
var badInput = []struct{ procedure, body, word string }{
	{"GateService/Check", ``, "JSON object"},
	{"GateService/Check", `null`, "JSON object"},
	{"GateService/Check", `[]`, "JSON object"},
	{"GateService/Check", `"tool"`, "JSON object"},
	{"GateService/Check", `{"tool":`, "request"},
	{"GateService/Check", `{"tool":"T"} {}`, "request"},
	{"GateService/Check", "{\"tool\":\"\xff\"}", "UTF-8"},
	{"GateService/Check", `{"tool":"Read","tool":"Bash"}`, `"tool" appears twice`},
	{"GateService/Check", `{"tool":"Read","Tool":"Bash"}`, `both "Tool" and "tool"`},
	{"GateService/Submit", `{"calls":[{"id":"c1","tool":"Read"},{"id":"c2","tool":"Read","tool":"Bash"}]}`, `calls[1]: "tool" appears twice`},
	{"GateService/Resolve", `{"request_id":"r1","answer":"deny","answer":"approve"}`, `"answer" appears twice`},
	{"GateService/Check", `{"tool":3}`, "tool: want a string, got number"},
	{"GateService/Check", `{"background":"yes"}`, "background: want true or false, got string"},
	{"GateService/Check", `{"extra":[]}`, "extra: want an object, got array"},
	{"GateService/Submit", `{"calls":{}}`, "calls: want a list, got object"},
	{"GateService/Submit", `{"calls":[{"tool":[]}]}`, "calls.tool: want a string"},
	{"GateService/Submit", `{"epoch":1.5}`, "epoch: want a whole number"},
	{"GateService/Submit", `{"epoch":"1"}`, "epoch: want a whole number"},
	{"GateService/Submit", `{"epoch":99999999999999999999}`, "epoch: want a whole number"},
	{"GateService/Submit", `{"mode":"yolo"}`, `mode: mode "yolo"`},
	{"GateService/Submit", `{"tighten":[{"action":"maybe"}]}`, `tighten: verdict "maybe"`},
	{"GateService/GetBatch", `{"session_id":"s1","batch_id":"b1","wait_ms":-1}`, "wait_ms"},
	{"GateService/GetBatch", `{"session_id":{}}`, "session_id"},
	{"GateService/ListPending", `{"project_id":1}`, "project_id: want"},
	{"GateService/Resolve", `{"request_id":"r1","answer":"yes"}`, `answer: answer "yes"`},
	{"GateService/Resolve", `{"request_id":"r1","answer":"approve","scope":"forever"}`, `scope: scope "forever"`},
	{"GateService/Resolve", `{"request_id":7}`, "request_id"},
	{"GateService/Resolve", `{"request_id":"r1","version":"x"}`, "version"},
	{"GateService/Start", `{"group":"x"}`, "group: want a whole number"},
	{"GateService/Finish", `{"at":"yesterday"}`, "at: "},
	{"GateService/Finish", `{"output":{}}`, "output: want a string"},
	{"SessionService/Open", `{"add_dirs":"x"}`, "add_dirs: want a list"},
	{"SessionService/Open", `{"mode":7}`, "mode"},
	{"SessionService/Continue", `{"working_dir":false}`, "working_dir"},
	{"SessionService/List", `{"limit":"all"}`, "limit: want"},
	{"SessionService/Latest", `{"working_dir":7}`, "working_dir"},
	{"SessionService/GetConversation", `{"limit":"all"}`, "limit: want"},
	{"SessionService/SetMode", `{"allow_all":"true"}`, "allow_all: want true or false"},
	{"SessionService/Prompt", `{"text":["x"]}`, "text"},
	{"SessionService/Compose", `{"epoch":true}`, "epoch"},
	{"RuleService/Add", `{"rule":{"match":{"pathGlob":3}}}`, "rule.match.pathGlob"},
	{"RuleService/Add", `{"rule":{"expires_at":"soon"}}`, "rule: "},
	{"RuleService/Add", `{"scope":"here"}`, `scope: scope "here"`},
	{"RuleService/Remove", `{"rule_id":[]}`, "rule_id"},
	{"TimelineService/List", `{"after":-1}`, "after"},
	{"TimelineService/List", `{"session_id":"s\u0000"}`, "session_id: contains U+0000"},
	{"SessionService/Open", `{"working_dir":"/p","session_id":"s\n1"}`, "session_id: contains U+000A"},
	{"SessionService/Open", `{"working_dir":"/p","parent":"s\u202e1"}`, "parent: contains U+202E"},
	{"SessionService/Continue", `{"working_dir":"/p","session_id":"s\u001b[2J"}`, "session_id: contains U+001B"},
	{"SessionService/Get", `{"session_id":"` + strings.Repeat("x", 257) + `"}`, "session_id: longer than 256 bytes"},
	{"SessionService/End", `{"session_id":"s\u007f"}`, "session_id: contains U+007F"},
	{"SessionService/Prompt", `{"session_id":"s\u0000","text":"x"}`, "session_id: contains U+0000"},
	{"GateService/Submit", `{"session_id":"s1","batch_id":"b\u0000","calls":[]}`, "batch_id: contains U+0000"},
	{"GateService/Submit", `{"session_id":"s1","batch_id":"b1","calls":[{"id":"c1","tool":"LS"},{"id":"c\u0000","tool":"LS"}]}`, "calls[1].id: contains U+0000"},
	{"GateService/Start", `{"session_id":"s1","batch_id":"b1","call_id":"c\r"}`, "call_id: contains U+000D"},
	{"GateService/Finish", `{"session_id":"s1","batch_id":"b1","call_id":"c\t"}`, "call_id: contains U+0009"},
	{"GateService/Resolve", `{"request_id":"r\u0000","answer":"deny"}`, "request_id: contains U+0000"},
	{"GateService/ListPending", `{"session_id":"s\u2028"}`, "session_id: contains U+2028"},
	{"RuleService/Remove", `{"working_dir":"/p","rule_id":"a\u0000"}`, "rule_id: contains U+0000"},
	{"TimelineService/List", `{"limit":-1}`, "limit"},
	{"TimelineService/List", `{"last":-1}`, "last"},
	{"TimelineService/List", `{"last":1,"limit":1}`, "last"},
	{"TimelineService/List", `{"after":"x"}`, "after: want"},
	{"TimelineService/List", `{"session_id":7}`, "session_id: want"},
	{"TimelineService/List", `{"paged":"x"}`, "paged: want"},
}

func TestMalformedInputNamesTheField(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, row := range badInput {
			got := w.call(t, row.procedure, credentials.Person, row.body)
			message, _ := got.fields["message"].(string)
			if got.status != 400 || got.fields["code"] != "invalid_argument" || got.fields["reason_code"] != "invalid" ||
				!strings.Contains(" "+message, " "+row.word) {
				t.Errorf("%s %s: %d %s, want %q", row.procedure, row.body, got.status, got.body, row.word)
			}
		}
		w.gate.mu.Lock()
		defer w.gate.mu.Unlock()
		for method := range w.gate.got {
			if method != "Sessions" { // a person's credential requires looking up the runners
				t.Errorf("the gate was asked for %s", method)
			}
		}
		if w.gate.answer != nil || w.gate.batch.State != umpire.BatchWaiting {
			t.Error("the state has changed")
		}
	})
}

func TestMalformedProtobufIsInvalid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		got := w.call(t, "GateService/Check", credentials.Agent, "\xff\xff\xff", "Content-Type", "application/proto")
		if got.status != 400 || got.fields["reason_code"] != "invalid" {
			t.Errorf("bytes that are no message: %d %s", got.status, got.body)
		}
		for name, options := range rpcClients {
			gate := w.gateClient(t, credentials.Person, options...)
			_, err := gate.Resolve(t.Context(), connect.NewRequest(&umpirev1.Answer{RequestId: "r1", Answer: "yes"}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "answer: ") {
				t.Errorf("%s: answer: %v", name, err)
			}
			infinite := structpb.NewNumberValue(inf())
			_, err = gate.Check(t.Context(), connect.NewRequest(&umpirev1.Call{Tool: "T", Input: infinite}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "input") {
				t.Errorf("%s: a number that JSON has no word for: %v", name, err)
			}
		}
		if w.gate.last("Check") != nil || w.gate.last("Resolve") != nil {
			t.Error("the gate was asked")
		}
	})
}

func inf() float64 {
	zero := 0.0
	return 1 / zero
}

func TestUnknownIDsChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for procedure, body := range map[string]string{
			"GateService/Resolve":  `{"request_id":"r9","answer":"approve"}`,
			"GateService/GetBatch": `{"session_id":"s1","batch_id":"b9","wait_ms":60000}`,
			"SessionService/Get":   `{"session_id":"unknown"}`,
			"TimelineService/List": `{"session_id":"unknown"}`,
		} {
			got := w.call(t, procedure, credentials.Person, body)
			if got.status != 404 || got.fields["code"] != "not_found" || got.fields["reason_code"] != "not_found" {
				t.Errorf("%s %s: %d %s", procedure, body, got.status, got.body)
			}
		}
		if got := w.call(t, "GateService/Resolve", credentials.Person, `{"request_id":"r1"}`); got.status != 400 || got.fields["reason_code"] != "invalid" {
			t.Errorf("an answer that says nothing: %d %s", got.status, got.body)
		}
		if w.gate.answer != nil || w.gate.batch.State != umpire.BatchWaiting {
			t.Error("the state has changed")
		}
	})
}

// failures are the gate's errors, and their form in the protocol.
var failures = []struct {
	err    error
	code   connect.Code
	word   string
	status int
	text   string
	is     error // for the Go client; nil means err
}{
	{fmt.Errorf("session %q: %w", "s", umpire.ErrNotFound), connect.CodeNotFound, "not_found", 404, `session "s": not found`, nil},
	{fmt.Errorf("epoch: want 1: %w", umpire.ErrInvalid), connect.CodeInvalidArgument, "invalid", 400, "epoch: want 1: invalid", nil},
	{fmt.Errorf("calls wait: %w", umpire.ErrState), connect.CodeFailedPrecondition, "state", 400, "calls wait: refused by state", nil},
	{fmt.Errorf("args_hash: %w", umpire.ErrChanged), connect.CodeFailedPrecondition, "changed", 409, "args_hash: " + umpire.ErrChanged.Error(), nil},
	{umpire.ErrFenced, connect.CodeAborted, "fenced", 409, umpire.ErrFenced.Error(), nil},
	{fmt.Errorf("s9 of 0123456789ab, here 9876543210fe: %w", umpire.ErrOtherProject), connect.CodePermissionDenied, "other_project", 403,
		"s9 of 0123456789ab, here 9876543210fe: belongs to another project", nil},
	{fmt.Errorf("pending: %w", umpire.ErrLimit), connect.CodeResourceExhausted, "limit", 429, "pending: limit reached", nil},
	{fmt.Errorf("disk full: %w", umpire.ErrNotRecorded), connect.CodeUnavailable, "not_recorded", 503, "disk full: not recorded", nil},
	{context.DeadlineExceeded, connect.CodeDeadlineExceeded, "deadline", 504, "context deadline exceeded", nil},
	{errors.New("a \"quoted\"\nfault"), connect.CodeInternal, "internal", 500, "a \"quoted\"\nfault", nil},
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, row := range failures {
			w.gate.mu.Lock()
			w.gate.fails = map[string]error{"Check": row.err}
			w.gate.mu.Unlock()
			got := w.call(t, "GateService/Check", credentials.Agent, `{}`)
			want := map[string]any{"code": row.code.String(), "reason_code": row.word, "message": row.text}
			maps.DeleteFunc(got.fields, func(name string, _ any) bool { return name == "details" })
			if got.status != row.status || !maps.Equal(got.fields, want) {
				t.Errorf("%v over Connect: %d %v, want %d %v", row.err, got.status, got.fields, row.status, want)
			}
			decision, err := w.client(t, credentials.Agent).Check(t.Context(), umpire.Call{})
			if err == nil || err.Error() != row.text || row.word != "internal" && !errors.Is(err, row.err) && !errors.Is(err, errors.Unwrap(row.err)) {
				t.Errorf("%v in the Go client: %v", row.err, err)
			}
			if decision.Verdict != umpire.Deny {
				t.Errorf("%v stands beside %v", err, decision.Verdict)
			}
			for name, options := range rpcClients {
				_, err := w.gateClient(t, credentials.Agent, options...).Check(t.Context(), connect.NewRequest(&umpirev1.Call{}))
				if connect.CodeOf(err) != row.code || detailOf(t, err).GetReasonCode() != row.word {
					t.Errorf("%v over %s: %v (%v)", row.err, name, err, detailOf(t, err))
				}
			}
		}
	})
}

func TestPanicIsInternalAndSaysNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.gate.panics = "Check"
		got := w.call(t, "GateService/Check", credentials.Agent, `{}`)
		if got.status != 500 || got.fields["code"] != "internal" || got.fields["message"] != "internal error" {
			t.Errorf("over Connect: %d %s", got.status, got.body)
		}
		if _, err := w.client(t, credentials.Agent).Check(t.Context(), umpire.Call{}); err == nil || err.Error() != "internal error" {
			t.Errorf("in the Go client: %v", err)
		}
		for name, options := range rpcClients {
			_, err := w.gateClient(t, credentials.Agent, options...).Check(t.Context(), connect.NewRequest(&umpirev1.Call{}))
			if connect.CodeOf(err) != connect.CodeInternal || strings.Contains(err.Error(), "secret") {
				t.Errorf("over %s: %v", name, err)
			}
		}
		if got := w.call(t, "GateService/Submit", credentials.Agent, `{}`); got.status != 200 {
			t.Errorf("the next request: %d %s", got.status, got.body)
		}
	})
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		text := strings.Repeat("x", 1<<20)
		large := w.call(t, "GateService/Start", credentials.Agent, `{"runner":"`+text+`"}`)
		if large.status != 429 || large.fields["code"] != "resource_exhausted" || large.fields["reason_code"] != "limit" || w.gate.last("Start") != nil {
			t.Errorf("a Start of over 1 MiB: %d %.200s", large.status, large.body)
		}
		for _, size := range []int{10, 23} {
			body := `{"tool":"Write","input":{"content":"` + strings.Repeat(text, size) + `"}}`
			if got := w.call(t, "GateService/Check", credentials.Agent, body); got.status != 200 {
				t.Errorf("a call of %d MiB: %d %.200s", size, got.status, got.body)
			}
		}
		body := `{"tool":"Write","input":{"content":"` + strings.Repeat(text, 24) + `"}}`
		if got := w.call(t, "GateService/Check", credentials.Agent, body); got.status != 429 || got.fields["reason_code"] != "limit" {
			t.Errorf("a call of over 24 MiB: %d %.200s", got.status, got.body)
		}
		if got := w.call(t, "GateService/Check", credentials.Agent, `{}`, "X-Large", text[:32<<10]); got.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 32 KiB: %d", got.status)
		}
		if got := w.call(t, "GateService/Check", credentials.Agent, `{}`, "Umpire-Client", "cli\u202e"); got.status != 400 {
			t.Errorf("a client with an odd name: %d %s", got.status, got.body)
		}
		if got := w.call(t, "GateService/Check", credentials.Agent, `{}`, "Content-Encoding", "br"); got.fields["reason_code"] != "invalid" {
			t.Errorf("an unknown compression: %d %s", got.status, got.body)
		}
		if got := w.call(t, "GateService/Check", credentials.Agent, `{}`, "Content-Type", "text/plain"); got.status != 415 {
			t.Errorf("plain text: %d %s", got.status, got.body)
		}
	})
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{Limits: server.Limits{PerSecond: 5}})
	w.server.StopClock() // or a slow machine could stay within five requests per second
	refused := 0
	for range 30 {
		got := w.call(t, "GateService/Check", credentials.Agent, `{}`)
		if got.status == 429 && got.fields["reason_code"] == "limit" {
			refused++
		} else if got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if refused != 20 {
		t.Errorf("30 requests at once, of 10 that are allowed, and %d were refused", refused)
	}
	if got := w.call(t, "GateService/Check", credentials.Person, `{}`); got.status != 200 {
		t.Errorf("another credential is refused too: %d %s", got.status, got.body)
	}
}

func TestTooManyRequestsAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	gate := newFake()
	gate.blocks, gate.entered = make(chan struct{}), make(chan struct{})
	w := serve(t, "tcp", server.Config{Gate: gate, Limits: server.Limits{InFlight: 2}})
	c := w.client(t, credentials.Agent)
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := c.Check(t.Context(), umpire.Call{})
			done <- err
		}()
		<-gate.entered
	}
	if _, err := c.Check(t.Context(), umpire.Call{}); !errors.Is(err, umpire.ErrLimit) {
		t.Errorf("the third one: %v", err)
	}
	_, err := w.gateClient(t, credentials.Agent, connect.WithGRPC()).Check(t.Context(), connect.NewRequest(&umpirev1.Call{}))
	if connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("the third one over gRPC: %v", err)
	}
	close(gate.blocks)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	go func() { <-gate.entered }()
	if _, err := c.Check(t.Context(), umpire.Call{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// The deadline of a call reaches the gate, and its expiry is returned as such.
func TestDeadlinesTravel(t *testing.T) {
	t.Parallel()
	gate := newFake()
	gate.blocks, gate.entered = make(chan struct{}), make(chan struct{}, 2)
	w := serve(t, "unix", server.Config{Gate: gate})
	got := w.call(t, "GateService/Check", credentials.Agent, `{}`, "Connect-Timeout-Ms", "20")
	if got.status != 504 || got.fields["reason_code"] != "deadline" {
		t.Errorf("%d %s", got.status, got.body)
	}
	select {
	case <-gate.entered:
	default: // it expired before reaching the gate
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := w.client(t, credentials.Agent).Check(ctx, umpire.Call{})
		ended <- err
	}()
	<-gate.entered
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, server.ErrUnreachable) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"unix:" + shortDir(t) + "/none.sock", "127.0.0.1:1"} {
		c, err := server.Dial(address, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Check(t.Context(), umpire.Call{}); !errors.Is(err, server.ErrUnreachable) {
			t.Errorf("%s: %v", address, err)
		}
		for _, err := range c.Watch(t.Context(), umpire.Filter{}) {
			if !errors.Is(err, server.ErrUnreachable) {
				t.Errorf("%s: watching: %v", address, err)
			}
		}
	}
	for _, address := range []string{"", "unix:", "somewhere", "http://127.0.0.1:1"} {
		if _, err := server.Dial(address, "x"); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

// The server gives up on a body that does not arrive, but not on a held request.
func TestSlowBodyIsGivenUp(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	hastily(t, func(t *testing.T, w *world) {
		conn, err := w.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /umpire.v1.GateService/Check HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", strings.TrimPrefix(w.base, "http://"), credentials.Agent)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK || w.gate.last("Check") != nil {
			t.Errorf("half a request is answered %s", answer.Status)
		}
		if b, err := w.client(t, credentials.Agent).Await(t.Context(), "s1", "b1", hasty+time.Second); err != nil || b.State != umpire.BatchWaiting {
			t.Errorf("a request that is held for longer than a body may take: %v, %v", b.State, err)
		}
	})
}
