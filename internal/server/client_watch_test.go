package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// A script answers the requests of one client, one after the other; the last line
// answers all that come after.
type script struct {
	mu    sync.Mutex
	steps []http.HandlerFunc
	asked []string // addresses
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	step := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	s.mu.Unlock()
	step(w, r)
}

// says answers with a stream, and keeps it open on request.
func says(hold bool, lines string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, lines)
		_ = http.NewResponseController(w).Flush()
		if hold {
			<-r.Context().Done()
		}
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func event(seq int64) string {
	return fmt.Sprintf("id: %d\nevent: Notice\ndata: {\"seq\":%d,\"at\":\"2026-01-01T00:00:00Z\",\"kind\":\"Notice\"}\n\n", seq, seq)
}

// watch reads n events of a script, in a synthetic time, and the final error.
func watch(t *testing.T, s *script, f umpire.Filter, n int) (seqs []int64, took time.Duration, err error) {
	t.Helper()
	begun := time.Now()
	c := serveScript(t, s)
	for e, failed := range c.Watch(t.Context(), f) {
		if failed != nil {
			return seqs, time.Since(begun), failed
		}
		if seqs = append(seqs, e.Seq); len(seqs) == n {
			break
		}
	}
	return seqs, time.Since(begun), nil
}

func TestWatchGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		steps []http.HandlerFunc
		want  []int64
		asked []string
	}{
		{
			"a stream that is cut", []http.HandlerFunc{says(false, event(3)+event(5)), says(true, event(7))},
			[]int64{3, 5, 7}, []string{"after=0", "after=5"},
		},
		{
			"a stream that is cut within an event", []http.HandlerFunc{says(false, event(3)+event(5)[:30]), says(true, event(5)+event(7))},
			[]int64{3, 5, 7}, []string{"after=0", "after=3"},
		},
		{
			"an event that comes again", []http.HandlerFunc{says(false, event(3)), says(true, event(3)+event(5)+event(5)+event(7))},
			[]int64{3, 5, 7}, []string{"after=0", "after=3"},
		},
		{
			"a gate that says where to resume", []http.HandlerFunc{
				says(true, event(3)+"id: 9\nevent: resume\ndata: {\"after\":9,\"reason_code\":\"draining\"}\n\n"), says(true, event(11)),
			},
			[]int64{3, 11}, []string{"after=0", "after=9"},
		},
		{
			"a gate that is away for a while", []http.HandlerFunc{
				says(false, event(3)), status(503, `{"code":"unavailable","message":"m","reason_code":"draining"}`), status(502, "proxy"),
				status(429, `{"code":"resource_exhausted","message":"m","reason_code":"limit"}`), says(true, event(5)),
			},
			[]int64{3, 5}, []string{"after=0", "after=3", "after=3", "after=3", "after=3"},
		},
		{
			"a gate that falls silent", []http.HandlerFunc{says(true, event(3)), says(true, event(5))},
			[]int64{3, 5}, []string{"after=0", "after=3"},
		},
		{
			"other ends of lines, comments, fields that nobody knows", []http.HandlerFunc{
				says(true, ":\n\n: hello\r\nretry: 10\r\nid: 3\r\nevent:Notice\r\ndata:{\"seq\":3,\r\ndata: \"kind\":\"Notice\"}\r\n\r\n"),
			},
			[]int64{3}, []string{"after=0"},
		},
		{
			"a long line", []http.HandlerFunc{says(true, "data: {\"seq\":3,\"reason\":\""+strings.Repeat("x", 1<<20)+"\"}\n\n")},
			[]int64{3}, []string{"after=0"},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: row.steps}
				got, _, err := watch(t, s, umpire.Filter{}, len(row.want))
				if err != nil || !slices.Equal(got, row.want) {
					t.Errorf("got %v, %v, want %v", got, err, row.want)
				}
				for i, asked := range s.asked {
					if want := "/v1/events?" + row.asked[min(i, len(row.asked)-1)]; asked != want || len(s.asked) != len(row.asked) {
						t.Errorf("request %d of %d is %s, want %s of %d", i, len(s.asked), asked, want, len(row.asked))
					}
				}
			})
		})
	}
}

