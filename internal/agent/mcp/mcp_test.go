package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/config"
)

// asServer makes the test's binary a server.
const asServer = "UMPIRE_MCPTEST"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		fake.MCPMain()
		return
	}
	os.Exit(m.Run())
}

// A world is a set of started servers, with their notices.
type world struct {
	*Set

	t *testing.T

	mu      sync.Mutex
	notices []string
}

func open(t *testing.T, servers map[string]config.Server, env ...string) *world {
	t.Helper()
	w := &world{t: t}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.Set = Open(t.Context(), servers, Options{
		Root: home, Home: home, Env: append(os.Environ(), env...), Version: "test",
		Notice: w.notice,
	})
	t.Cleanup(w.Close)
	return w
}

func (w *world) notice(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, fmt.Sprintf(format, args...))
}

// local is the test's own server, as a program.
func local(args ...string) config.Server {
	return config.Server{Command: os.Args[0], Args: args, Env: map[string]string{asServer: "1"}}
}

func (w *world) noticed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notices, "\n")
}

// run runs a call that was allowed.
func (w *world) run(name, input string) umpire.Result {
	w.t.Helper()
	return w.Run(w.t.Context(), allowed(name, input))
}

func allowed(name, input string) umpire.Started {
	return umpire.Started{
		Go: true, Call: umpire.Call{ID: "c1", Tool: name, Input: json.RawMessage(input)}, Decision: umpire.Decision{Verdict: umpire.Allow},
	}
}

func (w *world) wants(name, input string, status umpire.ResultStatus, parts ...string) {
	w.t.Helper()
	r := w.run(name, input)
	if r.Status != status || r.Call != "c1" {
		w.t.Errorf("%s: got %s of call %q: %.300s", name, r.Status, r.Call, r.Output)
	}
	for _, part := range parts {
		if !strings.Contains(r.Output, part) {
			w.t.Errorf("%s: %q is not in %.300q", name, part, r.Output)
		}
	}
}

func names(s *Set) []string {
	var all []string
	for _, t := range s.Tools() {
		all = append(all, t.Name)
	}
	return all
}

// D-28: the tools of a server are there under their names, over both transports.
func TestToolsOfServers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(fake.MCPHandler())
	t.Cleanup(server.Close)
	w := open(t, map[string]config.Server{"here": local(), "there": {URL: server.URL}})
	for _, name := range []string{"mcp__here__echo", "mcp__there__echo"} {
		if !w.Has(name) || !slices.Contains(names(w.Set), name) {
			t.Fatalf("%s is not among %q; %s", name, names(w.Set), w.noticed())
		}
		w.wants(name, `{"text":"hello"}`, umpire.ResultOK, "hello")
	}
	request := llm.Request{Tools: w.Tools(), Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}}}}
	if err := llm.Check(request); err != nil {
		t.Errorf("a model refuses the tools: %v", err)
	}
	if w.noticed() != "" {
		t.Errorf("noticed: %s", w.noticed())
	}
}

func TestNothingRunsWithoutTheGate(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	for _, started := range []umpire.Started{
		{Call: allowed("mcp__s__echo", `{}`).Call, Decision: umpire.Decision{Verdict: umpire.Allow}},
		{Go: true, Call: allowed("mcp__s__echo", `{}`).Call, Decision: umpire.Decision{Verdict: umpire.Ask}},
		{Go: true, Call: allowed("mcp__s__echo", `{}`).Call},
	} {
		if r := w.Run(t.Context(), started); r.Status != umpire.ResultDenied {
			t.Errorf("%+v ran: %s", started.Decision, r.Status)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	w.wants("mcp__s__mixed", `{}`, umpire.ResultOK,
		"a picture:\n[image, image/png, 3 bytes: not shown]\nof a file\n[a resource that can be read at file:///b: b]\n"+`{"n":1}`)
	w.wants("mcp__s__fail", `{}`, umpire.ResultError, "it is broken")
	w.wants("mcp__s__nothing", `{}`, umpire.ResultError, "unknown tool")
	w.wants("mcp__s__ask", `{}`, umpire.ResultError, "umpire refuses")
	w.wants("mcp__s__long", `{}`, umpire.ResultOK, "begin", "left out", "end")
	if r := w.run("mcp__s__long", `{}`); len(r.Output) > 64<<10 {
		t.Errorf("a result of %d bytes", len(r.Output))
	}
}

// A server's own requests are refused, by both ways in which it can make them.
func TestServersGetNoAnswers(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"old": local("raw"), "new": local()})
	w.wants("mcp__old__pester", `{}`, umpire.ResultOK, "refused: true true")
	w.wants("mcp__new__ask", `{}`, umpire.ResultError, "which umpire refuses")
}

