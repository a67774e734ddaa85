package server_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

var _ server.Backend = (*gate.Gate)(nil)

// realGate opens a gate with a store in a temporary folder.
func realGate(t *testing.T) (g *gate.Gate, project string) {
	t.Helper()
	home := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(home, "state", "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	g = gate.New(gate.Config{
		UserHome: home, Home: filepath.Join(home, ".umpire"), Store: store,
		Settings: config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 10},
	})
	t.Cleanup(func() {
		if err := errors.Join(g.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return g, t.TempDir()
}

// D-01 to D-06, D-11, N-12, N-95: a batch is processed over the network, with two
// credentials, and clients see the gate's state.
func TestBatchGoesItsWayOverTheWire(t *testing.T) {
	t.Parallel()
	for network := range networks {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			g, project := realGate(t)
			address := networks[network]
			if address == "" {
				address = "unix:" + filepath.Join(shortDir(t), "gate.sock")
			}
			w := serveConfig(t, address, server.Config{Gate: g})
			agent, person := w.client(t, credentials.Agent), w.client(t, credentials.Person)
			person.Name = "test"
			session := ok(agent.Sessions().Open(t.Context(), umpire.Opening{Dir: project, Agent: "tester"}))(t)
			calls := []umpire.Call{
				{ID: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)},
				{ID: "c2", Tool: "Bash", Input: json.RawMessage(`{"command":"npm install react"}`), Extra: map[string]json.RawMessage{"customMeta": json.RawMessage(`{"a":1}`)}},
			}
			submission := umpire.Submission{
				Session: session.ID, Batch: "m1", Calls: calls, Epoch: session.Epoch, Message: json.RawMessage(`{"role":"assistant"}`),
			}
			batch := ok(agent.Submit(t.Context(), submission))(t)
			if batch.State != umpire.BatchWaiting || batch.Waiting() != 1 {
				t.Fatalf("the batch is %s with %d waiting", batch.State, batch.Waiting())
			}
			if again := ok(agent.Submit(t.Context(), submission))(t); again.State != batch.State || again.Calls[1].Request != batch.Calls[1].Request {
				t.Errorf("a retry gets %+v, the first one %+v", again, batch)
			}

			pending := ok(person.Pending(t.Context(), umpire.PendingQuery{Session: session.ID}))(t)
			direct := ok(g.Pending(t.Context(), umpire.PendingQuery{Session: session.ID}))(t)
			if diff := cmp.Diff(direct, pending, anyJSON); diff != "" || len(pending) != 1 || string(pending[0].Extra["customMeta"]) != `{"a":1}` {
				t.Fatalf("pending over the wire (-gate +client):\n%s\n%+v", diff, pending)
			}
			question := pending[0]

			_, err := agent.Start(t.Context(), umpire.Start{Session: session.ID, Batch: "m1", Call: "c1", Epoch: session.Epoch})
			if !errors.Is(err, umpire.ErrState) {
				started := ok(agent.Start(t.Context(), umpire.Start{Session: session.ID, Batch: "m1", Call: "c1", Epoch: session.Epoch}))(t)
				if started.Go {
					t.Error("a call starts while another one waits")
				}
			}
			held := make(chan umpire.Batch)
			go func() {
				b, err := agent.Await(t.Context(), session.ID, "m1", maxTestWait)
				if err != nil {
					t.Error(err)
				}
				held <- b
			}()
			if _, err := agent.Resolve(t.Context(), umpire.Answer{Request: question.Request, ArgsHash: question.ArgsHash, Choice: umpire.Approve}); err == nil {
				t.Error("an agent answers its own question")
			}
			answer := umpire.Answer{Request: question.Request, ArgsHash: question.ArgsHash, ShownDigest: question.ShownDigest, Choice: umpire.Approve, Scope: umpire.ScopeOnce}
			blind := answer
			blind.ShownDigest = ""
			refused := w.call(t, "GateService/Resolve", credentials.Person, string(encoded(t, blind)))
			if refused.status != 409 || refused.fields["reason_code"] != "changed" {
				t.Errorf("an answer that names no card: %d %s", refused.status, refused.body)
			}
			ok(person.Resolve(t.Context(), answer))(t)
			if b := <-held; b.State != umpire.BatchRunning {
				t.Errorf("the agent that waited sees %s", b.State)
			}
			if _, err := person.Resolve(t.Context(), answer); !errors.Is(err, umpire.ErrResolved) {
				t.Errorf("the second answer: %v", err)
			}
			late := w.call(t, "GateService/Resolve", credentials.Person, string(encoded(t, answer)))
			if late.status != 409 || late.fields["reason_code"] != "already_resolved" || late.fields["standing"] == nil {
				t.Errorf("the third answer: %d %s", late.status, late.body)
			}
			for _, c := range calls {
				started := ok(agent.Start(t.Context(), umpire.Start{Session: session.ID, Batch: "m1", Call: c.ID, Epoch: session.Epoch}))(t)
				if !started.Go {
					t.Fatalf("%s may not run: %+v", c.ID, started)
				}
				ok(agent.Finish(t.Context(), umpire.Result{
					Call: c.ID, Session: session.ID, Batch: "m1", Status: umpire.ResultOK, Output: "done", Epoch: session.Epoch,
				}))(t)
			}
			if b := ok(agent.Batch(t.Context(), session.ID, "m1"))(t); b.State != umpire.BatchFinished {
				t.Errorf("in the end the batch is %s", b.State)
			}
			sameEvents(t, w, g, session.ID, question.Request)
		})
	}
}

