package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/server"
)

// sent is one server-sent event.
type sent struct{ id, kind, data string }

// nextSSE reads the next event of a stream.
func nextSSE(t testing.TB, lines *bufio.Reader) (s sent) {
	t.Helper()
	for {
		line := readLine(t, lines)
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && s != sent{}:
			return s
		case line == "", name == "": // a comment and its end
		case name == "id":
			s.id = value
		case name == "event":
			s.kind = value
		case name == "data":
			s.data = value
		default:
			t.Fatalf("a line that is none of ours: %q", line)
		}
	}
}

// seqs reads n events and returns their numbers.
func seqs(t testing.TB, lines *bufio.Reader, n int) (list []int64) {
	t.Helper()
	for range n {
		s := nextSSE(t, lines)
		seq, err := strconv.ParseInt(s.id, 10, 64)
		if err != nil {
			t.Fatalf("id %q", s.id)
		}
		list = append(list, seq)
	}
	return list
}

func notice(session umpire.SessionID) umpire.Event {
	return umpire.Event{Kind: umpire.EventNotice, Session: session, Project: umpire.ProjectID("p" + string(session[1:]))}
}

// protocols are HTTP/1.1, where connections are taken over, and HTTP/2.
var protocols = map[string]bool{"http1": false, "http2": true}

func eachProtocol(t *testing.T, f func(t *testing.T, w *world, h2 bool)) {
	t.Helper()
	for name, h2 := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, w *world) { f(t, w, h2) })
		})
	}
}

func TestStreamHasIDKindAndData(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, w *world, h2 bool) {
		event := notice("s1")
		event.Reason, event.Data = "line one\nline two\r\u2028", json.RawMessage("{\n\t\"a\": \"b\\nc\"\n}")
		w.gate.tell(event)
		event.Seq = 3
		lines, leave := w.openSSEOver(t, h2, "/v1/events", credentials.Person)
		defer leave()
		got := nextSSE(t, lines)
		if want := (sent{"3", "Notice", string(encoded(t, event))}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		w.gate.tell(notice("s2"))
		if live := nextSSE(t, lines); live.id != "6" {
			t.Errorf("the next one is %+v", live)
		}
	})
}

func TestStreamResumesAndFilters(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, w *world, h2 bool) {
		for range 4 { // 3, 9, 15, 21 of s1; 6, 12, 18, 24 of s2
			w.gate.tell(notice("s1"), notice("s2"))
		}
		rows := []struct {
			query  string
			header []string
			want   []int64
		}{
			{"", nil, []int64{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}},
			{"?after=0", nil, []int64{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}},
			{"?after=20", nil, []int64{21, 24, 27, 30}},
			{"?after=21", nil, []int64{24, 27, 30}},
			{"?after=24", nil, []int64{27, 30}},
			{"?after=29", nil, []int64{30}},
			{"?after=3", []string{"Last-Event-ID", "15"}, []int64{18, 21, 24, 27, 30}},
			{"?session=s1", nil, []int64{3, 9, 15, 21, 27}},
			{"?session=s1&after=9", nil, []int64{15, 21, 27}},
			{"?project=p2", nil, []int64{6, 12, 18, 24, 30}},
			{"?project=p1&session=s1&after=20", nil, []int64{21, 27}},
			{"?session=gone", nil, nil}, // has no events: see below
		}
		type open struct {
			lines *bufio.Reader
			want  []int64
		}
		var streams []open
		for _, row := range rows[:len(rows)-1] {
			lines, leave := w.openSSEOver(t, h2, "/v1/events"+row.query, credentials.Person, row.header...)
			defer leave()
			streams = append(streams, open{lines, row.want})
		}
		w.gate.tell(notice("s1"), notice("s2"))
		for i, s := range streams {
			if got := seqs(t, s.lines, len(s.want)); !slices.Equal(got, s.want) {
				t.Errorf("%q: got %v, want %v", rows[i].query, got, s.want)
			}
		}
	})
}

func TestStreamRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.gate.tell(notice("s1"))
		rows := []struct {
			query  string
			header []string
			want   int
			word   string
		}{
			{"?after=x", nil, 400, "after"},
			{"?after=-1", nil, 400, "after"},
			{"?after=1.5", nil, 400, "after"},
			{"?after=99999999999999999999", nil, 400, "after"},
			{"?after=1&after=2", nil, 400, "after"},
			{"?session=s1&session=s2", nil, 400, "session"},
			{"?after=%zz", nil, 400, "query"},
			{"", []string{"Last-Event-ID", "seven"}, 400, "Last-Event-ID"},
			{"?session=unknown", nil, 404, "unknown"},
			{"?session=s1&project=p2", nil, 403, "s1"},
		}
		for _, row := range rows {
			got := w.ask(t, http.MethodGet, "/v1/events"+row.query, credentials.Person, "", row.header...)
			if message, _ := got.fields["message"].(string); got.status != row.want || !strings.Contains(message, row.word) {
				t.Errorf("%q %v: %d %s", row.query, row.header, got.status, got.body)
			}
		}
		w.gate.mu.Lock()
		w.gate.fails["Events"] = fmt.Errorf("disk: %w", umpire.ErrNotRecorded)
		w.gate.mu.Unlock()
		if got := w.ask(t, http.MethodGet, "/v1/events", credentials.Person, ""); got.status != 503 {
			t.Errorf("a store that fails: %d %s", got.status, got.body)
		}
	})
}

// A deleted session's events still exist and are readable.
func TestDeletedSessionKeepsItsEvents(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{})
	w.gate.tell(umpire.Event{Kind: umpire.EventSessionEnded, Session: "gone", Project: "p7"})
	if data := w.firstSSE(t, "/v1/events?session=gone&project=p7", credentials.Agent); !strings.Contains(data, "SessionEnded") {
		t.Errorf("data = %s", data)
	}
	if got := w.ask(t, http.MethodGet, "/v1/events?session=gone&project=p1", credentials.Agent, ""); got.status != 403 {
		t.Errorf("of another project: %d", got.status)
	}
}

func TestStreamBeats(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, w *world, h2 bool) {
		lines, leave := w.openSSEOver(t, h2, "/v1/events", credentials.Person)
		defer leave()
		for range 10 { // longer than the write timeout
			for line := ""; line != ":"; line = readLine(t, lines) {
				if line != "" {
					t.Fatalf("a silent stream has %q", line)
				}
			}
		}
		w.gate.tell(notice("s1"))
		if got := nextSSE(t, lines); got.id != "3" {
			t.Errorf("after the beats: %+v", got)
		}
	})
}

// resumption reads up to the event with which the gate ends a stream, and the end.
func resumption(t *testing.T, lines *bufio.Reader) (last int64, after int64, word string) {
	t.Helper()
	for {
		s := nextSSE(t, lines)
		if s.kind != "resume" {
			last, _ = strconv.ParseInt(s.id, 10, 64)
			continue
		}
		var data struct {
			After int64  `json:"after"`
			Word  string `json:"reason_code"`
		}
		if err := json.Unmarshal([]byte(s.data), &data); err != nil || s.id != strconv.FormatInt(data.After, 10) {
			t.Errorf("resume: %+v", s)
		}
		if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
			t.Errorf("after resume: %q %v", rest, err)
		}
		return last, data.After, data.Word
	}
}

func TestDrainTellsWatchersToResume(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, w *world, h2 bool) {
		w.gate.tell(notice("s1"), notice("s2"))
		lines, leave := w.openSSEOver(t, h2, "/v1/events?session=s1", credentials.Agent)
		defer leave()
		seqs(t, lines, 1)
		type ending struct{ err error }
		ended := make(map[string]chan ending)
		for name, options := range rpcClients {
			stream, err := w.timelineClient(t, credentials.Person, options...).Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{}))
			if err != nil || !stream.Receive() || !stream.Receive() {
				t.Fatalf("%s: %v %v", name, err, stream.Err())
			}
			ended[name] = make(chan ending, 1)
			go func() {
				for stream.Receive() {
				}
				ended[name] <- ending{stream.Err()}
				stream.Close()
			}()
		}
		// The live watchers have seen this event, too, before the gate stops.
		w.gate.tell(notice("s1"))
		seqs(t, lines, 1)
		if err := w.stop(); err != nil {
			t.Errorf("Serve returned %v", err)
		}
		if _, after, word := resumption(t, lines); after != 9 || word != "draining" {
			t.Errorf("resume after %d (%s), want 9", after, word)
		}
		for name, c := range ended {
			err := (<-c).err
			detail := detailOf(t, err)
			if connect.CodeOf(err) != connect.CodeUnavailable || detail.GetReasonCode() != "draining" || detail.GetAfter() < 6 {
				t.Errorf("%s: %v %v", name, err, detail)
			}
		}
	})
}