// A call to a server over HTTP that does not answer ends in time.
func TestHangOverHTTP(t *testing.T) {
	t.Parallel()
	tools := fake.MCPHandler()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(`"tools/call"`)) {
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		tools.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w := open(t, map[string]config.Server{"hangs": {URL: server.URL, Timeout: 300 * time.Millisecond}})
	w.wants("mcp__hangs__echo", `{}`, umpire.ResultTimeout, "timed out after 300ms")
}

// The description of a tool for a model holds nothing that a person would not see.
func TestDescriptionsAreCleaned(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	for _, tool := range w.Tools() {
		if tool.Name == "mcp__s__echo" && tool.Description != "Says what it is given.[2J" {
			t.Errorf("described as %q", tool.Description)
		}
	}
}

func TestClaimsComeWithTheCall(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	extra := w.Extra("mcp__s__destroy")
	if !strings.Contains(string(extra["annotations"]), `"destructiveHint":true`) || string(extra["mcp_server"]) != `"s"` || string(extra["mcp_tool"]) != `"destroy"` {
		t.Errorf("extra is %s", extra)
	}
	if extra := w.Extra("mcp__s__echo"); extra["annotations"] != nil {
		t.Errorf("a tool without claims has %s", extra["annotations"])
	}
	if extra := w.Extra("Read"); extra != nil {
		t.Errorf("another tool has %s", extra)
	}
}

// A server that dies, hangs, floods or lies affects only its own calls, each of which has a result.
func TestBadServers(t *testing.T) {
	t.Parallel()
	impatient := func(s config.Server) config.Server { s.Timeout = 300 * time.Millisecond; return s }
	w := open(t, map[string]config.Server{
		"good": local(), "crashes": local(), "hangs": impatient(local()), "raw": local("raw"), "liar": impatient(local("raw")),
	})
	w.wants("mcp__crashes__crash", `{}`, umpire.ResultError, `the MCP server "crashes" has ended`)
	w.wants("mcp__crashes__echo", `{"text":"again"}`, umpire.ResultError, "ended")
	w.wants("mcp__hangs__hang", `{}`, umpire.ResultTimeout, "timed out after 300ms")
	w.wants("mcp__raw__flood", `{}`, umpire.ResultError, "exceeded")
	w.wants("mcp__liar__lie", `{}`, umpire.ResultTimeout, "timed out")
	w.wants("mcp__good__echo", `{"text":"hello"}`, umpire.ResultOK, "hello")
	if got := w.noticed(); !strings.Contains(got, `MCP server "crashes" has ended: exit status 7; it said: something went wrong`) {
		t.Errorf("noticed: %s", got)
	}
}

// A call ends when its run does, and the server keeps running.
func TestCallIsEnded(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if r := w.Run(ctx, allowed("mcp__s__hang", `{}`)); r.Status != umpire.ResultCancelled {
		t.Errorf("got %s: %s", r.Status, r.Output)
	}
	w.wants("mcp__s__echo", `{"text":"still there"}`, umpire.ResultOK, "still there")
}

// Consent covers a tool only as it was described then.
func TestChangedToolIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{"s": local()})
	w.wants("mcp__s__echo", `{"text":"a"}`, umpire.ResultOK, "a")
	w.wants("mcp__s__pull", `{}`, umpire.ResultOK, "pulled")
	w.wants("mcp__s__echo", `{"text":"b"}`, umpire.ResultError, "describes it otherwise")
	w.wants("mcp__s__look", `{}`, umpire.ResultError, "does not offer it any more")
	if w.Has("mcp__s__echo") || slices.Contains(names(w.Set), "mcp__s__echo") {
		t.Error("a changed tool is offered to the model")
	}
	if !w.Has("mcp__s__mixed") {
		t.Error("a tool that did not change is gone")
	}
	if got := w.noticed(); !strings.Contains(got, "MCP tool mcp__s__echo can no longer run") {
		t.Errorf("noticed: %s", got)
	}
}

