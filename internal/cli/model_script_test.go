package cli

import (
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/agent/fake"
)

type modelServerKey struct{}

// modelVerbs are the script verbs for a provider's model.
var modelVerbs = map[string]func(*testscript.TestScript, bool, []string){
	"provider": scriptProvider,
	"asked":    scriptAsked,
	"sent":     scriptSent,
	"hangs":    scriptHangs,
}

// provider FILE [WINDOW]: a strict server plays the turns of the file over the interfaces
// of all providers, and the environment leads to it. Requests larger than WINDOW bytes are
// too long for it.
func scriptProvider(ts *testscript.TestScript, _ bool, args []string) {
	turns, err := fake.ReadScript(ts.MkAbs(args[0]))
	ts.Check(err)
	window := 0
	if len(args) > 1 {
		window, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	server := fake.StartModels(turns, window)
	ts.Defer(server.Close)
	*ts.Value(modelServerKey{}).(**fake.ModelServer) = server
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": server.URL, "ANTHROPIC_API_KEY": fake.ModelKey,
		"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_API_KEY": fake.ModelKey,
	} {
		ts.Setenv(name, value)
	}
}

func serverOf(ts *testscript.TestScript) *fake.ModelServer {
	server := *ts.Value(modelServerKey{}).(**fake.ModelServer)
	if server == nil {
		ts.Fatalf("no provider was started")
	}
	return server
}

// asked N: the provider has received N requests, and rejected none.
func scriptAsked(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	server := serverOf(ts)
	if refused := server.Refused(); len(refused) > 0 {
		ts.Fatalf("the provider refused: %v", refused)
	}
	if got := len(server.Requests()); (got == want) == neg {
		ts.Fatalf("the provider took %d requests, want %d", got, want)
	}
}

// sent N REGEXP: the Nth request to the provider matches. N counts from 1.
func scriptSent(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	requests := serverOf(ts).Requests()
	if n < 1 || n > len(requests) {
		ts.Fatalf("the provider took %d requests", len(requests))
	}
	body := requests[n-1].Body
	if regexp.MustCompile(args[1]).Match(body) == neg {
		ts.Fatalf("request %d: %.3000s", n, body)
	}
}

// hangs: waits until a reply of the provider hangs.
func scriptHangs(ts *testscript.TestScript, _ bool, _ []string) {
	select {
	case <-serverOf(ts).Hanging():
	case <-time.After(answerTime):
		ts.Fatalf("no reply hangs")
	}
}
