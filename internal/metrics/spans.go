package metrics

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
)

// Attributes of a span. Those that begin with gen_ai are of OpenTelemetry's
// conventions for agents, which are in development: these names are of version
// 1.37 of the semantic conventions.
const (
	attrOperation    = "gen_ai.operation.name"
	attrTool         = "gen_ai.tool.name"
	attrCall         = "gen_ai.tool.call.id"
	attrConversation = "gen_ai.conversation.id"
	attrDecision     = "permission.decision"
	attrSource       = "permission.source"
	attrScope        = "permission.scope"
	attrWait         = "permission.wait_ms"
	operation        = "execute_tool"
)

// maxID is the longest id that a span shows.
const maxID = 128

// spans makes one span of each call, from its first event to its result.
type spans struct {
	provider *trace.TracerProvider
	tracer   oteltrace.Tracer
	open     *recent[callKey, *callSpan]
}

type callKey struct {
	session umpire.SessionID
	call    umpire.CallID
}

// A callSpan is a span under way.
type callSpan struct {
	span   oteltrace.Span
	asked  time.Time // zero: no question waits
	waited time.Duration
}

func newSpans(exporter trace.SpanExporter) *spans {
	provider := trace.NewTracerProvider(
		trace.WithBatcher(exporter), trace.WithSampler(trace.AlwaysSample()),
		trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "umpire"))),
	)
	s := &spans{
		provider: provider, tracer: provider.Tracer("github.com/umpirehq/umpire"),
		open: newRecent[callKey, *callSpan](),
	}
	s.open.forgot = func(c *callSpan) { c.span.End() }
	return s
}

func (s *spans) endAll(ctx context.Context) error {
	for _, c := range s.open.values {
		c.span.End()
	}
	return s.provider.Shutdown(ctx)
}

// observe takes one event of a call.
func (s *spans) observe(e *umpire.Event) {
	if e.Call == "" {
		return
	}
	verdict, decided := verdictOf(e)
	switch {
	case decided:
		s.decided(e, verdict)
	case e.Kind == umpire.EventCallStarted:
		s.of(e).span.AddEvent("started", oteltrace.WithTimestamp(e.At))
	case e.Kind == umpire.EventCallIndeterminate:
		c := s.of(e)
		c.span.AddEvent("indeterminate", oteltrace.WithTimestamp(e.At))
		c.asked = e.At
	case e.Kind == umpire.EventCallFinished:
		s.finished(e)
	}
}

// of returns the call's span, and begins it if this is the first event of it.
func (s *spans) of(e *umpire.Event) *callSpan {
	key := callKey{e.Session, e.Call}
	if c, ok := s.open.get(key); ok {
		return c
	}
	tool := string(classOf(e.Tool))
	if knownTool(e.Tool) {
		tool = e.Tool
	}
	_, span := s.tracer.Start(context.Background(), operation+" "+tool, oteltrace.WithTimestamp(e.At),
		oteltrace.WithNewRoot(),
		oteltrace.WithAttributes(attribute.String(attrOperation, operation), attribute.String(attrTool, tool)))
	if plainID(string(e.Call)) {
		span.SetAttributes(attribute.String(attrCall, string(e.Call)))
	}
	if plainID(string(e.Session)) {
		span.SetAttributes(attribute.String(attrConversation, string(e.Session)))
	}
	c := &callSpan{span: span}
	s.open.put(key, c)
	return c
}

// plainID reports whether an id is one, and no text that somebody put in its place.
func plainID(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != ':' {
			return false
		}
	}
	return id != "" && len(id) <= maxID
}

func (s *spans) decided(e *umpire.Event, verdict umpire.Verdict) {
	c := s.of(e)
	c.span.SetAttributes(
		attribute.String(attrDecision, verdict.String()), attribute.String(attrSource, string(sourceOf(e))),
	)
	if e.Scope != nil {
		c.span.SetAttributes(attribute.String(attrScope, e.Scope.String()))
	}
	if verdict == umpire.Ask {
		c.asked = e.At
		c.span.AddEvent("asked", oteltrace.WithTimestamp(e.At))
		return
	}
	if !c.asked.IsZero() {
		c.waited += e.At.Sub(c.asked)
		c.asked = time.Time{}
		c.span.SetAttributes(attribute.Int64(attrWait, c.waited.Milliseconds()))
		c.span.AddEvent("answered", oteltrace.WithTimestamp(e.At))
	}
}

// finished ends a span. A failure is named by its status, a word of a closed set.
func (s *spans) finished(e *umpire.Event) {
	c := s.of(e)
	if decoded, err := batch.Decode(*e); err == nil {
		detail, _ := decoded.Detail.(batch.Finished)
		switch detail.Status {
		case umpire.ResultOK:
			c.span.SetStatus(codes.Ok, "")
		case umpire.ResultError, umpire.ResultDenied, umpire.ResultCancelled, umpire.ResultTimeout,
			umpire.ResultIndeterminate:
			c.span.SetStatus(codes.Error, string(detail.Status))
		}
	}
	c.span.End(oteltrace.WithTimestamp(e.At))
	s.open.takeOut(callKey{e.Session, e.Call})
}
