package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/policy"
)

// serveGate serves a real gate on a socket in home, and returns it.
func serveGate(t *testing.T, home string) *gate.Gate {
	t.Helper()
	state := filepath.Join(home, "state")
	s, err := sqlite.Open(t.Context(), filepath.Join(state, "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Config{UserHome: home, Home: home, Store: s, Settings: config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}}})
	credentials, err := server.LoadCredentials(state)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := server.Listen(t.Context(), "unix:"+filepath.Join(state, "umpire.sock"), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.New(server.Config{Gate: g, Credentials: credentials}).Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, g.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// The program as a whole: what happens at the gate can be scraped, and is sent to a
// collector; what a command says is in neither.
func TestFiguresAndSpans(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	g := serveGate(t, home)
	spans := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusOK)
		spans <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()

	ctx, stop := context.WithCancel(t.Context())
	out, written := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		env := func(name string) string { return map[string]string{"UMPIRE_HOME": home}[name] }
		ended <- watchGate(ctx, []string{"--listen", "127.0.0.1:0", "--otlp", collector.URL}, env, written, io.Discard)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(line, "umpire-metrics: "))

	s, err := g.Open(t.Context(), umpire.Opening{Dir: project})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m1", Calls: []umpire.Call{
		{ID: "c1", Tool: "Bash", Input: json.RawMessage(`{"command":"npm install hunter2"}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, g, umpire.EventPermissionAsked)
	var text string
	for !containsAll(text, "umpire_asks_pending 1", "umpire_evaluate_seconds_count 1", `umpire_prompts_total{tool="`) {
		text = scrape(t, address)
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("the figures are %s", text)
	}
	if err := g.End(t.Context(), s.ID, ""); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(scrape(t, address), "umpire_asks_pending 0") {
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	sent := <-spans
	if !strings.HasPrefix(sent, "/v1/traces ") || !strings.Contains(sent, "execute_tool") || strings.Contains(sent, "hunter2") {
		t.Errorf("sent %q", sent)
	}
}

func containsAll(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

func waitFor(t *testing.T, g *gate.Gate, kind umpire.EventKind) {
	t.Helper()
	for e, err := range g.Watch(t.Context(), umpire.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == kind {
			return
		}
	}
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"word"}, {"--nope"}, {"--token-file", "/nowhere"}, {"--gate", "nothing"}, {"--otlp", "nothing"}} {
		env := func(string) string { return t.TempDir() }
		if err := watchGate(t.Context(), args, env, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}
