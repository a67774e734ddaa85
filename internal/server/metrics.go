package server

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// hasty bounds answers that came too fast to have been considered.
const hasty = time.Second

// scrapeTimeout bounds how long counting the questions may take.
const scrapeTimeout = 5 * time.Second

// Figures are counted from the timeline of a gate and scraped by Prometheus. They have their own registry.
type Figures struct {
	registry *prometheus.Registry

	decisions, calls, prompts, reloads *prometheus.CounterVec
	hasty, unknown, redelivered        prometheus.Counter
	wait, evaluate                     prometheus.Histogram
	perHundred                         prometheus.Gauge

	asked   jsonrpc.Table[time.Time]         // when questions without an answer were asked, by questionKey
	claimed jsonrpc.Table[struct{}]          // batches whose results were handed out, by batchKey
	counted struct{ calls, prompts float64 } // for the ratio
}

// maxRecent bounds the memory for questions and batches that never end.
const maxRecent = 10_000

func questionKey(e *umpire.Event) string { return string(e.Session) + "\x00" + string(e.Request) }

func batchKey(e *umpire.Event) string { return string(e.Session) + "\x00" + string(e.Batch) }

// waits range from a reflex to a working day.
var waits = [...]float64{0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 28800}

// evaluations range from a lookup to a noticeable delay.
var evaluations = [...]float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1}

// NewFigures returns the figures of a gate. Each scrape calls pending, which returns the number of
// questions that wait now and ends with its context. If pending is nil, that figure is omitted.
func NewFigures(pending func(context.Context) (int, error)) *Figures {
	f := &Figures{
		registry:  prometheus.NewRegistry(),
		decisions: newCounters("umpire_decisions_total", "Decisions and answers.", "verdict", "source"),
		calls:     newCounters("umpire_calls_total", "Calls submitted, by class of tool.", "tool"),
		prompts:   newCounters("umpire_prompts_total", "Questions put to people, by class of tool.", "tool"),
		reloads:   newCounters("umpire_rules_reload_total", "Changes of rule files.", "result"),
		hasty:     newCounter("umpire_hasty_answers_total", "Answers of people in less than a second."),
		unknown: newCounter(
			"umpire_executions_unknown_total", "Calls that were started and nobody knows whether they ran.",
		),
		redelivered: newCounter("umpire_resume_redelivered_total", "Results of batches that were handed out again."),
		wait:        newHistogram("umpire_ask_wait_seconds", "How long questions waited for a person.", waits[:]),
		evaluate:    newHistogram("umpire_evaluate_seconds", "How long deciding one call took.", evaluations[:]),
		perHundred: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "umpire_prompts_per_100_calls",
			Help: "Questions put to people for each hundred calls, since the start.",
		}),
		asked:   jsonrpc.NewTable[time.Time](maxRecent),
		claimed: jsonrpc.NewTable[struct{}](maxRecent),
	}
	f.registry.MustRegister(
		f.decisions, f.calls, f.prompts, f.reloads, f.hasty, f.unknown, f.redelivered, f.wait, f.evaluate, f.perHundred,
	)
	if pending != nil {
		f.registry.MustRegister(&pendingCollector{
			desc:  prometheus.NewDesc("umpire_asks_pending", "Questions that wait for a person now.", nil, nil),
			count: pending,
		})
	}
	return f
}

func newCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func newCounters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func newHistogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// Handler serves the figures. A figure that cannot be computed does not affect the others.
func (f *Figures) Handler() http.Handler {
	return promhttp.HandlerFor(
		f.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, DisableCompression: true},
	)
}

// A pendingCollector counts the waiting questions on each scrape.
type pendingCollector struct {
	desc  *prometheus.Desc
	count func(context.Context) (int, error)
}

// Describe sends the description of its only metric.
func (c *pendingCollector) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect sends the count, or the error.
func (c *pendingCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	n, err := c.count(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(c.desc, err)
		return
	}
	to <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n))
}

// Run counts events until there are no more, and returns the error that ended them. The end of ctx is not an error.
func (f *Figures) Run(ctx context.Context, events iter.Seq2[umpire.Event, error]) error {
	for e, err := range events {
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
			return err
		}
		f.observe(&e)
	}
	return nil
}

// observe counts one event. It is called by one goroutine.
func (f *Figures) observe(e *umpire.Event) {
	if verdict, ok := verdictOf(e); ok {
		f.decisions.WithLabelValues(verdict.String(), string(sourceOf(e))).Inc()
	}
	switch e.Kind {
	case umpire.EventBatchSubmitted:
		f.submitted(e)
	case umpire.EventPermissionAsked:
		f.prompted(e)
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		f.answered(e)
	case umpire.EventCallIndeterminate:
		f.unknown.Inc()
		if e.Request != "" {
			f.prompted(e)
		}
	case umpire.EventModelRequested:
		f.handedOut(e)
	case umpire.EventBatchDelivered:
		f.claimed.Take(batchKey(e))
	case umpire.EventRulesChanged:
		f.reloads.WithLabelValues("ok").Inc()
	case umpire.EventRulesDegraded:
		f.reloads.WithLabelValues("degraded").Inc()
	}
}

func (f *Figures) submitted(e *umpire.Event) {
	decoded, err := batch.Decode(*e)
	detail, ok := decoded.Detail.(batch.Submitted)
	if err != nil || !ok {
		return // from a later version: ignore it
	}
	for _, c := range detail.Calls {
		f.calls.WithLabelValues(string(classOf(c.Tool))).Inc()
		if c.Took > 0 {
			f.evaluate.Observe(time.Duration(c.Took * int64(time.Microsecond)).Seconds())
		}
	}
	f.counted.calls += float64(len(detail.Calls))
	f.ratio()
}

// prompted records that somebody is asked.
func (f *Figures) prompted(e *umpire.Event) {
	f.prompts.WithLabelValues(string(classOf(e.Tool))).Inc()
	f.asked.Put(questionKey(e), e.At)
	f.counted.prompts++
	f.ratio()
}

func (f *Figures) ratio() {
	if f.counted.calls > 0 {
		f.perHundred.Set(100 * f.counted.prompts / f.counted.calls)
	}
}

// answered measures how long a question waited, if a person answered it.
func (f *Figures) answered(e *umpire.Event) {
	since, ok := f.asked.Take(questionKey(e))
	if e.Request == "" || !ok || sourceOf(e) != byPerson {
		return
	}
	waited := e.At.Sub(since)
	f.wait.Observe(waited.Seconds())
	if waited < hasty {
		f.hasty.Inc()
	}
}

// handedOut records that a batch's results went into a request to the model: the second time counts
// as redelivery.
func (f *Figures) handedOut(e *umpire.Event) {
	if e.Batch == "" {
		return
	}
	if _, again := f.claimed.Take(batchKey(e)); again {
		f.redelivered.Inc()
	}
	f.claimed.Put(batchKey(e), struct{}{})
}
