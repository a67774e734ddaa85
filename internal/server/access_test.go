package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// forAgents tells for each procedure whether an agent's credential suffices.
var forAgents = map[string]bool{
	"GateService/Check": true, "GateService/Submit": true, "GateService/GetBatch": true, "GateService/ListPending": true,
	"GateService/Resolve": false, "GateService/Start": true, "GateService/Finish": true,
	"GateService/BeginTrial": true, "GateService/ReportTrial": true, "GateService/SettleTrial": true,
	"SessionService/Open": true, "SessionService/Continue": true, "SessionService/Get": true, "SessionService/List": false,
	"SessionService/Fork": true, "SessionService/GetConversation": false, "SessionService/Latest": true, "SessionService/SetMode": false, "SessionService/Prompt": true, "SessionService/Compose": true,
	"SessionService/Reply": true, "SessionService/Renew": true, "SessionService/End": true, "SessionService/Delete": false,
	"RuleService/List": true, "RuleService/Add": false, "RuleService/Remove": false, "RuleService/Status": true, "RuleService/Trust": false,
	"GrantService/List": false, "GrantService/ApproveTask": false, "GrantService/Revoke": false, "GrantService/RecordLease": false,
	"GrantService/RecordUse": true,
	"TimelineService/List":   true,
}

func TestEveryProcedureIsInTheTable(t *testing.T) {
	t.Parallel()
	protoregistry.GlobalFiles.RangeFilesByPackage("umpire.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				name := string(service.Name()) + "/" + string(method.Name())
				if _, ok := forAgents[name]; !ok && !method.IsStreamingServer() {
					t.Errorf("%s has no row", name)
				}
			}
		}
		return true
	})
}

// minimal are the requests that need more than {} to be admitted.
var minimal = map[string]string{
	"GateService/GetBatch": `{"session_id":"s1","batch_id":"b1"}`,
	"GateService/Resolve":  `{"request_id":"r1","answer":"deny"}`,
	"TimelineService/List": `{"session_id":"s1"}`,
}

func TestEveryProcedureTakesTheRightCredential(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for procedure, agents := range forAgents {
			body := minimal[procedure]
			if body == "" {
				body = `{}`
			}
			rows := []struct {
				who, token string
				want       int
			}{
				{"nobody", "", 401}, {"a stranger", strings.Repeat("c3", 32), 401}, {"half an agent", credentials.Agent[:32], 401},
				{"an agent", credentials.Agent, 200}, {"a person", credentials.Person, 200},
			}
			for _, row := range rows {
				want := row.want
				if row.who == "an agent" && !agents {
					want = 403
				}
				got := w.call(t, procedure, row.token, body)
				if got.status != want {
					t.Errorf("%s as %s: %d, want %d: %s", procedure, row.who, got.status, want, got.body)
				}
				if want >= 400 && got.fields["reason_code"] != "credential" {
					t.Errorf("%s as %s: reason_code %v: %s", procedure, row.who, got.fields["reason_code"], got.body)
				}
				if want == 401 && got.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s as %s: WWW-Authenticate %q", procedure, row.who, got.header.Get("WWW-Authenticate"))
				}
			}
		}
	})
}

func TestEveryPathTakesACredential(t *testing.T) {
	t.Parallel()
	w := serve(t, "tcp", server.Config{})
	rows := []struct {
		path                  string
		nobody, agent, person int
	}{
		{"/v1/events?session=s1", 401, 200, 200},
		{"/v1/events", 401, 403, 200},
		{"/v1/events?project=p1", 401, 403, 200},
		{"/healthz", 401, 200, 200},
		{"/", 401, 404, 404},
		{"/umpire.v1.GateService/Nothing", 401, 404, 404},
		{"/umpire.v1.GateService/Resolve", 401, 403, 405},
		{"/umpire.v1.GateService/Check", 401, 405, 405},
	}
	for _, row := range rows {
		for token, want := range map[string]int{"": row.nobody, credentials.Agent: row.agent, credentials.Person: row.person} {
			if got := w.ask(t, http.MethodGet, row.path, token, ""); got.status != want {
				t.Errorf("GET %s with %.2q: %d, want %d: %s", row.path, token, got.status, want, got.body)
			}
		}
	}
	if got := w.ask(t, http.MethodPost, "/v1/events?session=s1", credentials.Person, ""); got.status != 405 {
		t.Errorf("POST /v1/events: %d", got.status)
	}
	if got := w.ask(t, http.MethodGet, "/healthz", "", "", "Authorization", "Basic "+credentials.Person); got.status != 401 {
		t.Errorf("another scheme: %d", got.status)
	}
	if got := w.ask(t, http.MethodGet, "/healthz", credentials.Agent, ""); string(got.body) != "{\"status\":\"ok\"}\n" {
		t.Errorf("/healthz says %s", got.body)
	}
}