// A reader that has stopped reading is told where to resume once it reads again. The data
// until then is complete and in order.
func TestSlowReaderIsToldToResume(t *testing.T) {
	t.Parallel()
	for _, network := range sample.Of(t, 1, slices.Sorted(maps.Keys(networks))) {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			stalled := make(logged, 1)
			w := serveHastily(t, network, server.Config{Log: slog.New(stalled)})
			lines, leave := w.openSSE(t, "/v1/events", credentials.Person)
			defer leave()
			quick, leaveQuick := w.openSSE(t, "/v1/events", credentials.Person)
			defer leaveQuick()
			event := notice("s1")
			event.Reason = umpire.Verbatim(strings.Repeat("x", 64<<10))
			total := int64(0)
			for full := false; !full; {
				w.gate.tell(event)
				total++
				if got := seqs(t, quick, 1); got[0] != 3*total {
					t.Fatalf("the quick reader's event %d is %d", total, got[0])
				}
				select {
				case <-stalled:
					full = true
				default:
				}
			}
			last, after, word := resumption(t, lines)
			if word != "slow" || after < last || after >= 3*total {
				t.Errorf("resume after %d (%s); the last event was %d of %d", after, word, last, 3*total)
			}
			again, leaveAgain := w.openSSE(t, "/v1/events", credentials.Person, "Last-Event-ID", strconv.FormatInt(after, 10))
			defer leaveAgain()
			if got := seqs(t, again, 1); got[0] != after+3 {
				t.Errorf("after resuming comes %d", got[0])
			}
		})
	}
}

// logged is a log handler that only records that a watcher was mentioned.
type logged chan struct{}

func (logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l logged) WithGroup(string) slog.Handler          { return l }
func (l logged) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "watcher") {
		select {
		case l <- struct{}{}:
		default:
		}
	}
	return nil
}

// A watcher that was away for longer than the window gets the events from the store.
func TestLateWatcherGetsEverything(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, w *world, h2 bool) {
		lines, leave := w.openSSEOver(t, h2, "/v1/events", credentials.Person)
		defer leave()
		const before, during = 700, 2 * server.WindowFrames
		for range before {
			w.gate.tell(notice("s1"), notice("s2"))
		}
		if got := seqs(t, lines, 2*before); got[2*before-1] != 6*before {
			t.Fatalf("the first watcher is at %d", got[2*before-1])
		}
		go func() {
			for range during {
				w.gate.tell(notice("s1"), notice("s2"))
			}
		}()
		late, leaveLate := w.openSSEOver(t, h2, "/v1/events?session=s2", credentials.Agent)
		defer leaveLate()
		got := seqs(t, late, before+during/4)
		for i, seq := range got {
			if seq != int64(6*i+6) {
				t.Fatalf("event %d is %d", i, seq)
			}
		}
	})
}

// N-58, N-98, N-14: all fields known to a client of the first schema exist, and unknown
// fields are not errors.
func TestFirstClientReadsTheStream(t *testing.T) {
	t.Parallel()
	w := serve(t, "tcp", server.Config{})
	event := filled[umpire.Event]()
	event.Kind = "SomethingNew"
	w.gate.tell(event)
	type first struct {
		Seq     int64  `json:"seq"`
		At      string `json:"at"`
		Kind    string `json:"kind"`
		Session string `json:"session_id"`
		Call    string `json:"call_id"`
		State   string `json:"permission_state"`
		Type    string `json:"permission_type"`
		Risk    string `json:"risk_level"`
		Blocked struct {
			Code string `json:"code"`
		} `json:"blocked_reason"`
	}
	var got first
	if err := json.Unmarshal([]byte(w.firstSSE(t, "/v1/events", credentials.Person)), &got); err != nil {
		t.Fatal(err)
	}
	want := first{Seq: event.Seq, At: "2026-03-04T05:06:07.891011Z", Kind: "SomethingNew", Session: string(event.Session), Call: string(event.Call),
		State: string(event.State), Type: string(event.Type), Risk: event.Risk}
	want.Blocked.Code = string(event.Blocked.Code)
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTooManyWatchersAreRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{Limits: server.Limits{Watchers: 2}})
	w.gate.tell(notice("s1"))
	for range 2 {
		_, leave := w.openSSE(t, "/v1/events?session=s1", credentials.Agent)
		defer leave()
	}
	got := w.ask(t, http.MethodGet, "/v1/events?session=s1", credentials.Agent, "")
	if got.status != 429 || got.fields["reason_code"] != "limit" {
		t.Errorf("the third one: %d %s", got.status, got.body)
	}
	stream, err := w.timelineClient(t, credentials.Agent, connect.WithGRPC()).
		Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{SessionId: "s1"}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeResourceExhausted {
		t.Errorf("over gRPC: %v", stream.Err())
	}
	_, leave := w.openSSE(t, "/v1/events", credentials.Person)
	leave()
}

