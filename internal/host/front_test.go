package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

const claudeLs = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}}`

// A hookProcess is a front with its outputs.
type hookProcess struct {
	Front

	out, err bytes.Buffer
}

func newProcess(stdin string, responder *Responder, line func(context.Context, *Question) (*relay.Line, error)) *hookProcess {
	p := &hookProcess{}
	p.Front = Front{
		Stdin: strings.NewReader(stdin), Stdout: &p.out, Stderr: &p.err, Getenv: func(string) string { return "" }, Dir: "/p",
		Now: time.Now, Responder: responder, Line: line, Runner: func() string { return "r" }, Nonce: func() string { return "n" },
	}
	return p
}

func (p *hookProcess) denies(t *testing.T, why string) {
	t.Helper()
	code, known := p.Answer(t.Context(), []string{"claude"})
	if !known || code != relay.ExitDenied || !strings.Contains(p.out.String(), `"deny"`) || !strings.Contains(p.err.String(), why) {
		t.Errorf("exit %d\nstdout %s\nstderr %s\nwant a denial with %q", code, &p.out, &p.err, why)
	}
}

func TestWithoutAGateTheDeskDecides(t *testing.T) {
	t.Parallel()
	responder := &Responder{Config: func(project string) (Config, error) {
		return Config{Decide: func(_ context.Context, _ string, r policy.Query) umpire.Decision {
			if project != "/p" || r.Call.Dir != "/p" {
				t.Errorf("decides in %q, for %q", r.Call.Dir, project)
			}
			return umpire.Decision{Verdict: umpire.Allow, Reason: "fine"}
		}}, nil
	}}
	p := newProcess(claudeLs, responder, nil)
	if code, _ := p.Answer(t.Context(), []string{"claude"}); code != 0 || !strings.Contains(p.out.String(), `"allow"`) {
		t.Errorf("exit %d, %s", code, &p.out)
	}
}

func TestWhatGoesWrongDenies(t *testing.T) {
	t.Parallel()
	broken := &Responder{Config: func(string) (Config, error) { return Config{}, errors.New("a broken configuration") }}
	newProcess(claudeLs, broken, nil).denies(t, "a broken configuration")
	panics := &Responder{Config: func(string) (Config, error) { panic("a fault") }}
	newProcess(claudeLs, panics, nil).denies(t, "internal error: a fault")
	noWay := func(context.Context, *Question) (*relay.Line, error) { return nil, errors.New("no credential") }
	newProcess(claudeLs, broken, noWay).denies(t, "no credential")
	newProcess(`{"hook_event_name":"PreToolUse"}`, broken, nil).denies(t, "tool_name")
}

// serveHTTP serves on a new socket and returns the line to it.
func serveHTTP(t *testing.T, handler http.HandlerFunc) func(context.Context, *Question) (*relay.Line, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	dial := func(ctx context.Context) (io.ReadWriteCloser, error) { return relay.DialUnix(ctx, path) }
	return func(context.Context, *Question) (*relay.Line, error) {
		return &relay.Line{Host: "localhost", Token: "T", Dial: dial}, nil
	}
}

// TestQuestionIsHandedOn: the gate hears what the hook heard, and its answer comes
// back byte for byte.
func TestQuestionIsHandedOn(t *testing.T) {
	t.Parallel()
	line := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		q, readErr := relay.ReadQuestion(body)
		if err != nil || readErr != nil || string(q.Payload) != claudeLs || q.Agent != "claude" || q.Runner != "r" || q.Nonce != "n" ||
			q.Again || q.Deadline <= 0 || r.Header.Get("Authorization") != "Bearer T" || r.URL.Path != relay.Path {
			t.Errorf("%v, %v, %+v, %v", err, readErr, q, r.Header)
		}
		w.Header().Set(relay.HeaderExit, "2")
		w.Header().Set(relay.HeaderStdout, "3")
		fmt.Fprint(w, "outerr")
	})
	p := newProcess(claudeLs, nil, line)
	code, _ := p.Answer(t.Context(), []string{"claude", "--deadline", "300s"})
	if code != 2 || p.out.String() != "out" || p.err.String() != "err" {
		t.Errorf("exit %d, %q, %q", code, &p.out, &p.err)
	}
}

// TestGateThatBreaksOffIsAskedAgain: the second question tells the gate that the first got no
// answer.
func TestGateThatBreaksOffIsAskedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	line := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q, err := relay.ReadQuestion(body)
		if n := asked.Add(1); err != nil || q.Again != (n > 1) {
			t.Errorf("question %d: again %t, %v", n, q.Again, err)
		}
		switch asked.Load() {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"reason_code":"draining","message":"the gate is shutting down"}`)
		default:
			w.Header().Set(relay.HeaderExit, "0")
			w.Header().Set(relay.HeaderStdout, "4")
			fmt.Fprint(w, "back")
		}
	})
	p := newProcess(claudeLs, nil, line)
	if code, _ := p.Answer(t.Context(), []string{"claude"}); code != 0 || p.out.String() != "back" || asked.Load() != 3 {
		t.Errorf("exit %d, %q after %d questions", code, &p.out, asked.Load())
	}
}

