package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hosts"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/server"
)

// A serveCommand is `umpire serve` with its flags.
type serveCommand struct {
	*app.App

	listen, store string
	console       string
	metrics       string
	proxy         string
	allowRemote   bool
}

// newServeCommand is `umpire serve`.
func newServeCommand(a *app.App) *cobra.Command {
	c := serveCommand{App: a}
	cmd := &cobra.Command{
		Use: "serve", Args: app.RefuseWords,
		Short:   "Run the gate",
		Long:    serveLong,
		Example: serveExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.runServe(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.listen, "listen", "",
		"listen on `ADDRESS`: unix:PATH or 127.0.0.1:PORT (default: the socket in ~/.umpire/state)")
	flags.StringVar(&c.store, "store", "",
		"keep sessions and the timeline in `STORE`: sqlite:PATH or postgres://... (default: in ~/.umpire/state)")
	flags.StringVar(&c.console, "console", "",
		"open the console on `ADDRESS` at once, such as 127.0.0.1:7576 (default: when umpire console asks)")
	flags.StringVar(&c.metrics, "metrics", "",
		"serve counts and times, without commands, paths or ids, to Prometheus at http://`ADDRESS`/metrics")
	flags.StringVar(&c.proxy, "proxy", "",
		"lead out connections of agents' own sandboxes at `ADDRESS`, such as 127.0.0.1:7578 (default: network.proxy)")
	flags.BoolVar(&c.allowRemote, "allow-remote", false, "permit an unencrypted address that other machines can reach")
	return cmd
}

// runServe runs the gate until the context ends.
func (c *serveCommand) runServe(ctx context.Context) error {
	conf, err := c.LoadConfig(c.Dir)
	if err != nil {
		return err
	}
	c.RemarkAll(conf.Notices)
	where, err := c.ReadListenAddress(cmp.Or(c.listen, conf.Listen))
	if err != nil {
		return err
	}
	at, err := c.ReadStoreAddress(cmp.Or(c.store, conf.Store))
	if err != nil {
		return err
	}
	if !where.Loopback() && !c.allowRemote {
		return app.Usage("umpire serve --listen 127.0.0.1:7575",
			"listen %q: other machines could reach it, unencrypted; --allow-remote permits that", where)
	}
	if err := refuseTakenAddress(ctx, where); err != nil {
		return err
	}
	return c.serveOn(ctx, conf, where, at)
}

// refuseTakenAddress refuses to take an address from a gate that answers there.
func refuseTakenAddress(ctx context.Context, where app.Address) error {
	there, err := where.Answers(ctx)
	if err != nil {
		return app.Failed(umpire.Errorf("listen on %s: %w", where, err))
	}
	if !there {
		return nil
	}
	return app.Refused("umpire status", "%s is taken: %s", where, holderOf(ctx, where))
}

// holderOf describes the process that answers at an address.
func holderOf(ctx context.Context, where app.Address) string {
	name := where.Name
	if where.Network == app.NetworkUnix {
		short, release, err := files.SocketName(name)
		if err != nil {
			return "somebody answers there"
		}
		defer release() //nolint:errcheck // it was only looked at
		name = short
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, where.Network, name)
	if err != nil {
		return "somebody answers there"
	}
	defer conn.Close()
	if pid := peerOf(conn); pid > 0 {
		return fmt.Sprintf("process %d (%s) answers there", pid, cmp.Or(programOf(pid), "?"))
	}
	return "somebody answers there"
}

// gcPercent lets the heap grow to several times the live data before a collection. A
// gate uses only a few megabytes, and would otherwise collect every twenty calls.
const gcPercent = 400

// keptMemory is the maximum memory that a gate keeps after a peak.
const keptMemory = 64 << 20

// returnMemory gives unused memory back to the system at each tick if the heap holds more than
// keptMemory, until ctx ends.
func returnMemory(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if heldMemory() > keptMemory {
			debug.FreeOSMemory()
		}
	}
}

// heldMemory returns how much of the system's memory the heap holds.
func heldMemory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}

func (c *serveCommand) serveOn(ctx context.Context, conf *config.Config, where app.Address, at app.StoreAddress) error {
	if c.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	g, err := c.StartGate(ctx, conf, at, true)
	if err != nil {
		return err
	}
	credentials, err := server.LoadCredentials(c.StateDir())
	if err != nil {
		return errors.Join(app.Failed(err), g.Close())
	}
	sandbox.SweepScratch(os.TempDir())
	tidying, stopTidying := context.WithCancel(ctx)
	var tidier sync.WaitGroup
	tidier.Go(func() { g.TidyRegularly(tidying, c.App, conf) })
	minutes := time.NewTicker(time.Minute)
	defer minutes.Stop()
	tidier.Go(func() { returnMemory(tidying, minutes.C) })
	defer tidier.Wait()
	defer stopTidying()
	log := slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var served *server.Server
	pages := newConsole(c.App, g.Gate, log, func() func() { return served.Attend() })
	served = server.New(server.Config{
		Gate: g.Gate, Hooks: hosts.NewGateResponder(c.App, g.Gate), Credentials: credentials, Remote: c.allowRemote,
		Console: pages.Open, Log: log,
	})
	var listener, figures, exits net.Listener
	notices := app.NoticeConfig(c.App, conf)
	if err = c.listenConsole(ctx, conf, pages, notices.Push); err == nil && c.metrics != "" {
		figures, err = listenFor(ctx, "--metrics", c.metrics, c.allowRemote)
	}
	if at := cmp.Or(c.proxy, conf.NetworkProxy); err == nil && at != "" {
		exits, err = listenFor(ctx, "proxy", at, false)
	}
	if err == nil {
		listener, err = listenReady(ctx, c.Stdout, where, c.allowRemote)
	}
	if err != nil {
		for _, l := range []net.Listener{figures, exits} {
			if l != nil {
				_ = l.Close() // err has the cause
			}
		}
		if _, explained := errors.AsType[*app.CommandError](err); !explained {
			err = app.Failed(err)
		}
		return errors.Join(err, pages.Close(), g.Close())
	}
	stopMetrics := serveMetrics(ctx, c.App, g.Gate, figures, log)
	stopProxy := serveProxy(ctx, c.App, g.Gate, served, exits, log)
	stopNotices := startNotices(c.App, g.Gate, notices)
	err = served.Serve(ctx, listener)
	stopNotices()
	stopProxy()
	stopMetrics()
	return app.Failed(errors.Join(err, pages.Close(), g.Close()))
}

// listenReady opens the listener of the gate, and prints that the gate is ready.
func listenReady(ctx context.Context, out io.Writer, where app.Address, remote bool) (net.Listener, error) {
	listener, err := server.Listen(ctx, where.String(), remote)
	if err != nil {
		return nil, umpire.Errorf("listen on %s: %w", where, err)
	}
	if where.Network == app.NetworkTCP {
		where.Name = listener.Addr().String()
	}
	if _, err := fmt.Fprintf(out, "umpire: ready on %s\n", where); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}
