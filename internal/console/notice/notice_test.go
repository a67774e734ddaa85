package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
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
	"github.com/umpirehq/umpire/internal/config"
)

// A fakeGate has questions that a test asks and answers.
type fakeGate struct {
	root string

	mu      sync.Mutex
	pending []umpire.Pending
	events  []umpire.Event
	news    chan struct{}
	answers []umpire.Answer
}

func newFakeGate() *fakeGate { return &fakeGate{root: "/work/shop", news: make(chan struct{})} }

// ask puts a question.
func (g *fakeGate) ask(p umpire.Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.Session == "" {
		p.Session = "s1"
	}
	if p.ShownDigest == "" {
		p.ShownDigest = "digest of " + string(p.Request)
	}
	g.pending = append(g.pending, p)
	g.add(umpire.Event{Kind: umpire.EventPermissionAsked, Request: p.Request, Session: p.Session})
}

// add appends an event; mu is held.
func (g *fakeGate) add(e umpire.Event) {
	e.Seq, e.At = int64(len(g.events)+1), time.Now()
	g.events = append(g.events, e)
	close(g.news)
	g.news = make(chan struct{})
}

func (g *fakeGate) Pending(_ context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.pending), func(p umpire.Pending) bool {
		return q.Session != "" && p.Session != q.Session
	}), nil
}

func (g *fakeGate) Resolve(_ context.Context, a umpire.Answer) (umpire.Batch, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.pending, func(p umpire.Pending) bool { return p.Request == a.Request })
	if at < 0 {
		return umpire.Batch{}, &umpire.ResolvedError{}
	}
	p := g.pending[at]
	if a.ShownDigest != p.ShownDigest || a.ArgsHash != p.ArgsHash {
		return umpire.Batch{}, umpire.ErrChanged
	}
	g.answers = append(g.answers, a)
	g.pending = slices.Delete(g.pending, at, at+1)
	kind, code := umpire.EventPermissionRejected, umpire.ReasonCode("denied")
	if a.Choice == umpire.Approve {
		kind, code = umpire.EventPermissionApproved, ""
	}
	g.add(umpire.Event{Kind: kind, Code: code, Request: a.Request, Session: p.Session, Scope: &a.Scope, Actor: "ann"})
	return umpire.Batch{}, nil
}

// fakeSessions are the sessions of a fakeGate.
type fakeSessions struct {
	umpire.SessionKeeper // nil: a notifier uses nothing else

	root string
}

func (g *fakeGate) Sessions() umpire.SessionKeeper { return fakeSessions{root: g.root} }

func (g fakeSessions) Get(_ context.Context, id umpire.SessionID) (umpire.Session, error) {
	return umpire.Session{ID: id, Root: g.root, Agent: "claude"}, nil
}

func (g *fakeGate) Events(_ context.Context, f umpire.Filter) ([]umpire.Event, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events[max(0, len(g.events)-f.Last):]), nil
}

func (g *fakeGate) Watch(ctx context.Context, f umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for next := f.After; ; {
			g.mu.Lock()
			news, fresh := g.news, slices.Clone(g.events[next:])
			g.mu.Unlock()
			next += int64(len(fresh))
			for _, e := range fresh {
				if !yield(e, nil) {
					return
				}
			}
			select {
			case <-news:
			case <-ctx.Done():
				return
			}
		}
	}
}

// command is a question about a command.
func command(id, line string) umpire.Pending {
	input, _ := json.Marshal(map[string]string{"command": line}) // strings only
	return umpire.Pending{
		Request: umpire.RequestID(id), Tool: "Bash", Risk: "medium", Input: input, ArgsHash: "h",
		CommandInfo: &umpire.CommandInfo{Command: line}, Consequence: umpire.Reversible,
	}
}

const topic = "a-topic-nobody-guesses"