func TestWatchGivesUp(t *testing.T) {
	t.Parallel()
	away := status(503, `{"code":"unavailable","message":"m"}`)
	rows := []struct {
		name  string
		steps []http.HandlerFunc
		want  error
		least time.Duration
		most  time.Duration
	}{
		{"when the gate stays away", []http.HandlerFunc{says(false, event(3)), away}, server.ErrUnreachable, time.Minute, 70 * time.Second},
		{"at once when it was never there", []http.HandlerFunc{away}, server.ErrUnreachable, 0, 0},
		{"at once when it is refused", []http.HandlerFunc{
			says(false, event(3)), status(403, `{"code":"permission_denied","message":"m","reason_code":"credential"}`),
		}, server.ErrCredential, 0, time.Second},
		{"at once when it asks for what is not", []http.HandlerFunc{
			status(404, `{"code":"not_found","message":"m","reason_code":"not_found"}`),
		}, umpire.ErrNotFound, 0, 0},
		{"at once when it cannot read an event", []http.HandlerFunc{says(true, event(3)+"data: {\"seq\":\"x\"}\n\n")}, nil, 0, 0},
		{"at once when it cannot read where to resume", []http.HandlerFunc{says(true, "event: resume\ndata: []\n\n")}, nil, 0, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, took, err := watch(t, &script{steps: row.steps}, umpire.Filter{}, 99)
				if err == nil || row.want != nil && !errors.Is(err, row.want) {
					t.Errorf("error %v, want %v", err, row.want)
				}
				if took < row.least || took > row.most {
					t.Errorf("after %v, want %v to %v", took, row.least, row.most)
				}
			})
		})
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := serveScript(t, &script{steps: []http.HandlerFunc{says(true, event(3))}})
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		n := 0
		for _, err := range c.Watch(ctx, umpire.Filter{}) {
			if n++; n == 2 && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ends with %v", err)
			}
		}
		if n != 2 {
			t.Errorf("yields %d times", n)
		}
	})
}

func TestAnswersThatAreNoneOfTheGates(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		step http.HandlerFunc
		want error // nil is any
	}{
		{"a page", status(200, "<html>"), nil},
		{"another kind of value", status(200, `[]`), nil},
		{"a verdict that nobody knows", status(200, `{"verdict":"sure"}`), nil},
		{"nothing", status(200, ""), nil},
		{"a proxy's error", status(502, "bad gateway"), server.ErrUnreachable},
		{"a refusal without a word", status(401, ""), server.ErrCredential},
		{"a head that is too large", status(431, ""), umpire.ErrInvalid},
		{"Connect's own error", status(429, `{"code":"resource_exhausted","message":"message size 9 is larger"}`), umpire.ErrLimit},
		{"a word that comes later", status(500, `{"code":"invalid_argument","message":"m","reason_code":"new"}`), umpire.ErrInvalid},
		{"a late answer without the one that stands", status(409, `{"code":"failed_precondition","message":"m","reason_code":"already_resolved"}`), nil},
		{"a connection that is cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, server.ErrUnreachable},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := serveScript(t, row.step)
			defer c.Close()
			decision, err := c.Check(t.Context(), umpire.Call{})
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
			if decision.Verdict != umpire.Deny || decision.Risk != umpire.Critical {
				t.Errorf("beside the error stands %v", decision.Verdict)
			}
		})
	}
}

// A call has its deadline in the request, and does not outlive it.
func TestCallHasADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 1)
		c := serveScript(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			told <- r.Header.Get("Connect-Timeout-Ms")
			_, _ = io.Copy(io.Discard, r.Body) // or net/http does not see that the client has gone
			<-r.Context().Done()
		}))
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := c.Batch(ctx, "s", "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if got := <-told; got != "1500" {
			t.Errorf("the gate is told %q", got)
		}
	})
}

func TestRequestsSayWhoAsks(t *testing.T) {
	t.Parallel()
	heads := make(chan http.Header, 1)
	bodies := make(chan map[string]any, 1)
	c := serveScript(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		heads <- r.Header
		bodies <- body
		_, _ = io.WriteString(w, "{}")
	}))
	defer c.Close()
	c.Name = "tui"
	answer := umpire.Answer{Request: "r1", ArgsHash: "h", Choice: umpire.Refuse, Actor: "me", Channel: "here"}
	if _, err := c.Resolve(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	head, body := <-heads, <-bodies
	if head.Get("Umpire-Client") != "tui" || head.Get("Content-Type") != "application/json" || head.Get("Authorization") != "" {
		t.Errorf("head %v", head)
	}
	if len(body) != 4 || body["request_id"] != "r1" || body["args_hash"] != "h" || body["answer"] != "deny" || body["scope"] != "once" {
		t.Errorf("body %v", body)
	}
}

func TestReadToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, sound := range map[string]bool{"abc123\n": true, "": false, "\n": false, "two words": false, strings.Repeat("x", 5000): false} {
		path := filepath.Join(dir, "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if token, err := server.ReadToken(path); (err == nil) != sound || sound && token != strings.TrimSpace(text) {
			t.Errorf("%.20q: %q, %v", text, token, err)
		}
	}
	if _, err := server.ReadToken(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
