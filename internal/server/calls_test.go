package server_test

import (
	"context"
	"os"
	"os/user"
	"runtime"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/server"
)

// A trip is one method of the gate through the Go client: the value that the gate should
// receive, and the expected result.
type trip struct {
	method string
	given  any
	call   func(ctx context.Context, c *server.Client) (any, error)
	back   any
}

// once makes a trip of a method with one argument.
func once[In, Out any](method string, call func(*server.Client, context.Context, In) (Out, error), back any) trip {
	in := filled[In]()
	return trip{method: method, given: in, back: back, call: func(ctx context.Context, c *server.Client) (any, error) {
		return call(c, ctx, in)
	}}
}

// via makes a trip of such a method of a part.
func via[Part, In, Out any](method string, part func(*server.Client) Part, call func(Part, context.Context, In) (Out, error), back any) trip {
	return once(method, func(c *server.Client, ctx context.Context, in In) (Out, error) { return call(part(c), ctx, in) }, back)
}

func trips() []trip {
	session := filled[umpire.Session]()
	pending, sessions := filled[umpire.PendingQuery](), filled[umpire.SessionQuery]()
	pending.Limit, sessions.Limit = 100, 100 // of one page
	pendingAndNext, sessionsAndNext := pending, sessions
	pendingAndNext.Limit, sessionsAndNext.Limit = 101, 101 // one more tells whether there is another page
	return []trip{
		once("Check", (*server.Client).Check, filled[umpire.Decision]()),
		once("Submit", (*server.Client).Submit, filled[umpire.Batch]()),
		{"Pending", pendingAndNext, func(ctx context.Context, c *server.Client) (any, error) {
			return c.Pending(ctx, pending)
		}, []umpire.Pending{filledPending()}},
		once("Start", (*server.Client).Start, filled[umpire.Started]()),
		once("Finish", (*server.Client).Finish, filled[umpire.Batch]()),
		via("BeginTrial", (*server.Client).Trials, umpire.Trier.Begin, filled[umpire.BegunTrial]()),
		via("ReportTrial", (*server.Client).Trials, umpire.Trier.Report, filled[umpire.Batch]()),
		via("SettleTrial", (*server.Client).Trials, umpire.Trier.Settle, filled[umpire.Batch]()),
		via("Open", (*server.Client).Sessions, umpire.SessionKeeper.Open, session),
		via("Continue", (*server.Client).Sessions, umpire.SessionKeeper.Continue, session),
		{"Sessions", sessionsAndNext, func(ctx context.Context, c *server.Client) (any, error) {
			return c.Sessions().List(ctx, sessions)
		}, []umpire.Session{session}},
		via("Latest", (*server.Client).Sessions, umpire.SessionKeeper.Latest, session),
		via("Conversation", (*server.Client).Conversations, umpire.ConversationKeeper.Read, filled[umpire.Conversation]()),
		via("SetMode", (*server.Client).Sessions, umpire.SessionKeeper.SetMode, session),
		via("Prompt", (*server.Client).Conversations, umpire.ConversationKeeper.Prompt, filled[umpire.Prompted]()),
		via("Reply", (*server.Client).Conversations, umpire.ConversationKeeper.Reply, session),
		via("RuleStatus", (*server.Client).Rules, umpire.RuleKeeper.Status, filled[umpire.RuleStatus]()),
		via("Rules", (*server.Client).Rules, umpire.RuleKeeper.List, []umpire.Rule{filledRule()}),
		{"Batch", [2]string{"s1", "b1"}, func(ctx context.Context, c *server.Client) (any, error) {
			return c.Batch(ctx, "s1", "b1")
		}, umpire.Batch{ID: "b1", Session: "s1", State: umpire.BatchWaiting}},
		{"Fork", forked(), func(ctx context.Context, c *server.Client) (any, error) {
			return c.Sessions().Fork(ctx, "origin", filled[umpire.Resumption]())
		}, session},
		{"Session", umpire.SessionID("s7"), func(ctx context.Context, c *server.Client) (any, error) {
			return c.Sessions().Get(ctx, "s7")
		}, session},
		{"Compose", "s1 9", func(ctx context.Context, c *server.Client) (any, error) {
			return c.Conversations().Compose(ctx, "s1", 9)
		}, filled[umpire.Conversation]()},
		{"Renew", "s1 9", func(ctx context.Context, c *server.Client) (any, error) { return c.Sessions().Renew(ctx, "s1", 9) }, filledTime},
		{"End", "s1 over", func(ctx context.Context, c *server.Client) (any, error) {
			return nil, c.Sessions().End(ctx, "s1", "over")
		}, nil},
		{"Delete", umpire.SessionID("s1"), func(ctx context.Context, c *server.Client) (any, error) {
			return nil, c.Sessions().Delete(ctx, "s1")
		}, nil},
		{"AddRule", []any{"/p", umpire.ScopeGlobal, filled[umpire.Rule]()}, func(ctx context.Context, c *server.Client) (any, error) {
			return c.Rules().Add(ctx, "/p", umpire.ScopeGlobal, filled[umpire.Rule](), umpire.Actor{})
		}, umpire.RuleID("made")},
		{"RemoveRule", []any{"/p", umpire.ScopeOnce, umpire.RuleID("r")}, func(ctx context.Context, c *server.Client) (any, error) {
			return nil, c.Rules().Remove(ctx, "/p", umpire.ScopeOnce, "r", umpire.Actor{})
		}, nil},
		{"Trust", "/p", func(ctx context.Context, c *server.Client) (any, error) {
			return c.Rules().Trust(ctx, umpire.TrustChange{Dir: "/p"})
		}, []string{"f"}},
	}
}