func TestGateThatIsNotBackInTimeDenies(t *testing.T) {
	t.Parallel()
	gone := func(context.Context, *Question) (*relay.Line, error) {
		return &relay.Line{Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			return relay.DialUnix(ctx, filepath.Join(t.TempDir(), "s"))
		}}, nil
	}
	p := newProcess(claudeLs, nil, gone)
	moment := time.Now()
	p.Now = func() time.Time { moment = moment.Add(time.Second); return moment }
	p.denies(t, "no gate answers")
}

// TestHeldQuestionEndsWithItsProcess: a gate that holds a question notices when the asking process
// ends.
func TestHeldQuestionEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	held, gone := make(chan bool), make(chan bool)
	line := serveHTTP(t, func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		close(held)
		<-r.Context().Done()
		close(gone)
	})
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { <-held; interrupt() }()
	p := newProcess(claudeLs, nil, line)
	if code, _ := p.Answer(ctx, []string{"claude"}); code != relay.ExitDenied || !strings.Contains(p.err.String(), "interrupted") {
		t.Errorf("exit %d, %q", code, &p.err)
	}
	<-gone
}

// The person's configuration is read again only for an answer that could stop a call and came without it.
func TestFrontWithholds(t *testing.T) {
	t.Parallel()
	deny := claude.Fail("PreToolUse", errLate)
	for _, tt := range []struct {
		name  string
		out   Output
		known *bool // what the run has read
		want  bool
		reads int
	}{
		{"silence", Output{}, nil, false, 0},
		{"denial", deny, nil, true, 1},
		{"denial while observing", deny, new(true), true, 0},
		{"denial of a sound gateway", deny, new(false), false, 0},
	} {
		reads := 0
		f := Front{Observes: func() bool { reads++; return true }}
		r := newRun(time.Now, time.Minute)
		r.observes.Store(tt.known)
		if got := f.withholds(&claude, r, &tt.out); got != tt.want || reads != tt.reads {
			t.Errorf("%s: %t after %d reads, want %t after %d", tt.name, got, reads, tt.want, tt.reads)
		}
	}
}

// A line about missing enforcement begins with the consequence.
func TestUnenforcedBeginsWithHeadline(t *testing.T) {
	t.Parallel()
	d := umpire.Decision{
		Verdict: umpire.Deny, ReasonCode: umpire.CodeRule, Reason: "The cache is slow to build",
		Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: "/home/u/a", Verdict: umpire.Deny, Place: umpire.PlaceOutside}},
	}
	want := "umpire: writes ~/a, outside the project. Not enforced, would have answered deny. The cache is slow to build.\n"
	if got := string(unenforced(d, view.Folders{Home: "/home/u"})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