func TestCredentialsOverGRPC(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, options := range rpcClients {
			for token, want := range map[string]connect.Code{"": connect.CodeUnauthenticated, credentials.Agent: connect.CodePermissionDenied} {
				_, err := w.gateClient(t, token, options...).Resolve(t.Context(), connect.NewRequest(&umpirev1.Answer{RequestId: "r1", Answer: "deny"}))
				if connect.CodeOf(err) != want || detailOf(t, err).GetReasonCode() != "credential" {
					t.Errorf("%s with %.2q: %v, want %v", name, token, err, want)
				}
			}
			stream, err := w.timelineClient(t, credentials.Agent, options...).Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{}))
			if err != nil {
				t.Fatal(err)
			}
			if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodePermissionDenied {
				t.Errorf("%s: an agent watches all: %v", name, stream.Err())
			}
			stream.Close()
		}
	})
}

// detailOf returns the failure in an error.
func detailOf(t testing.TB, err error) *umpirev1.Failure {
	t.Helper()
	told, ok := errors.AsType[*connect.Error](err)
	if !ok || len(told.Details()) != 1 {
		return nil
	}
	value, err := told.Details()[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	failure, _ := value.(*umpirev1.Failure)
	return failure
}

func TestClientTellsARefusedCredential(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, token := range []string{"", "x", credentials.Agent} {
			if _, err := w.client(t, token).Resolve(t.Context(), umpire.Answer{Request: "r1", Choice: umpire.Approve}); !errors.Is(err, server.ErrCredential) {
				t.Errorf("with %.2q: %v", token, err)
			}
		}
		if w.gate.last("Resolve") != nil {
			t.Error("the gate was asked")
		}
	})
}

// An agent cannot loosen its own session.
func TestAgentsCannotLoosenTheirSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, row := range []struct{ procedure, field, value string }{
			{"SessionService/Open", "allow_bypass", "true"}, {"SessionService/Open", "allowed_tools", `["Write"]`},
			{"SessionService/Continue", "allow_bypass", "true"}, {"SessionService/Fork", "allow_cross_project", "true"},
		} {
			procedure, field := row.procedure, row.field
			body := `{"working_dir":"/p","` + field + `":` + row.value + `}`
			got := w.call(t, procedure, credentials.Agent, body)
			if got.status != 403 || !strings.Contains(string(got.body), field) {
				t.Errorf("%s %s as an agent: %d %s", procedure, field, got.status, got.body)
			}
			if got := w.call(t, procedure, credentials.Person, body); got.status != 200 {
				t.Errorf("%s %s as a person: %d %s", procedure, field, got.status, got.body)
			}
		}
	})
}

// Nor can it loosen the sandbox of its calls.
func TestAgentsCannotLoosenTheSandbox(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, procedure := range []string{"GateService/Submit", "GateService/Start"} {
			const body = `{"session_id":"s","batch_id":"b","sandbox":{"level":"full","mode":"full-access","loosen":true}}`
			got := w.call(t, procedure, credentials.Agent, body)
			if got.status != 403 || !strings.Contains(string(got.body), "sandbox.loosen") {
				t.Errorf("%s as an agent: %d %s", procedure, got.status, got.body)
			}
			if got := w.call(t, procedure, credentials.Person, body); got.status != 200 {
				t.Errorf("%s as a person: %d %s", procedure, got.status, got.body)
			}
		}
	})
}

