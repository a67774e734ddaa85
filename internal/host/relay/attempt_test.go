//go:build unix

package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const question = `{"a":1}`

// A fakeGate listens at a gate's address in a temporary folder. Each connection gets the text that
// answer returns for its question, and is then closed.
type fakeGate struct {
	home  string
	asked atomic.Int64
}

func newFakeGate(t *testing.T, answer func(*Question) string) *fakeGate {
	t.Helper()
	g := &fakeGate{home: t.TempDir()}
	if err := os.Mkdir(filepath.Join(g.home, stateFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(TokenFile(g.home), []byte("T\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", Socket(g.home))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go g.serve(conn, answer)
		}
	}()
	return g
}

func (g *fakeGate) serve(conn net.Conn, answer func(*Question) string) {
	defer conn.Close()
	var got []byte
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return // nothing was asked
		}
		got = append(got, buffer[:n]...)
		head, body, _ := strings.Cut(string(got), "\r\n\r\n")
		q, err := ReadQuestion([]byte(body))
		if err == nil && strings.HasSuffix(string(q.Payload), "}") && strings.Contains(head, "Bearer T\r\n") {
			g.asked.Add(1)
			io.WriteString(conn, answer(&q))
			return
		}
	}
}

// attempt is an attempt with a whole question on standard input.
func (g *fakeGate) attempt(t *testing.T, stdin *os.File, args ...string) *Attempt {
	t.Helper()
	return &Attempt{
		Args: args, Getenv: func(string) string { return "" }, Dir: "/p", Stdin: int(stdin.Fd()),
		Runner: func() string { return "r" }, Nonce: "n", Patience: time.Minute,
	}
}

func (g *fakeGate) plain() []string { return []string{"hook", "claude", "--home", g.home} }

// stdinWith is standard input with a text; it ends there unless open is set.
func stdinWith(t *testing.T, text string, open bool) *os.File {
	t.Helper()
	if !open {
		name := filepath.Join(t.TempDir(), "stdin")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return r
}

func always(text string) func(*Question) string { return func(*Question) string { return text } }

func TestAttemptIsAnswered(t *testing.T) {
	t.Parallel()
	var got Question
	g := newFakeGate(t, func(q *Question) string { got = *q; return goodAnswer })
	a := g.attempt(t, stdinWith(t, question, false), append(g.plain(), "--deadline", "300s", "--host-dir", "/c")...)
	answer, answered := a.Ask()
	if diff := cmp.Diff(Output{Stdout: []byte("out\n"), Stderr: []byte("err"), Exit: 2}, answer); !answered || diff != "" {
		t.Fatalf("answered %t\n%s", answered, diff)
	}
	if got.Deadline <= 0 || got.Deadline > 300*time.Second {
		t.Errorf("a deadline of %v", got.Deadline)
	}
	got.Deadline = 0
	want := Question{
		Agent: "claude", Payload: []byte(question), Dir: "/p", HostDir: "/c", Attended: true, Runner: "r", Nonce: "n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAttemptLeavesTheAnswer: if the gate does not answer at once, or not validly, the question is
// not sent again, and the answer is read as usual.
func TestAttemptLeavesTheAnswer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text, want string
	}{
		"breaks off":      {goodAnswer[:60], "lost the connection"},
		"says nothing":    {"", "lost the connection"},
		"is not a gate":   {"SSH-2.0-x\r\n\r\n", "not a gate"},
		"says too much":   {goodAnswer + "x", "longer than announced"},
		"refuses":         {"HTTP/1.1 401 X\r\nContent-Length: 17\r\n\r\n" + `{"message":"who"}`, "who"},
		"has a bad exit":  {strings.Replace(goodAnswer, "Exit: 2", "Exit: 999", 1), "umpire-exit"},
		"ends for a time": {"HTTP/1.1 503 X\r\nContent-Length: 41\r\n\r\n" + `{"reason_code":"draining","message":"by"}`, "by"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFakeGate(t, always(row.text))
			a := g.attempt(t, stdinWith(t, question, false), g.plain()...)
			if answer, answered := a.Ask(); answered {
				t.Fatalf("answered %+v", answer)
			}
			out, err := g.askAfter(t, a)
			if err == nil || !strings.Contains(err.Error(), row.want) || len(out.Stdout) > 0 {
				t.Errorf("%+v, %v; want %q", out, err, row.want)
			}
		})
	}
}