// After a failure, following the timeline resumes at the same place.
func TestSubscribersSurviveAFailingTimeline(t *testing.T) {
	t.Parallel()
	gate := newFake()
	gate.fails["Watch"] = errors.New("connection lost")
	w := serve(t, "unix", server.Config{Gate: gate})
	lines, leave := w.openSSE(t, "/v1/events", credentials.Person)
	defer leave()
	gate.tell(notice("s1"))
	if got := seqs(t, lines, 1); got[0] != 3 {
		t.Errorf("got %v", got)
	}
}

func TestThousandWatchers(t *testing.T) {
	t.Parallel()
	const events = 5
	n := sample.Times(100, 1000)
	w := serve(t, "unix", server.Config{})
	w.gate.tell(notice("s1"))
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	wrong := make(chan string, n)
	for range n {
		conn := w.rawSSE(t, "/v1/events")
		ready.Add(1)
		done.Go(func() {
			lines := bufio.NewReader(conn)
			for line := ""; line != "\r\n"; line, _ = lines.ReadString('\n') {
			}
			first := seqs(t, lines, 1)
			ready.Done()
			<-start
			if got := append(first, seqs(t, lines, events)...); !slices.Equal(got, []int64{3, 6, 9, 12, 15, 18}) {
				wrong <- fmt.Sprint(got)
			}
		})
	}
	ready.Wait()
	close(start)
	for range events {
		w.gate.tell(notice("s1"))
	}
	done.Wait()
	close(wrong)
	for got := range wrong {
		t.Errorf("a watcher got %s", got)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// rawSSE opens a stream without net/http, whose clients use more resources than the server.
func (w *world) rawSSE(t testing.TB, path string) net.Conn {
	t.Helper()
	conn, err := w.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		path, strings.TrimPrefix(w.base, "http://"), credentials.Person); err != nil {
		t.Fatal(err)
	}
	return conn
}

// The Go client resumes by itself when the gate comes back, without missing or duplicate
// events.
func TestClientWatchesAcrossARestart(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	gate := newFake()
	start := func() *world { return serveAt(t, "unix:"+dir+"/gate.sock", gate) }
	w := start()
	gate.tell(notice("s1"), notice("s2"), notice("s1"))
	var got []int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range w.client(t, credentials.Agent).Watch(ctx, umpire.Filter{Session: "s1"}) {
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Seq)
		switch len(got) {
		case 2:
			if err := w.stop(); err != nil {
				t.Error(err)
			}
			gate.tell(notice("s1"), notice("s2"))
			w = start()
		case 3:
			gate.tell(notice("s1"))
		case 4:
			cancel()
		}
	}
	if want := []int64{3, 9, 12, 18}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestClientWatchEndsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	w := serve(t, "tcp", server.Config{})
	w.gate.tell(notice("s1"), notice("s2"), notice("s1"))
	c := w.client(t, credentials.Person)
	var got []int64
	for e, err := range c.Watch(t.Context(), umpire.Filter{Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Seq)
	}
	for e, err := range c.Watch(t.Context(), umpire.Filter{After: 6}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Seq)
		break
	}
	if want := []int64{3, 6, 9}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, err := range c.Watch(t.Context(), umpire.Filter{Session: "unknown"}) {
		if !errors.Is(err, umpire.ErrNotFound) {
			t.Errorf("a session that is not: %v", err)
		}
	}
	for _, err := range w.client(t, credentials.Agent).Watch(t.Context(), umpire.Filter{}) {
		if !errors.Is(err, server.ErrCredential) {
			t.Errorf("an agent that watches all: %v", err)
		}
	}
}