func forked() umpire.Resumption {
	r := filled[umpire.Resumption]()
	r.ID = "origin"
	return r
}

func TestClientGivesTheGateWhatItWasGiven(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, gate *fakeGate, c *server.Client) {
		for _, trip := range trips() {
			back, err := trip.call(t.Context(), c)
			if err != nil {
				t.Errorf("%s: %v", trip.method, err)
				continue
			}
			if diff := cmp.Diff(trip.given, gate.last(trip.method), anyJSON, signature); diff != "" {
				t.Errorf("%s: the gate was given (-want +got):\n%s", trip.method, diff)
			}
			if diff := cmp.Diff(trip.back, back, anyJSON); diff != "" {
				t.Errorf("%s: came back (-want +got):\n%s", trip.method, diff)
			}
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}
	each(t, func(t *testing.T, w *world) { run(t, w.gate, w.client(t, credentials.Person)) })
}

// carry converts a value to its message without the server's code.
func carry[M proto.Message](t *testing.T, value any, m M) M {
	t.Helper()
	if err := (protojson.UnmarshalOptions{}).Unmarshal(encoded(t, value), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGeneratedClientsGiveTheGateWhatTheyWereGiven(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, options := range rpcClients {
			gate := w.gateClient(t, credentials.Person, options...)
			sessions := umpirev1.NewSessionServiceClient(w.http(t, true), w.base, append(options, bearer(credentials.Person))...)
			rules := umpirev1.NewRuleServiceClient(w.http(t, true), w.base, append(options, bearer(credentials.Person))...)
			try(t, w, name, "Check", filled[umpire.Call](), &umpirev1.Call{}, gate.Check, filled[umpire.Decision]())
			try(t, w, name, "Submit", filled[umpire.Submission](), &umpirev1.Submission{}, gate.Submit, filled[umpire.Batch]())
			try(t, w, name, "Start", filled[umpire.Start](), &umpirev1.Start{}, gate.Start, filled[umpire.Started]())
			try(t, w, name, "Finish", filled[umpire.Result](), &umpirev1.Result{}, gate.Finish, filled[umpire.Batch]())
			try(t, w, name, "BeginTrial", filled[umpire.TrialRequest](), &umpirev1.TrialRequest{}, gate.BeginTrial, filled[umpire.BegunTrial]())
			try(t, w, name, "ReportTrial", filled[umpire.TrialReport](), &umpirev1.TrialReport{}, gate.ReportTrial, filled[umpire.Batch]())
			try(t, w, name, "SettleTrial", filled[umpire.TrialSettlement](), &umpirev1.TrialSettlement{}, gate.SettleTrial, filled[umpire.Batch]())
			try(t, w, name, "Open", filled[umpire.Opening](), &umpirev1.Opening{}, sessions.Open, filled[umpire.Session]())
			try(t, w, name, "Fork", forked(), &umpirev1.Resumption{}, sessions.Fork, filled[umpire.Session]())
			try(t, w, name, "SetMode", filled[umpire.ModeChange](), &umpirev1.ModeChange{}, sessions.SetMode, filled[umpire.Session]())
			try(t, w, name, "Reply", filled[umpire.Reply](), &umpirev1.Reply{}, sessions.Reply, filled[umpire.Session]())
			compose := struct {
				ID    string `json:"session_id"`
				Epoch int    `json:"epoch"`
			}{"s1", 9}
			answer, err := sessions.Compose(t.Context(), connect.NewRequest(carry(t, compose, &umpirev1.ComposeRequest{})))
			if err != nil {
				t.Fatalf("%s: Compose: %v", name, err)
			}
			same(t, name+" Compose", decoded(encoded(t, filled[umpire.Conversation]())), answer.Msg.ProtoReflect())
			status, err := rules.Status(t.Context(), connect.NewRequest(&umpirev1.RuleStatusRequest{WorkingDir: "/p"}))
			if err != nil {
				t.Fatalf("%s: Status: %v", name, err)
			}
			same(t, name+" Status", decoded(encoded(t, filled[umpire.RuleStatus]())), status.Msg.ProtoReflect())
		}
	})
}