// Nor is it the one that was agreed to in an earlier run: it is asked about until a call
// of it may run.
func TestToolThatChangedBetweenRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "tools.json")
	opened := func(args ...string) *world {
		w := &world{t: t}
		w.Set = Open(t.Context(), map[string]config.Server{"s": local(args...)}, Options{
			Root: t.TempDir(), Home: t.TempDir(), Env: os.Environ(), Ledger: path,
			Notice: w.notice,
		})
		t.Cleanup(w.Close)
		return w
	}
	asks := func(w *world, tool string) bool { return w.Extra(tool)["described_anew"] != nil }
	first := opened()
	if asks(first, "mcp__s__echo") || asks(first, "mcp__s__look") {
		t.Error("a tool that was never called counts as changed")
	}
	first.wants("mcp__s__echo", `{"text":"a"}`, umpire.ResultOK, "a")
	if same := opened(); asks(same, "mcp__s__echo") || same.noticed() != "" {
		t.Errorf("a tool that is the same counts as changed: %s", same.noticed())
	}
	changed := opened("anew")
	if !asks(changed, "mcp__s__echo") || asks(changed, "mcp__s__look") || !strings.Contains(changed.noticed(), "mcp__s__echo asks, because its description has changed") {
		t.Errorf("a changed tool is not asked about: %s", changed.noticed())
	}
	changed.wants("mcp__s__echo", `{"text":"b"}`, umpire.ResultOK, "b")
	if asks(changed, "mcp__s__echo") || asks(opened("anew"), "mcp__s__echo") {
		t.Error("a tool that was called since is asked about")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken := opened(); !asks(broken, "mcp__s__look") || !strings.Contains(broken.noticed(), "every MCP tool asks") {
		t.Errorf("what cannot be read is believed: %s", broken.noticed())
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	w := open(t, map[string]config.Server{
		"dies": local("dies"), "missing": {Command: "no-such-program-anywhere"}, "keyless": {Command: os.Args[0], Env: map[string]string{"K": "${NO_SUCH_KEY}"}},
		"nowhere": {URL: "http://127.0.0.1:1/mcp"}, "twins": local("twins"),
	})
	for _, want := range []string{
		`MCP server "dies" is left out: `, "it said: no \x1b[31mlicence", `"missing" is left out: exec: "no-such-program-anywhere"`,
		`"keyless" is left out: env: K: the environment has no ${NO_SUCH_KEY}`, `"nowhere" is left out: `,
		`share the name mcp__twins__a_b: neither can be called`,
	} {
		if !strings.Contains(w.noticed(), want) {
			t.Errorf("%q was not noticed:\n%s", want, w.noticed())
		}
	}
	if got := names(w.Set); slices.Contains(got, "mcp__twins__a_b") || !slices.Contains(got, "mcp__twins__echo") {
		t.Errorf("tools: %q", got)
	}
}

func TestServerThatSaysNothingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	notice := ""
	s := Open(ctx, map[string]config.Server{"mute": local("mute")}, Options{
		Home: t.TempDir(), Env: os.Environ(), Notice: func(format string, args ...any) { notice = fmt.Sprintf(format, args...) },
	})
	defer s.Close()
	if len(s.Tools()) > 0 || !strings.Contains(notice, `"mute" is left out`) {
		t.Errorf("tools %q, noticed %q", names(s), notice)
	}
}

func TestEnvironmentOfServers(t *testing.T) {
	t.Parallel()
	server := local()
	server.Env["TOKEN"] = "Bearer ${MY_KEY}"
	w := open(t, map[string]config.Server{"s": server}, "MY_KEY=k-1", "ANTHROPIC_API_KEY=secret", "UMPIRE_TOKEN=secret", "OPENAI_API_KEY=secret")
	r := w.run("mcp__s__env", `{}`)
	for _, want := range []string{"PWD " + w.servers[0].options.Home, "TOKEN=Bearer k-1", "UMPIRE_AGENT=1", "PATH="} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is not in the environment", want)
		}
	}
	for _, bad := range []string{"=secret", "MY_KEY", "API_KEY"} {
		if strings.Contains(r.Output, bad) {
			t.Errorf("%q is in the environment", bad)
		}
	}
}