func TestAttemptWaitsNotForLong(t *testing.T) {
	t.Parallel()
	tried := make(chan struct{})
	g := newFakeGate(t, func(*Question) string { <-tried; return goodAnswer })
	a := g.attempt(t, stdinWith(t, question, false), g.plain()...)
	a.Patience = time.Millisecond
	if answer, answered := a.Ask(); answered {
		t.Fatalf("answered %+v", answer)
	}
	close(tried)
	if out, err := g.askAfter(t, a); err != nil || string(out.Stdout) != "out\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

// askAfter asks by the line that an attempt has left, and wants the question to be sent once.
func (g *fakeGate) askAfter(t *testing.T, a *Attempt) (Output, error) {
	t.Helper()
	line, err := a.Line()
	if line == nil || err != nil {
		t.Fatal("no line is left", err)
	}
	payload, err := io.ReadAll(a.Payload(strings.NewReader("more")))
	if err != nil || string(payload) != question {
		t.Errorf("%q is left of the payload, %v", payload, err)
	}
	out, err := line.Ask(context.Background(), &Question{Agent: "claude", Payload: payload})
	if n := g.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	return out, err
}

// TestAttemptLeavesTheQuestion that it has not read in time, or that is too long for it.
func TestAttemptLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	long := `{"` + strings.Repeat("a", 2*maxEarly) + `"}`
	for name, row := range map[string]struct {
		stdin    *os.File
		begin    string
		patience time.Duration
	}{
		"slow": {stdinWith(t, question[:3], true), "", time.Millisecond},
		"long": {stdinWith(t, long, false), long[:maxEarly], time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFakeGate(t, always(goodAnswer))
			a := g.attempt(t, row.stdin, g.plain()...)
			a.Patience = row.patience
			if answer, answered := a.Ask(); answered {
				t.Fatalf("answered %+v", answer)
			}
			payload, err := io.ReadAll(a.Payload(strings.NewReader("-rest")))
			text := string(payload)
			if err != nil || !strings.HasPrefix(text, row.begin) || !strings.HasSuffix(text, "-rest") {
				t.Errorf("%d bytes, %v", len(payload), err)
			}
			line, err := a.Line()
			if err != nil {
				t.Fatal(err)
			}
			out, err := line.Ask(t.Context(), &Question{Agent: "claude", Payload: []byte(question)})
			if err != nil || string(out.Stdout) != "out\n" || g.asked.Load() != 1 {
				t.Errorf("%+v, %v, asked %d times", out, err, g.asked.Load())
			}
		})
	}
}

// TestAttemptLeavesEverything: where anything is to be looked at with more care, nothing is read,
// sent or connected.
func TestAttemptLeavesEverything(t *testing.T) {
	t.Parallel()
	g := newFakeGate(t, always(goodAnswer))
	configured := newFakeGate(t, always(goodAnswer))
	config := filepath.Join(configured.home, "config.yaml")
	if err := os.WriteFile(config, []byte("listen: /elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := newFakeGate(t, always(goodAnswer))
	if err := os.Remove(TokenFile(locked.home)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Attempt){
		"no agent":              func(a *Attempt) { a.Args = []string{"hook"} },
		"an unknown agent":      func(a *Attempt) { a.Args[1] = "nobody" },
		"a protocol of its own": func(a *Attempt) { a.Args[1] = "muse" },
		"an unknown option":     func(a *Attempt) { a.Args = append(a.Args, "--rules", "x") },
		"a short deadline":      func(a *Attempt) { a.Args = append(a.Args, "--deadline", "119s") },
		"no working directory":  func(a *Attempt) { a.Dir = "" },
		"no gate":               func(a *Attempt) { a.Args[3] = t.TempDir() },
		"no credential":         func(a *Attempt) { a.Args[3] = locked.home },
		"another socket":        func(a *Attempt) { a.Args[3] = configured.home },
		"a folder that the environment names": func(a *Attempt) {
			a.Args = a.Args[:2]
			a.Getenv = func(name string) string { return map[string]string{"UMPIRE_HOME": g.home}[name] }
		},
		"another home": func(a *Attempt) {
			a.Args = a.Args[:2]
			a.Getenv = func(name string) string { return map[string]string{"HOME": filepath.Dir(g.home)}[name] }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := g.attempt(t, stdinWith(t, question, false), g.plain()...)
			change(a)
			if answer, answered := a.Ask(); answered {
				t.Fatalf("answered %+v", answer)
			}
			line, err := a.Line()
			if absent := name == "no gate"; line != nil || errors.Is(err, ErrAbsent) != absent || a.Looked() != absent {
				t.Errorf("a line is left, %v", err)
			}
			if len(a.payload) > 0 || a.ended || g.asked.Load() > 0 {
				t.Error("something was read or sent")
			}
		})
	}
}

func TestAttemptSurvivesAFault(t *testing.T) {
	t.Parallel()
	g := newFakeGate(t, always(goodAnswer))
	a := g.attempt(t, stdinWith(t, question, false), g.plain()...)
	a.Runner = func() string { panic("a fault") }
	if answer, answered := a.Ask(); answered {
		t.Fatalf("answered %+v", answer)
	}
	if out, err := g.askAfter(t, a); err != nil || string(out.Stdout) != "out\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestHalfAQuestionIsAskedAgain: the gate may have taken it or not.
func TestHalfAQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	conn := &askedConn{ReadWriteCloser: stdinWith(t, "", false), unsent: io.ErrShortWrite}
	line := &Line{Host: "localhost", Conn: conn}
	if _, err := line.Ask(t.Context(), &Question{}); !errors.Is(err, ErrLost) {
		t.Errorf("%v, want one that says that the connection is lost", err)
	}
}

func TestUnwritableAnswerDenies(t *testing.T) {
	t.Parallel()
	closed, _ := os.Open(os.DevNull) // for reading only
	defer closed.Close()
	if exit := (Output{Stdout: []byte("x")}).Print(closed, io.Discard); exit != ExitDenied {
		t.Errorf("exit %d", exit)
	}
}
