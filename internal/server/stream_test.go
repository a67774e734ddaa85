package server_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/server"
)

// Small responses are not compressed, even if the client accepts it, because it costs
// more than it saves.
func TestOnlyLargeAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{})
	w.gate.tell(notice("s1"))
	small := w.call(t, "TimelineService/List", credentials.Agent, `{"session_id":"s1"}`, "Accept-Encoding", "gzip")
	if small.status != 200 || small.header.Get("Content-Encoding") != "" || len(small.fields) != 2 {
		t.Errorf("a small answer: %d %v %s", small.status, small.header, small.body)
	}
	event := notice("s1")
	event.Reason = umpire.Verbatim(strings.Repeat("x", 100<<10))
	w.gate.tell(event)
	large := w.call(t, "TimelineService/List", credentials.Agent, `{"session_id":"s1"}`, "Accept-Encoding", "gzip")
	reader, err := gzip.NewReader(bytes.NewReader(large.body))
	if err != nil || large.header.Get("Content-Encoding") != "gzip" || len(large.body) > 10<<10 {
		t.Fatalf("a large answer of %d bytes: %v %v", len(large.body), large.header, err)
	}
	var list struct {
		Events []umpire.Event `json:"events"`
	}
	if err := json.NewDecoder(reader).Decode(&list); err != nil || len(list.Events) != 2 {
		t.Errorf("%d events, %v", len(list.Events), err)
	}
	if plain := w.call(t, "TimelineService/List", credentials.Agent, `{"session_id":"s1"}`); len(plain.body) < 100<<10 {
		t.Errorf("%d bytes for a client that takes no compression", len(plain.body))
	}
}

// A small request that decompresses to a large one is refused before it does.
func TestCompressedRequestsAreBounded(t *testing.T) {
	t.Parallel()
	w := serve(t, "tcp", server.Config{})
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := io.Copy(writer, io.LimitReader(spaces{}, 16<<20)); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	got := w.call(t, "GateService/Start", credentials.Agent, packed.String(), "Content-Encoding", "gzip")
	if got.status != 429 || w.gate.last("Start") != nil {
		t.Errorf("%d bytes that unpack to 16 MiB: %d %s", packed.Len(), got.status, got.body)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// incompressible returns a text that gzip cannot shorten much.
func incompressible(n int) string {
	text := make([]byte, n/2)
	_, _ = rand.Read(text)
	return hex.EncodeToString(text)
}

// Over HTTP/2 a stalled stream is reset, because a message could not overtake the unread
// data. The reader continues from its last event.
func TestStalledStreamIsReset(t *testing.T) {
	t.Parallel()
	const total = 90
	for _, name := range []string{"grpc", "connect"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(logged, 1)
			w := serveHastily(t, "unix", server.Config{Log: slog.New(gone)})
			event := notice("s1")
			event.Reason = umpire.Verbatim(incompressible(128 << 10))
			stream, err := w.timelineClient(t, credentials.Person, rpcClients[name]...).Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{}))
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			for range total {
				w.gate.tell(event)
			}
			<-gone
			last := int64(0)
			for stream.Receive() {
				if seq := stream.Msg().GetSeq(); seq != last+3 {
					t.Fatalf("after %d comes %d", last, seq)
				}
				last += 3
			}
			if stream.Err() == nil || last == 0 || last >= 3*total {
				t.Errorf("ends after %d with %v", last, stream.Err())
			}
		})
	}
}

// A stream that is idle for longer than the write timeout continues.
func TestIdleStreamGoesOn(t *testing.T) {
	t.Parallel()
	hastily(t, func(t *testing.T, w *world) {
		w.gate.tell(notice("s1"))
		clock, leave := w.openSSE(t, "/v1/events", credentials.Person)
		defer leave()
		seqs(t, clock, 1)
		next := map[string]func() int64{}
		clients := map[string]umpirev1.TimelineServiceClient{
			"connect over HTTP/1.1": umpirev1.NewTimelineServiceClient(w.http(t, false), w.base, bearer(credentials.Person)),
		}
		for name, options := range rpcClients {
			clients[name] = w.timelineClient(t, credentials.Person, options...)
		}
		for name, timeline := range clients {
			stream, err := timeline.Watch(t.Context(), connect.NewRequest(&umpirev1.EventQuery{}))
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			next[name] = func() int64 {
				if !stream.Receive() {
					t.Fatalf("%s: %v", name, stream.Err())
				}
				return stream.Msg().GetSeq()
			}
			if got := next[name](); got != 3 {
				t.Fatalf("%s begins with %d", name, got)
			}
		}
		for beats := 0; beats < 35; { // 100 ms each
			if readLine(t, clock) == ":" {
				beats++
			}
		}
		w.gate.tell(notice("s1"))
		for name, receive := range next {
			if got := receive(); got != 6 {
				t.Errorf("%s goes on with %d", name, got)
			}
		}
	})
}