// An answer over HTTP is read as far as it may be long.
func TestFloodOverHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		for range 100 {
			if _, err := rw.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	w := open(t, map[string]config.Server{"floods": {URL: server.URL}})
	if got := w.noticed(); !strings.Contains(got, "the server's answer is too large") {
		t.Errorf("noticed: %s", got)
	}
}

// A redirect would hand the keys to somebody else.
func TestHeadersGoNowhereElse(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]string{}
	note := func(who string, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[who] = r.Header.Get("Authorization")
	}
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { note("other", r) }))
	t.Cleanup(other.Close)
	tools := fake.MCPHandler()
	good := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { note("good", r); tools.ServeHTTP(rw, r) }))
	t.Cleanup(good.Close)
	away := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	keys := map[string]string{"Authorization": "Bearer ${KEY}"}
	w := open(t, map[string]config.Server{"good": {URL: good.URL, Headers: keys}, "away": {URL: away.URL, Headers: keys}}, "KEY=k-2")
	w.wants("mcp__good__echo", `{"text":"hello"}`, umpire.ResultOK, "hello")
	mu.Lock()
	defer mu.Unlock()
	if _, asked := seen["other"]; asked || seen["good"] != "Bearer k-2" {
		t.Errorf("seen: %q", seen)
	}
	if !strings.Contains(w.noticed(), `"away" is left out`) {
		t.Errorf("noticed: %s", w.noticed())
	}
}

// An invalid server is rejected, and the error names the field.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server config.Server
		want   string
	}{
		"ok":                        {config.Server{Command: "npx", Args: []string{"x"}}, ""},
		"home":                      {config.Server{Command: "~/bin/server"}, ""},
		"web":                       {config.Server{URL: "https://example.com/mcp", Headers: map[string]string{"A": "b"}}, ""},
		"a-b_c":                     {config.Server{Command: "x"}, ""},
		"a__b":                      {config.Server{Command: "x"}, "name: "},
		"_a":                        {config.Server{Command: "x"}, "name: "},
		"a_":                        {config.Server{Command: "x"}, "name: "},
		"":                          {config.Server{Command: "x"}, "name: "},
		"ümlaut":                    {config.Server{Command: "x"}, "name: "},
		"aaaaaaaaaaaaaaaaaaaaaaaaa": {config.Server{Command: "x"}, "name: "},
		"none":                      {config.Server{}, "want a command or a url"},
		"both":                      {config.Server{Command: "x", URL: "https://a"}, "not both"},
		"relative":                  {config.Server{Command: "bin/x"}, "command: "},
		"scheme":                    {config.Server{URL: "file:///etc"}, "url: "},
		"headers":                   {config.Server{Command: "x", Headers: map[string]string{"A": "b"}}, "headers: "},
		"args":                      {config.Server{URL: "https://a", Args: []string{"b"}}, "args, env and cwd: "},
		"timeout":                   {config.Server{Command: "x", Timeout: -1}, "timeout: "},
	} {
		err := tt.server.Check(name)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", name, err, tt.want)
		}
	}
}

func TestMasked(t *testing.T) {
	t.Parallel()
	s := config.Server{URL: "https://me:pw@example.com/mcp?key=k", Headers: map[string]string{"A": "secret"}}
	shown, err := json.Marshal(s.Masked())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "pw", "key=k", "me:"} {
		if strings.Contains(string(shown), secret) {
			t.Errorf("%s shows %q", shown, secret)
		}
	}
	if s.Headers["A"] != "secret" {
		t.Error("the server itself was masked")
	}
}

// Every model accepts the names, and two long ones differ.
func TestToolNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for tool, want := range map[string]string{
		"echo": "mcp__s__echo", "a.b/c d": "mcp__s__a_b_c_d", "löschen": "mcp__s__l_schen", long: "mcp__s__" + strings.Repeat("x", 47) + "_",
	} {
		got := toolName("s", tool)
		if !strings.HasPrefix(got, want) || len(got) > maxName {
			t.Errorf("%q is called %q", tool, got)
		}
	}
	if toolName("s", long+"a") == toolName("s", long+"b") {
		t.Error("two long names are one")
	}
}
