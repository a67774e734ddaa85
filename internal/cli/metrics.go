package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/server"
)

// Limits of one scraper: a slow one cannot hold its connection open.
const (
	scrapeReadTime  = 5 * time.Second
	scrapeWriteTime = 15 * time.Second
	scrapeIdleTime  = 2 * time.Minute
	scrapeHeaders   = 16 << 10 // bytes
)

// listenMetrics listens at the address of --metrics.
func (c *serveCommand) listenMetrics(ctx context.Context) (net.Listener, error) {
	if strings.HasPrefix(c.metrics, app.NetworkUnix+":") {
		return nil, umpire.Errorf("--metrics: %w", errors.New("want HOST:PORT"))
	}
	listener, err := server.Listen(ctx, c.metrics, c.allowRemote)
	if err != nil {
		return nil, umpire.Errorf("--metrics: %w", err)
	}
	return listener, nil
}

// serveMetrics serves the figures of a gate, counted from the whole timeline, and prints their address. They need no
// credential. If listener is nil, it does nothing. stop ends it.
func serveMetrics(
	ctx context.Context, a *app.App, g *gate.Gate, listener net.Listener, log *slog.Logger,
) (stop func()) {
	if listener == nil {
		return func() {}
	}
	figures := server.NewFigures(func(ctx context.Context) (int, error) {
		waiting, err := g.Pending(ctx, umpire.PendingQuery{})
		return len(waiting), err
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", figures.Handler())
	web := &http.Server{
		Handler: mux, ReadTimeout: scrapeReadTime, WriteTimeout: scrapeWriteTime, IdleTimeout: scrapeIdleTime,
		MaxHeaderBytes: scrapeHeaders,
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := figures.Run(ctx, g.Watch(ctx, umpire.Filter{})); err != nil {
			log.Warn("metrics: the figures stopped", "error", err)
		}
	})
	running.Go(func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("metrics: the figures cannot be read", "error", err)
		}
	})
	fmt.Fprintf(a.Stdout, "umpire: metrics on http://%s/metrics\n", listener.Addr())
	return func() {
		cancel()
		_ = web.Close() // a scrape may be cut off
		running.Wait()
	}
}
