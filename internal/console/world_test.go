package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A world is a console over a gate with a store of the test's own.
type world struct {
	gate    *gate.Gate
	store   *store.Store
	console *console.Console
	session umpire.Session
	base    string
	n       int          // batches that were submitted
	push    *notice.Push // of the address for other machines
	later   atomic.Int64
	codes   atomic.Int64

	undoable atomic.Pointer[map[umpire.CallID][]console.Undoable]
}

func newWorld(t *testing.T, lang string) (w *world, p *terminal) {
	t.Helper()
	return newWorldIn(t, lang, func(path string) (*store.Store, error) { return sqlite.Open(t.Context(), path) })
}

// newWorldIn makes a world with a store that is opened in a file.
func newWorldIn(
	t *testing.T, lang string, open func(path string) (*store.Store, error),
) (w *world, p *terminal) {
	t.Helper()
	home, project := t.TempDir(), filepath.Join(t.TempDir(), "webshop")
	kept, err := open(filepath.Join(home, "state", "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	w = &world{store: kept, gate: gate.New(gate.Config{
		UserHome: home, Home: filepath.Join(home, ".umpire"), Store: kept,
		Settings: config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 2000},
	})}
	now := func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }
	w.console = console.NewAt(console.Config{
		Gate:    server.Local(w.gate, "console"),
		GateOf:  func(person string) umpire.Gate { return server.LocalAs(w.gate, "console", person) },
		NewCode: w.newCode, Changes: changes, Undoable: w.kept, Undo: w.undo,
		Tasks: func(context.Context, *catalogue.Language, *umpire.Session) (task.Desk, error) { return desk{}, nil },
		TryRule: func(
			_ context.Context, _ *catalogue.Language, dir, action, rule string, since time.Time,
		) (string, error) {
			if _, err := policy.ParseShort(rule); err != nil {
				return "", errors.Join(err, umpire.ErrInvalid)
			}
			return fmt.Sprintf("%s %s in %s since %t <b>", action, rule, filepath.Base(dir), since.IsZero()), nil
		},
		Suggest: func(context.Context, *catalogue.Language, time.Time) ([]history.Saving, error) {
			return []history.Saving{{Commands: []string{"umpire rules add allow X"}, Saves: 3, Calls: []string{"x\u202e", "y"}}}, nil
		},
	}, now)
	w.session = ok(w.gate.Sessions().Open(t.Context(), umpire.Opening{Dir: project, Agent: "Claude Code"}))(t)
	p = openTerminal(t, w.console, lang)
	w.base = "http://" + w.console.Address()
	t.Cleanup(func() {
		p.close()
		if err := errors.Join(w.console.Close(), w.gate.Close(), kept.Close()); err != nil {
			t.Error(err)
		}
	})
	return w, p
}

// newCode makes a code that is not the one before it.
func (w *world) newCode() string { return "cod" + string(rune('a'+w.codes.Add(1)%26)) }