type message[M any] interface {
	*M
	proto.Message
}

func try[In, Out any, PI message[In], PO message[Out]](t *testing.T, w *world, name, method string, given any, m PI, call func(context.Context, *connect.Request[In]) (*connect.Response[Out], error), back any) {
	t.Helper()
	answer, err := call(t.Context(), connect.NewRequest((*In)(carry(t, given, m))))
	if err != nil {
		t.Errorf("%s: %s: %v", name, method, err)
		return
	}
	if diff := cmp.Diff(given, w.gate.last(method), anyJSON, signature); diff != "" {
		t.Errorf("%s: %s: the gate was given (-want +got):\n%s", name, method, diff)
	}
	same(t, name+" "+method, decoded(encoded(t, back)), PO(answer.Msg).ProtoReflect())
}

// The server determines the recorded author of an answer, regardless of the client's request.
func TestAnswersAreSignedByTheServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		body := `{"request_id":"r1","args_hash":"h","answer":"approve","scope":"once","actor":"somebody else","Channel":"y"}`
		if a := w.call(t, "GateService/Resolve", credentials.Person, body, "Umpire-Client", "console"); a.status != 200 {
			t.Fatalf("answered %d: %s", a.status, a.body)
		}
		got := w.gate.last("Resolve").(umpire.Answer)
		channel, _, _ := strings.Cut(w.address, ":")
		want := "127.0.0.1"
		if channel != "unix" {
			channel = "tcp"
		}
		if channel == "unix" || runtime.GOOS == "linux" {
			me, err := user.Current()
			if err != nil {
				t.Fatal(err)
			}
			want = me.Username
			if got.By.UID == nil || *got.By.UID != os.Getuid() || *got.By.PID != os.Getpid() {
				t.Errorf("by %+v", got.By)
			}
		}
		if got.By.Name != want || got.By.Client != "console" {
			t.Errorf("by %+v", got.By)
		}
		if got.Actor != want || got.Channel != channel {
			t.Errorf("actor %q over %q, want %q over %q", got.Actor, got.Channel, want, channel)
		}
		if got.Choice != umpire.Approve || got.ArgsHash != "h" {
			t.Errorf("the answer is %+v", got)
		}
	})
}

// Numbers keep every digit through JSON.
func TestInputKeepsItsDigits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		input := `{"id":12345678901234567890,"x":0.1000,"e":1E400}`
		if a := w.call(t, "GateService/Check", credentials.Agent, `{"tool":"T","input":`+input+`,"unknown":{"a":1}}`); a.status != 200 {
			t.Fatalf("answered %d: %s", a.status, a.body)
		}
		if got := string(w.gate.last("Check").(umpire.Call).Input); got != input {
			t.Errorf("input = %s, want %s", got, input)
		}
	})
}