// begin starts a notifier with a fake of ntfy.
func begin(t *testing.T, g *fakeGate, change func(c *Config)) (*Notifier, *fake.Ntfy) {
	t.Helper()
	server := fake.NewNtfy(false)
	t.Cleanup(server.Close)
	c := Config{
		Gate: g, Report: filepath.Join(t.TempDir(), "notices.json"), pause: time.Millisecond,
		Notify: config.Notify{
			After: time.Millisecond,
			Ntfy:  &config.Ntfy{Server: server.URL, Topic: topic},
		},
		Warn: func(err error) { t.Log(err) },
	}
	if change != nil {
		change(&c)
	}
	n, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, server
}

// writeSecret makes a token the one of ntfy.
func writeSecret(t *testing.T, c *Config, token string) {
	t.Helper()
	c.Secrets, c.Notify.Ntfy.TokenFile = t.TempDir(), "token"
	if err := os.WriteFile(filepath.Join(c.Secrets, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wait returns the messages of a topic once there are as many.
func wait(t *testing.T, s *fake.Ntfy, count int) []fake.NtfyMessage {
	t.Helper()
	got, arrived := s.Wait(topic, count)
	if !arrived {
		t.Fatalf("%d messages, want %d: %+v", len(got), count, got)
	}
	return got
}

// A notice tells tool, risk and project, and nothing of the command. The answer follows it.
func TestNoticeOfAQuestion(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	_, server := begin(t, g, nil)
	g.ask(command("r1", "make secret-release"))
	m := wait(t, server, 1)[0]
	if m.Title != "Bash · medium" || m.Message != "claude asks in shop" || m.Priority != 3 || m.Click != "" {
		t.Errorf("got %+v", m)
	}
	if _, err := g.Resolve(t.Context(), umpire.Answer{
		Request: "r1", ArgsHash: "h", ShownDigest: "digest of r1", Choice: umpire.Refuse,
	}); err != nil {
		t.Fatal(err)
	}
	after := wait(t, server, 2)[1]
	if after.Message != "denied by ann\nclaude asks in shop" || after.Priority != quietPriority {
		t.Errorf("got %+v", after)
	}
	if after.Sequence == "" || after.Sequence != m.Sequence {
		t.Errorf("the sequences are %q and %q", m.Sequence, after.Sequence)
	}
}

// What strangers chose is made safe to show, and stays one short line each.
func TestNoticeOfHostileTexts(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	g.root = "/work/[x](https:evil)\n\x1b[2Jadmin"
	_, server := begin(t, g, func(c *Config) { c.Notify.Commands = true })
	p := command("r1", "echo \u202egnp.exe\x1b]0;x\a\nmore "+strings.Repeat("y", 5000))
	p.Tool, p.Risk, p.Agent = "mcp__x__"+strings.Repeat("z", 500)+"\n", "unheard of", "a\x00\nb"
	g.ask(p)
	m := wait(t, server, 1)[0]
	if m.Priority != 4 || len(m.Title) > 200 || len(m.Message) > 1500 {
		t.Errorf("got %+v", m)
	}
	for _, r := range m.Title + m.Message {
		if r < ' ' && r != '\n' || r == '\u202e' {
			t.Fatalf("a control character in %+q", m.Title+m.Message)
		}
	}
	if strings.Contains(m.Title, "\n") || !strings.Contains(m.Message, `a\x00\nb asks in`) {
		t.Errorf("got %+v", m)
	}
}

func TestNoticeOfACommand(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	_, server := begin(t, g, func(c *Config) { c.Notify.Commands = true })
	g.ask(command("r1", "make all"))
	if m := wait(t, server, 1)[0]; m.Message != "make all\n\nclaude asks in shop" {
		t.Errorf("got %q", m.Message)
	}
}

// A question that is answered before its notice is due gets no notice, and neither does its answer.
func TestAnsweredBeforeTheNotice(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	g.ask(command("r1", "make all"))
	_, server := begin(t, g, func(c *Config) { c.Notify.After = time.Hour })
	g.ask(command("r2", "make all"))
	answer := umpire.Answer{Request: "r2", ArgsHash: "h", ShownDigest: "digest of r2", Choice: umpire.Refuse}
	if _, err := g.Resolve(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	if got := server.Messages(topic); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// A question that already waits when the gate starts gets a notice too. A question that ends with
// its session is withdrawn.
func TestNoticeOfWhatWaitsAlready(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	g.ask(command("r1", "make all"))
	_, server := begin(t, g, nil)
	wait(t, server, 1)
	g.mu.Lock()
	g.pending = nil
	g.add(umpire.Event{Kind: umpire.EventSessionEnded, Session: "s1"})
	g.mu.Unlock()
	if m := wait(t, server, 2)[1]; m.Message != "no longer waits\nclaude asks in shop" {
		t.Errorf("got %q", m.Message)
	}
}

// A server that fails gets the notice again; one that refuses it does not. The report says so.
func TestNoticeIsTriedAgain(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	n, server := begin(t, g, nil)
	server.Fail(http.StatusBadGateway, http.StatusTooManyRequests)
	g.ask(command("r1", "make all"))
	wait(t, server, 1)
	server.Fail(http.StatusUnauthorized)
	g.ask(command("r2", "make all"))
	g.ask(command("r3", "make all"))
	g.ask(command("r4", "make all")) // sent after the results of the others are recorded
	wait(t, server, 3)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(n.config.Report)
	if err != nil || len(r.Targets) != 1 || r.Targets[0].Failed != 1 || r.Targets[0].Sent < 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A full queue drops notices, and never blocks.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	r := newReporter("", time.Now, nil)
	q := newQueue(&ntfyTarget{server: config.Ntfy{Server: "https://x.example"}}, r, time.Hour)
	for range maxQueued + 3 {
		q.enqueue(testNotice(time.Now(), nil))
	}
	if got := r.current().Targets[0].Dropped; got != 3 {
		t.Errorf("%d dropped", got)
	}
}

// A webhook gets versioned JSON with a signature. Redirects are not followed, and an error names no
// path.
func TestWebhook(t *testing.T) {
	t.Parallel()
	type got struct {
		header http.Header
		body   []byte
	}
	arrived := make(chan got, 10)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- got{r.Header, body}
		if r.URL.Path == "/redirects" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	secrets := t.TempDir()
	if err := os.WriteFile(filepath.Join(secrets, "hook"), []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{Secrets: secrets, Notify: config.Notify{Webhooks: []config.Webhook{
		{URL: server.URL + "/a", SecretFile: "hook"}, {URL: server.URL + "/redirects", SecretFile: "hook"},
		{URL: "http://127.0.0.1:1/services/T0/B0", SecretFile: "hook"},
	}}}
	results, err := Test(t.Context(), c)
	if err != nil || results[0].Err != nil {
		t.Fatal(results, err)
	}
	first := <-arrived
	var m hookMessage
	if err := json.Unmarshal(first.body, &m); err != nil || m.Version != 1 || m.Event != eventTest {
		t.Errorf("got %s, %v", first.body, err)
	}
	var at int64
	signature := first.header.Get("Umpire-Signature")
	if _, err := fmt.Sscanf(signature, "t=%d,", &at); err != nil || sign("s3cret", time.Unix(at, 0), first.body) != signature {
		t.Errorf("the signature is %q, %v", signature, err)
	}
	if err := results[1].Err; err == nil || !isFinal(err) || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("a redirect is %v", err)
	}
	if err := results[2].Err; err == nil || strings.Contains(err.Error(), "services") {
		t.Errorf("a server that is not there is %v", err)
	}
}

// A secret that others can read, or that is not a line of text, is rejected.
func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, test := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"good":    {"tk_abc\n", 0o600, ""},
		"open":    {"tk_abc\n", 0o644, "can be read by others"},
		"empty":   {"\n", 0o600, "want one line"},
		"binary":  {"a\x00b", 0o600, "want one line"},
		"two":     {"a\nb", 0o600, "want one line"},
		"missing": {"", 0, "no such file"},
	} {
		if test.mode != 0 {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(test.text), test.mode); err != nil {
				t.Fatal(err)
			}
		}
		got, err := readSecret(dir, name)
		if test.want == "" && (err != nil || got != "tk_abc") ||
			test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