// changes returns the diff that a call's input names.
func changes(_ context.Context, _ *catalogue.Language, p *umpire.Pending, _ *umpire.Session) string {
	var input struct {
		Diff string `json:"diff"`
		File string `json:"file_path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
	}
	_ = json.Unmarshal(p.Input, &input)
	if input.Old != "" {
		return "--- " + input.File + "\n+++ " + input.File + "\n@@ -4,2 +4,2 @@\n name=$1\n-" + input.Old + "\n+" + input.New + "\n"
	}
	return input.Diff
}

func ok[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// ask submits calls of one message, which ask, and returns the questions.
func (w *world) ask(t testing.TB, calls ...umpire.Call) []umpire.Pending {
	t.Helper()
	w.n++
	batch := umpire.BatchID("m" + strings.Repeat("i", w.n))
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = umpire.CallID(string(batch) + "c" + strings.Repeat("i", i+1))
		}
	}
	ok(w.gate.Submit(t.Context(), umpire.Submission{
		Session: w.session.ID, Batch: batch, Lane: string(batch), Calls: calls, Epoch: w.session.Epoch,
	}))(t)
	all := ok(w.gate.Pending(t.Context(), umpire.PendingQuery{}))(t)
	var asked []umpire.Pending
	for _, p := range all {
		if p.Batch == batch {
			asked = append(asked, p)
		}
	}
	return asked
}

func bash(command string) umpire.Call {
	input, _ := json.Marshal(map[string]string{"command": command})
	return umpire.Call{Tool: "Bash", Input: input}
}

// write is a call of medium risk, which needs no code.
func write(name string) umpire.Call {
	input, _ := json.Marshal(map[string]string{"file_path": name, "content": "x"})
	return umpire.Call{Tool: "Write", Input: input}
}

// A terminal follows the console.
type terminal struct {
	link  string
	lines chan string
	close func()
}

func openTerminal(t testing.TB, c *console.Console, lang string) *terminal {
	t.Helper()
	return followTerminal(t, c, lang, false)
}

// followTerminal opens a terminal that shows a link for this machine, or for another.
func followTerminal(t testing.TB, c *console.Console, lang string, remote bool) *terminal {
	t.Helper()
	return followTerminalOf(t, c, lang, "", remote)
}

// followTerminalOf opens a terminal for a person with a name.
func followTerminalOf(t testing.TB, c *console.Console, lang, person string, remote bool) *terminal {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &terminal{lines: make(chan string, 64)}
	done := make(chan error, 1)
	go func() { done <- c.Open(ctx, lang, person, remote, lineTaker(p.lines)) }()
	p.close = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	p.link = p.line(t)
	return p
}

type lineTaker chan string

func (l lineTaker) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// patience is for machines that do much else.
const patience = 2 * time.Minute

// line is the next line on the terminal.
func (p *terminal) line(t testing.TB) string {
	t.Helper()
	select {
	case line := <-p.lines:
		return line
	case <-time.After(patience):
		t.Fatal("nothing comes on the terminal")
	}
	return ""
}

// token is that of the link.
func (p *terminal) token(t testing.TB) string {
	t.Helper()
	_, token, found := strings.Cut(strings.TrimSpace(p.link), "/#")
	if !found || len(token) < 40 {
		t.Fatalf("no link on the terminal: %q", token)
	}
	return token
}

// A browser is one that may be signed in.
type browser struct {
	*world

	client *http.Client
	base   string
	page   *fake.Signer // nil until it is signed in
	agent  string
}

func (w *world) browser(t testing.TB) *browser {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{world: w, client: &http.Client{Transport: transport}, base: w.base, agent: "test browser"}
}

// signIn registers a key with the token of a link.
func (b *browser) signIn(t testing.TB, token string) answer {
	t.Helper()
	return b.signInBy(t, map[string]any{"token": token})
}

// signInBy registers a new key with what lets it in.
func (b *browser) signInBy(t testing.TB, fields map[string]any, headers ...string) answer {
	t.Helper()
	page := ok(fake.NewSigner())(t)
	fields["key"] = ok(page.PublicKey())(t)
	a := b.send(t, http.MethodPost, "/sign-in", string(ok(json.Marshal(fields))(t)), headers...)
	if a.status == http.StatusOK {
		if err := page.Admit([]byte(a.body)); err != nil {
			t.Fatal(err)
		}
		b.page = page
	}
	return a
}

// An answer is the console's answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request as the console's own page does. Headers come in pairs; an empty one is
// left out.
func (b *browser) send(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	r := ok(http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(body)))(t)
	r.Header.Set("User-Agent", b.agent)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", b.base)
		r.Header.Set("Content-Type", "application/json")
	}
	if b.page != nil {
		if err := b.page.Sign(r, b.base); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	if response.Header.Get("Content-Type") != "text/event-stream" {
		a.body = string(ok(io.ReadAll(response.Body))(t))
	}
	return a
}

// bound is an answer to a question, as submitted by a page.
func bound(t testing.TB, p *umpire.Pending, fields map[string]any) string {
	t.Helper()
	all := map[string]any{
		"request_id": p.Request, "session_id": p.Session, "version": p.Version, "args_hash": p.ArgsHash,
		"shown_digest": p.ShownDigest, "answer": "approve", "scope": "once",
	}
	maps.Copy(all, fields)
	return string(ok(json.Marshal(all))(t))
}
