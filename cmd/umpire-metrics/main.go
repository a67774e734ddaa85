// Umpire-metrics watches a gate's timeline and tells others of it: as figures for
// Prometheus, and as spans for OpenTelemetry. It is a program of its own because its
// libraries would cost every start of umpire, which is also a hook.
//
//	umpire-metrics                                    # figures at 127.0.0.1:9464/metrics
//	umpire-metrics --otlp http://127.0.0.1:4318       # and spans to a collector
//
// The figures are those of the whole timeline, so that a restart loses none; spans
// begin with the start. No command, path, id or text becomes a label.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/client"
	"github.com/umpirehq/umpire/internal/metrics"
	"github.com/umpirehq/umpire/internal/metrics/otlp"
)

// closing bounds how long the last spans may take.
const closing = 5 * time.Second

// headerTime bounds how long a scraper may take to ask.
const headerTime = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := watchGate(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "umpire-metrics: %v\n", err)
		os.Exit(1)
	}
}

// options are the flags of the program.
type options struct{ gate, token, listen, otlp string }

func parse(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	home := getenv("UMPIRE_HOME")
	if home == "" {
		home = filepath.Join(getenv("HOME"), ".umpire")
	}
	state := filepath.Join(home, "state")
	var o options
	flags := flag.NewFlagSet("umpire-metrics", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(
		&o.gate, "gate", "unix:"+filepath.Join(state, "umpire.sock"), "`ADDRESS` of the gate: unix:PATH or HOST:PORT",
	)
	flags.StringVar(
		&o.token, "token-file", filepath.Join(state, "person.token"),
		"`FILE` with the credential of a person, which may watch every session",
	)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:9464", "`ADDRESS` to serve /metrics on; empty serves none")
	flags.StringVar(&o.otlp, "otlp", "", "`URL` of an OpenTelemetry collector to send spans to (OTLP over HTTP)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("takes no words, got %q", flags.Arg(0))
	}
	return o, nil
}

// watchGate watches the gate until ctx ends.
func watchGate(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	o, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	token, err := client.ReadToken(o.token)
	if err != nil {
		return fmt.Errorf("%w; does umpire serve run?", err)
	}
	gate, err := client.Dial(o.gate, token)
	if err != nil {
		return err
	}
	defer gate.Close()
	gate.Name = "umpire-metrics"
	figures := metrics.New(metrics.Config{Prometheus: o.listen != "", Pending: func(ctx context.Context) (int, error) {
		waiting, err := gate.Pending(ctx, umpire.PendingQuery{})
		return len(waiting), err
	}})
	spans, err := spansTo(ctx, o.otlp)
	if err != nil {
		return err
	}
	watched, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	closeServer, err := serve(watched, o.listen, figures.Handler(), stdout, failed)
	if err != nil {
		return err
	}
	err = figures.Run(watched, tee(gate.Watch(watched, umpire.Filter{}), spans))
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if cause := context.Cause(watched); ctx.Err() == nil && cause != nil {
		err = cause
	}
	return errors.Join(err, closeServer(last), spans.observer.Close(last))
}

// A spanFeed passes on the events since the program started: earlier events are not sent
// again.
type spanFeed struct {
	observer *metrics.Observer
	since    time.Time
}

func spansTo(ctx context.Context, endpoint string) (*spanFeed, error) {
	feed := &spanFeed{since: time.Now()}
	var c metrics.Config
	if endpoint != "" {
		exporter, err := otlp.Exporter(ctx, endpoint)
		if err != nil {
			return nil, err
		}
		c.Exporter = exporter
	}
	feed.observer = metrics.New(c)
	return feed, nil
}

// tee gives each event to the spans, and on.
func tee(events iter.Seq2[umpire.Event, error], spans *spanFeed) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) {
		for e, err := range events {
			if err == nil && spans.observer.On() && e.At.After(spans.since) {
				_ = spans.observer.Run(context.Background(), yieldOne(e)) // one event cannot fail
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func yieldOne(e umpire.Event) iter.Seq2[umpire.Event, error] {
	return func(yield func(umpire.Event, error) bool) { yield(e, nil) }
}

// serve serves the figures, and says where.
func serve(
	ctx context.Context, address string, handler http.Handler, stdout io.Writer, failed context.CancelCauseFunc,
) (func(context.Context) error, error) {
	if address == "" {
		return func(context.Context) error { return nil }, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	fmt.Fprintf(stdout, "umpire-metrics: http://%s/metrics\n", listener.Addr())
	return func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		<-done
		return err
	}, nil
}
