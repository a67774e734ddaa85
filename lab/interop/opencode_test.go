//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOpenCodeAsksOnce: opencode may ask because of the person's settings. It does not ask again about a call
// that the person approved in umpire, for any reason. It does ask about calls that umpire allowed by itself.
func TestOpenCodeAsksOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command string
		approve       bool
		replies       []string
	}{
		{"approved", "touch asked ../outside/asked", true, []string{"once", "once"}},
		{"allowed", "touch made", false, []string{"reject"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := startModel(t)
			w := newLab(t, "opencode", m)
			call := w.Driver.Shell(tt.command)
			call.ID = "call_1"
			m.Main = []turn{{call}}
			if err := w.Prepare(); err != nil {
				t.Fatal(err)
			}
			w.askForEverything()
			if err := w.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), sessionLimit)
			defer cancel()
			w.adds(ctx, "allow", "Bash(touch made)")
			w.adds(ctx, "ask", "Bash(touch asked *)")
			w.write("home/.umpire/config.yaml", "hook.when_asked: hold\n")
			if err := os.Chmod(w.Path("home/.umpire"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.serve(ctx)
			o := w.serveOpenCode(ctx)
			o.prompt(ctx)
			if tt.approve {
				w.approve(ctx, "call_1")
			}
			replies := o.replies(ctx, !tt.approve)
			file := strings.Fields(tt.command)[1]
			if runs := w.Exists("project/" + file); runs != tt.approve || !slices.Equal(replies, tt.replies) {
				t.Errorf("ran: %t, and opencode was told %q; want %t, %q", runs, replies, tt.approve, tt.replies)
			}
		})
	}
}

// approve approves a call as soon as the gate holds it.
func (w *world) approve(ctx context.Context, id string) {
	w.Helper()
	for {
		out, code := w.start(w.Umpire, "approve", id, "--token-file", w.Path("home/.umpire/state/person.token"))
		switch {
		case code == 0:
			return
		case ctx.Err() != nil || !strings.Contains(out, "no waiting call has the ID"):
			w.Fatalf("umpire approve: exit %d\n%s", code, out)
		}
	}
}

// An openCodeServer is opencode as its desktop program and editors drive it.
type openCodeServer struct {
	*world
	base   string
	events io.Reader
}

// serveOpenCode starts opencode without a client that would answer its questions.
func (w *world) serveOpenCode(ctx context.Context) *openCodeServer {
	w.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	at := free.Addr().String()
	free.Close()
	_, port, _ := net.SplitHostPort(at)
	cmd := w.Command(ctx, w.Program, "serve", "--port", port, "--hostname", "127.0.0.1", "--print-logs")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		if w.Failed() {
			w.Logf("%s", log.Bytes())
		}
	})
	o := &openCodeServer{world: w, base: "http://" + at}
	lines := bufio.NewScanner(out)
	for ready := false; !ready; { // a request that arrives before is never answered
		if !lines.Scan() {
			w.Fatalf("opencode serve did not start: %v", lines.Err())
		}
		ready = strings.Contains(lines.Text(), "listening on")
	}
	go io.Copy(io.Discard, out) // it ends with the server
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+"/event", nil)
	if err != nil {
		w.Fatal(err)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableCompression: true}}).Do(ask)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { answer.Body.Close() })
	o.events = answer.Body
	return o
}

// post sends a body, and reads the answer if one is wanted.
func (o *openCodeServer) post(ctx context.Context, path string, body, answer any) {
	o.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		o.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base+path, bytes.NewReader(text))
	if err != nil {
		o.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(ask)
	if err != nil {
		o.Fatal(err)
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", got.Status, said)
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(said, answer)
	}
	if err != nil {
		o.Fatalf("%s: %v", path, err)
	}
}

// prompt starts a session and its first turn.
func (o *openCodeServer) prompt(ctx context.Context) {
	o.Helper()
	var session struct{ ID string }
	o.post(ctx, "/session", struct{}{}, &session)
	part := map[string]string{"type": "text", "text": "Run the scripted steps."}
	o.post(ctx, "/session/"+session.ID+"/prompt_async", map[string]any{"parts": []any{part}}, nil)
}

// replies returns the replies to opencode's questions until the turn ended. If refuse is true, it refuses
// each question itself.
func (o *openCodeServer) replies(ctx context.Context, refuse bool) (all []string) {
	o.Helper()
	lines := bufio.NewScanner(o.events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		var event struct {
			Type       string `json:"type"`
			Properties struct {
				ID    string `json:"id"`
				Reply string `json:"reply"`
			} `json:"properties"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			o.Fatal(err)
		}
		switch event.Type {
		case "permission.asked":
			if refuse {
				o.post(ctx, "/permission/"+event.Properties.ID+"/reply", map[string]string{"reply": "reject"}, nil)
			}
		case "permission.replied":
			all = append(all, event.Properties.Reply)
		case "session.idle":
			return all
		}
	}
	o.Fatalf("opencode's turn did not end: %v, replies %q", lines.Err(), all)
	return nil
}
