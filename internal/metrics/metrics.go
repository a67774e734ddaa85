// Package metrics turns the timeline into figures for Prometheus and spans for
// OpenTelemetry. Both are off until they are asked for:
//
//	o := metrics.New(metrics.Config{Prometheus: true, Pending: pending})
//	go o.Run(ctx, gate.Watch(ctx, umpire.Filter{After: last}))
//	http.Handle("/metrics", o.Handler())
//
// Labels come from closed sets: a tool appears by its class, a decision by its source. No
// command, path, id or text of anybody becomes a label; spans bear the ids of the call and
// the session, and no content.
//
// | name | what it counts |
// |---|---|
// | umpire_decisions_total{verdict,source} | decisions and answers |
// | umpire_calls_total{tool}, umpire_prompts_total{tool} | calls submitted, and those that were asked about |
// | umpire_prompts_per_100_calls | how often people are asked |
// | umpire_asks_pending | questions that wait now |
// | umpire_ask_wait_seconds | how long a question waited for a person |
// | umpire_hasty_answers_total | answers in less than a second: nobody has read the question |
// | umpire_executions_unknown_total | calls of which nobody knows whether they ran |
// | umpire_resume_redelivered_total | results that were handed out again |
// | umpire_rules_reload_total{result} | rule files that changed, and whether all is well |
// | umpire_evaluate_seconds | how long deciding one call took |
package metrics

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/umpirehq/umpire"
)

// A Config says what is observed. The zero value is nothing.
type Config struct {
	// Prometheus turns the figures on.
	Prometheus bool
	// Pending counts the questions that wait now. It is called for each scrape, and
	// has to end with its context. Nil leaves the figure out.
	Pending func(context.Context) (int, error)
	// Exporter receives the spans; nil turns them off. Package otlp has one.
	Exporter trace.SpanExporter
}

// An Observer watches a gate through its timeline. An observer with everything off costs
// nothing.
type Observer struct {
	figures *figures
	spans   *spans
}

// New returns an observer.
func New(c Config) *Observer {
	o := &Observer{}
	if c.Prometheus {
		o.figures = newFigures(c.Pending)
	}
	if c.Exporter != nil {
		o.spans = newSpans(c.Exporter)
	}
	return o
}

// On reports whether there is anything to feed.
func (o *Observer) On() bool { return o.figures != nil || o.spans != nil }

// Handler serves the figures; nil when they are off.
func (o *Observer) Handler() http.Handler {
	if o.figures == nil {
		return nil
	}
	return o.figures.handler()
}

// Run takes events until there are no more, and returns the error that ended them. The end of
// ctx is not an error. The figures count from the first event that is given: a gate that was
// started again gives those after its last one.
func (o *Observer) Run(ctx context.Context, events iter.Seq2[umpire.Event, error]) error {
	for e, err := range events {
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
			return err
		}
		o.observe(&e)
	}
	return nil
}

// observe is called by one goroutine.
func (o *Observer) observe(e *umpire.Event) {
	if o.figures != nil {
		o.figures.observe(e)
	}
	if o.spans != nil {
		o.spans.observe(e)
	}
}

// Close sends the spans that are left, and stops. It waits no longer than ctx. Run
// has to have returned.
func (o *Observer) Close(ctx context.Context) error {
	if o.spans == nil {
		return nil
	}
	return o.spans.endAll(ctx)
}