// The cases of cross-site requests and of DNS rebinding. Each would be admitted by one of
// the usual protections alone.
func TestForeignPagesAreRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, "tcp", server.Config{})
	here := strings.TrimPrefix(w.base, "http://")
	_, port, _ := strings.Cut(here, ":")
	token := []string{"Authorization", "Bearer " + credentials.Person}
	rows := []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"same origin", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", w.base, "Sec-Fetch-Site", "same-origin"), 200},
		{"same origin by another of its names", "POST", "/umpire.v1.GateService/Check",
			append(token, "Host", "localhost:"+port, "Origin", "http://localhost:"+port, "Sec-Fetch-Site", "same-origin"), 200},
		{"no browser, with a token", "POST", "/umpire.v1.GateService/Check", token, 200},
		{"cross-site POST", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"), 403},
		{"cross-site POST of an old browser", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", "https://evil.example"), 403},
		{"page without an origin", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", "null"), 403},
		{"page at another port", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"), 403},
		{"page at another port, old browser", "POST", "/umpire.v1.GateService/Check", append(token, "Origin", "http://127.0.0.1:1"), 403},
		{"rebound POST", "POST", "/umpire.v1.GateService/Check",
			append(token, "Host", "evil.example:"+port, "Origin", "http://evil.example:"+port, "Sec-Fetch-Site", "same-origin"), 403},
		{"rebound GET", "GET", "/healthz", append(token, "Host", "evil.example:"+port), 403},
		{"right name, wrong port", "GET", "/healthz", append(token, "Host", "127.0.0.1:1"), 403},
		{"right name without a port", "GET", "/healthz", append(token, "Host", "localhost"), 403},
		{"no browser, no token", "POST", "/umpire.v1.GateService/Check", nil, 401},
		{"cross-site GET of the events", "GET", "/v1/events", append(token, "Sec-Fetch-Site", "cross-site"), 403},
		{"cross-site GET of the events without a token", "GET", "/v1/events", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"events with a token in the address", "GET", "/v1/events?token=" + credentials.Person, nil, 401},
		{"preflight", "OPTIONS", "/umpire.v1.GateService/Check", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403},
		{"page that guesses a name", "GET", "/healthz", append(token, "Host", "127.0.0.1.evil.example:"+port), 403},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, row.method, row.path, "", `{"tool":"Read"}`, row.headers...)
			if got.status != row.want {
				t.Errorf("%d, want %d: %s", got.status, row.want, got.body)
			}
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("the answer has %s", name)
				}
			}
			for _, name := range []string{"X-Content-Type-Options", "Content-Security-Policy", "X-Frame-Options", "Cache-Control"} {
				if got.header.Get(name) == "" {
					t.Errorf("the answer has no %s", name)
				}
			}
		})
	}
}

// A late answer is a conflict, with the winning answer, in every protocol.
func TestLateAnswerLearnsWhatStands(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first := w.call(t, "GateService/Resolve", credentials.Person, `{"request_id":"r1","answer":"deny","scope":"session","reason":"不要修改配置文件"}`)
		if first.status != 200 {
			t.Fatalf("the first answer: %d %s", first.status, first.body)
		}
		before := *w.gate.answer
		late := w.call(t, "GateService/Resolve", credentials.Person, `{"request_id":"r1","answer":"approve"}`)
		if late.status != 409 || late.fields["code"] != "failed_precondition" || late.fields["reason_code"] != "already_resolved" {
			t.Errorf("over Connect: %d %s", late.status, late.body)
		}
		if late.header.Get("Content-Type") != "application/json" {
			t.Errorf("as %s", late.header.Get("Content-Type"))
		}
		standing, _ := json.Marshal(late.fields["standing"])
		var got umpire.Standing
		if err := json.Unmarshal(standing, &got); err != nil || got != catalogue.In(catalogue.English, before) {
			t.Errorf("standing = %s, want %+v", standing, before)
		}
		_, err := w.client(t, credentials.Person).Resolve(t.Context(), umpire.Answer{Request: "r1", Choice: umpire.Approve})
		if resolved, ok := errors.AsType[*umpire.ResolvedError](err); !ok || resolved.Standing != before || !errors.Is(err, umpire.ErrResolved) {
			t.Errorf("Go client: %v", err)
		}
		for name, options := range rpcClients {
			_, err := w.gateClient(t, credentials.Person, options...).
				Resolve(t.Context(), connect.NewRequest(&umpirev1.Answer{RequestId: "r1", Answer: "approve"}))
			detail := detailOf(t, err)
			if connect.CodeOf(err) != connect.CodeFailedPrecondition || detail.GetReasonCode() != "already_resolved" {
				t.Errorf("%s: %v %v", name, err, detail)
			}
			if s := detail.GetStanding(); s.GetAnswer() != "deny" || s.GetReason() != catalogue.English.Text(before.Reason) || s.GetScope() != "session" || s.GetActor() != before.Actor {
				t.Errorf("%s: standing = %v", name, s)
			}
		}
		if *w.gate.answer != before {
			t.Errorf("the answer that stands has changed: %+v", w.gate.answer)
		}
	})
}
