package cli

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A replicaGate is an umpire serve on a shared store, with clients for each of its credentials.
type replicaGate struct {
	address       string
	tokens        map[string]string
	agent, person *server.Client
}

// replica starts umpire serve for a new home on a shared store, and returns clients
// with each of its credentials.
func replica(t *testing.T, store string) (agent, person *server.Client) {
	t.Helper()
	g := startReplica(t, store)
	return g.agent, g.person
}

func startReplica(t *testing.T, store string) *replicaGate {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	cmd := exec.Command(program)
	cmd.Args = []string{"umpire", "serve", "--listen", "127.0.0.1:0", "--store", store}
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), testRoot + "=" + "1", testManaged + "=" + filepath.Join(home, "etc")}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "umpire: ready on ")
	if err != nil || !ready {
		t.Fatalf("%q, %v", line, err)
	}
	g := &replicaGate{address: address, tokens: map[string]string{}}
	dial := func(who string) *server.Client {
		token, err := server.ReadToken(filepath.Join(home, ".umpire", "state", who+".token"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := server.Dial(address, token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		g.tokens[who] = token
		return c
	}
	g.agent, g.person = dial("agent"), dial("person")
	return g
}

// asURL writes an address of words and values the way that people write it.
func asURL(words string) string {
	values := url.Values{}
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		values.Set(name, value)
	}
	name := values.Get("dbname")
	values.Del("dbname")
	return "postgres:///" + name + "?" + values.Encode()
}

// TestReplicas: several gates over one PostgreSQL behave like one gate. Each of them
// shows and answers the questions of the others, and all return the same events.
func TestReplicas(t *testing.T) {
	t.Parallel()
	store := asURL(storetest.Postgres(t))
	agent, _ := replica(t, store)
	_, person := replica(t, store)
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := agent.Sessions().Open(ctx, umpire.Opening{ID: "s1", Dir: t.TempDir(), Agent: "tester"})
	check(err)
	_, err = agent.Submit(ctx, umpire.Submission{Session: "s1", Batch: "m1", Calls: []umpire.Call{
		{ID: "c1", Tool: "Bash", Input: []byte(`{"command":"make x"}`)},
	}})
	check(err)
	released := make(chan error, 1)
	go func() {
		b, err := agent.Await(ctx, "s1", "m1", answerTime)
		if err == nil && b.State != umpire.BatchRunning {
			t.Errorf("the batch is %s", b.State)
		}
		released <- err
	}()
	list, err := person.Pending(ctx, umpire.PendingQuery{})
	check(err)
	if len(list) != 1 || list[0].Call != "c1" {
		t.Fatalf("%+v", list)
	}
	_, err = person.Resolve(ctx, umpire.Answer{Request: list[0].Request, ArgsHash: list[0].ArgsHash, ShownDigest: list[0].ShownDigest, Choice: umpire.Approve})
	check(err)
	check(<-released)
	started, err := agent.Start(ctx, umpire.Start{Session: "s1", Batch: "m1", Call: "c1"})
	check(err)
	if !started.Go {
		t.Fatalf("%+v", started)
	}
	_, err = agent.Finish(ctx, umpire.Result{Session: "s1", Batch: "m1", Call: "c1", Status: umpire.ResultOK})
	check(err)
	var printed []umpire.Event
	for e, err := range person.Watch(ctx, umpire.Filter{Session: "s1"}) {
		check(err)
		printed = append(printed, e)
		if e.Kind == umpire.EventBatchFinished {
			break
		}
	}
	mine, err := agent.Events(ctx, umpire.Filter{Session: "s1"})
	check(err)
	if diff := cmp.Diff(mine, printed); diff != "" {
		t.Errorf("one gate tells otherwise than the other:\n%s", diff)
	}
}
