package otlp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/metrics"
	"github.com/umpirehq/umpire/internal/metrics/otlp"
)

func observe(t *testing.T, o *metrics.Observer) {
	t.Helper()
	err := o.Run(t.Context(), func(yield func(umpire.Event, error) bool) {
		for _, kind := range []umpire.EventKind{umpire.EventPermissionBypassedByRule, umpire.EventCallStarted, umpire.EventCallFinished} {
			if !yield(umpire.Event{Kind: kind, At: time.Now(), Session: "s", Call: "c", Tool: "Read", Code: umpire.CodeSafe}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSpansArrive: a collector gets the span of a call, in its own protocol.
func TestSpansArrive(t *testing.T) {
	t.Parallel()
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("%s %s: %v %q", r.Method, r.URL, err, body)
		}
		got <- &request
	}))
	defer server.Close()
	exporter, err := otlp.Exporter(t.Context(), server.URL+"/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	o := metrics.New(metrics.Config{Exporter: exporter})
	observe(t, o)
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	span := (<-got).GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0]
	if span.GetName() != "execute_tool Read" {
		t.Errorf("span %v", span)
	}
}

// TestNobodyListens: a collector that is not there keeps nobody from ending.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	exporter, err := otlp.Exporter(t.Context(), address+"/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	o := metrics.New(metrics.Config{Exporter: exporter})
	observe(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_ = o.Close(ctx) // whether it says so is the library's matter
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
}