const maxTestWait = 1 << 36 // about a minute

func ok[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// sameEvents compares the events of a session in every protocol with those of the gate.
func sameEvents(t *testing.T, w *world, g *gate.Gate, session umpire.SessionID, request umpire.RequestID) {
	t.Helper()
	events := ok(g.Events(t.Context(), umpire.Filter{Session: session}))(t)
	listed := ok(w.client(t, credentials.Agent).Events(t.Context(), umpire.Filter{Session: session}))(t)
	if diff := cmp.Diff(events, listed, anyJSON); diff != "" || len(events) < 8 {
		t.Errorf("%d events (-gate +client):\n%s", len(events), diff)
	}
	lines, leave := w.openSSE(t, "/v1/events?session="+string(session), credentials.Agent)
	defer leave()
	stream, err := w.timelineClient(t, credentials.Agent, connect.WithGRPC()).
		Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{SessionId: string(session)}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	signed := false
	for _, e := range events {
		want := string(encoded(t, catalogue.In(catalogue.English, e)))
		if got := nextSSE(t, lines); got.data != want || got.kind != string(e.Kind) {
			t.Errorf("SSE gives %+v, want %s", got, want)
		}
		if !stream.Receive() {
			t.Fatal(stream.Err())
		}
		same(t, string(e.Kind), decoded([]byte(want)), stream.Msg().ProtoReflect())
		signed = signed || e.Kind == umpire.EventPermissionApproved && e.Request == request && e.Actor != "" && strings.Contains(string(e.Data), `"client":"test"`)
	}
	if !signed {
		t.Error("no event says who approved")
	}
}

// N-22, N-26: over the network, the error about another project's session names both projects.
func TestOtherProjectsSessionIsRefusedOverTheWire(t *testing.T) {
	t.Parallel()
	g, project := realGate(t)
	w := serveConfig(t, "unix:"+filepath.Join(shortDir(t), "gate.sock"), server.Config{Gate: g})
	c := w.client(t, credentials.Agent)
	rule := `{"version": 1, "rules": [{"id": "locks", "action": "deny", "tool": "Edit", "match": {"pathGlob": "*.lock"}}]}`
	if err := errors.Join(os.Mkdir(filepath.Join(project, ".umpire"), 0o700),
		os.WriteFile(filepath.Join(project, ".umpire", "permissions.json"), []byte(rule), 0o600)); err != nil {
		t.Fatal(err)
	}
	session := ok(c.Sessions().Open(t.Context(), umpire.Opening{Dir: project}))(t)
	other := ok(c.Sessions().Open(t.Context(), umpire.Opening{Dir: t.TempDir()}))(t)
	_, err := c.Sessions().Continue(t.Context(), umpire.Resumption{ID: session.ID, Dir: other.Dir})
	if !errors.Is(err, umpire.ErrOtherProject) || !strings.Contains(err.Error(), session.Project.Short()) || !strings.Contains(err.Error(), other.Project.Short()) {
		t.Errorf("%v", err)
	}
	if _, err := c.Sessions().Get(t.Context(), "none"); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("%v", err)
	}
	rules := ok(c.Rules().List(t.Context(), project))(t)
	if direct := ok(g.Rules().List(t.Context(), project))(t); !cmp.Equal(direct, rules) || len(rules) != 1 || rules[0].Line == 0 {
		t.Errorf("rules over the wire (-gate +client):\n%s", cmp.Diff(direct, rules))
	}
}
