package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/server"
)

// A gateProxy leads out the connections of agents' own sandboxes, such as Claude Code's. The session of the agent
// decides each destination. Any process of the person can connect, so the proxy serves no leases and no keys. A process
// without such an agent shares one session in the person's home, outside of all projects.
type gateProxy struct {
	*app.App

	gate   *gate.Gate
	local  umpire.Gate
	server *server.Server
	own    umpire.SessionID
	log    *slog.Logger

	mu        sync.Mutex
	outings   []*outing
	recording sync.WaitGroup
}

// An outing has the connections of one session. It ends after quietTime without an open connection, and takes no new
// connections after outingTime. Answers, decisions and quotas hold for one outing.
type outing struct {
	session umpire.SessionID
	proxy   *egress.Proxy
	began   time.Time
	open    int // connections
	quiet   *time.Timer

	// setUp sets proxy or err, which read the project's settings: a project on a hung disk keeps only its own waiting.
	setUp sync.Once
	err   error

	mu      sync.Mutex
	asked   map[egress.Destination]bool
	traffic map[egress.Destination]*egress.Traffic
}

const (
	quietTime  = 5 * time.Second
	outingTime = 5 * time.Minute
	// maxServed bounds the connections that are served at once. Others wait.
	maxServed = 512
	// maxRefused bounds the destinations of an outing that the timeline has although they were refused. It has all that
	// were reached.
	maxRefused = 20
)

// serveProxy serves the connections of a listener, and prints its address. If it is nil, serveProxy does nothing. stop
// ends the connections and records them.
func serveProxy(
	ctx context.Context, a *app.App, g *gate.Gate, s *server.Server, listener net.Listener, log *slog.Logger,
) (stop func()) {
	if listener == nil {
		return func() {}
	}
	p := &gateProxy{
		App: a, gate: g, local: server.Local(g, app.ClientName), server: s, log: log,
		own: umpire.SessionID("sandbox_" + rand.Text()),
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var serving sync.WaitGroup
	serving.Go(func() {
		room := make(chan struct{}, maxServed)
		for {
			room <- struct{}{}
			conn, err := listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil:
				log.Warn("proxy: a connection was not accepted", "error", err)
				time.Sleep(time.Second) // until others have ended
				<-room
			default:
				serving.Go(func() {
					defer func() { <-room }()
					p.serve(ctx, conn)
				})
			}
		}
	})
	fmt.Fprintf(a.Stdout, "umpire: proxy on %s\n", listener.Addr())
	return func() {
		_ = listener.Close() // nothing depends on it any more
		cancel()
		serving.Wait()
		p.endAll()
	}
}

// serve serves one connection. It is closed unread if its process is another user's or unknown.
func (p *gateProxy) serve(ctx context.Context, conn net.Conn) {
	session, err := p.server.SessionOf(ctx, conn)
	if err != nil {
		p.refuseConn(conn, err)
		return
	}
	o, err := p.enterOuting(ctx, session)
	defer p.leaveOuting(o)
	if err != nil {
		p.refuseConn(conn, err)
		return
	}
	o.proxy.ServeProxy(ctx, conn)
}

func (p *gateProxy) refuseConn(conn net.Conn, why error) {
	p.log.Warn("proxy: a connection was refused", "error", why)
	_ = conn.Close()
}

// enterOuting returns the outing that a connection of a session belongs to. leaveOuting must be called after it, even
// after an error.
func (p *gateProxy) enterOuting(ctx context.Context, session umpire.SessionID) (*outing, error) {
	p.mu.Lock()
	at := slices.IndexFunc(p.outings, func(o *outing) bool {
		return o.session == session && time.Since(o.began) < outingTime
	})
	if at < 0 {
		o := &outing{
			session: session, began: time.Now(), asked: map[egress.Destination]bool{},
			traffic: map[egress.Destination]*egress.Traffic{},
		}
		o.quiet = time.AfterFunc(quietTime, func() { p.endOuting(o) })
		at, p.outings = len(p.outings), append(p.outings, o)
	}
	o := p.outings[at]
	o.quiet.Stop()
	o.open++
	p.mu.Unlock()
	o.setUp.Do(func() { o.err = p.beginOuting(ctx, o) })
	return o, o.err
}

func (p *gateProxy) leaveOuting(o *outing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.open--; o.open == 0 {
		o.quiet.Reset(quietTime)
	}
}

// endOuting records an outing without open connections.
func (p *gateProxy) endOuting(o *outing) {
	p.mu.Lock()
	at := slices.Index(p.outings, o)
	over := at >= 0 && o.open == 0
	if over {
		p.outings = slices.Delete(p.outings, at, at+1)
		p.recording.Add(1)
	}
	p.mu.Unlock()
	if over {
		defer p.recording.Done()
		p.record(context.Background(), o)
	}
}

// endAll records all outings. No connection is open any more.
func (p *gateProxy) endAll() {
	p.mu.Lock()
	left := slices.Clone(p.outings)
	p.mu.Unlock()
	for _, o := range left {
		p.endOuting(o)
	}
	p.recording.Wait()
	err := p.local.Sessions().End(context.Background(), p.own, "the gate ended")
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		p.log.Warn("proxy: the session was not ended", "error", err)
	}
}

// beginOuting sets up the proxy of an outing, under the settings of its session.
func (p *gateProxy) beginOuting(ctx context.Context, o *outing) error {
	dir := p.UserHome()
	if o.session != "" {
		s, err := p.local.Sessions().Get(ctx, o.session)
		if err != nil {
			return err
		}
		dir = s.Root
	}
	conf, err := p.ReadConfig(dir)
	if err != nil {
		return err
	}
	o.proxy, err = egress.NewProxy(egress.Way{
		Listed: conf.Listed, Network: conf.Autonomy.Network, Unread: true,
		Decide: func(ctx context.Context, call umpire.Call) (umpire.Decision, error) {
			id, err := p.sessionOf(ctx, o)
			if err != nil {
				return umpire.Decision{}, err
			}
			call.Session, call.Dir = id, dir
			return p.local.Check(ctx, call)
		},
		Ask: func(ctx context.Context, d egress.Destination, why egress.Reason) bool {
			return p.askAbout(ctx, o, conf, d, why)
		},
	})
	if err != nil {
		return err
	}
	if o.proxy == nil {
		o.proxy = &egress.Proxy{} // it refuses all
	}
	o.proxy.Record = o.noteConnection
	return nil
}

// sessionOf returns the session of an outing, and opens the proxy's own.
func (p *gateProxy) sessionOf(ctx context.Context, o *outing) (umpire.SessionID, error) {
	if o.session != "" {
		return o.session, nil
	}
	s, err := p.local.Sessions().Open(ctx, umpire.Opening{
		ID: p.own, Dir: p.UserHome(), Agent: "sandbox", External: true,
	})
	return s.ID, err
}

// askAbout asks the person about a destination if they would see the question.
func (p *gateProxy) askAbout(
	ctx context.Context, o *outing, conf *config.Config, d egress.Destination, why egress.Reason,
) bool {
	session, err := p.sessionOf(ctx, o)
	if err != nil || !app.MayAskToConnect(conf, p.server.Shows(ctx, session)) {
		return false
	}
	o.mu.Lock()
	o.asked[d] = true
	o.mu.Unlock()
	return app.AskToConnect(ctx, p.local, &umpire.Call{Session: session}, d, why)
}

// noteConnection adds a connection to the record of its destination.
func (o *outing) noteConnection(c egress.Connection) {
	o.mu.Lock()
	t := o.traffic[c.Destination]
	known := c.Destination != (egress.Destination{})
	if t == nil && known && (c.How != egress.Refused || len(o.traffic) < maxRefused) {
		t = &egress.Traffic{}
		o.traffic[c.Destination] = t
	}
	o.mu.Unlock()
	if t != nil {
		t.Note(c)
	}
}

// record adds each destination of an outing to the timeline, as a call with its traffic. One that the person was asked
// about and that was not reached has its call already.
func (p *gateProxy) record(ctx context.Context, o *outing) {
	for d, t := range o.traffic {
		reached, refused := t.Sum()
		if len(reached) == 0 && o.asked[d] {
			continue
		}
		result := umpire.Result{Status: umpire.ResultOK, Reached: reached}
		if len(reached) == 0 {
			result.Status = umpire.ResultError
		}
		for _, r := range refused {
			result.Refused = append(result.Refused, r.Target)
		}
		if err := p.recordCall(ctx, o, d, &result); err != nil {
			p.log.Warn("proxy: a connection was not recorded", "error", err)
		}
	}
}

// recordCall records the traffic with a destination, or the refusal if the destination was not reached.
func (p *gateProxy) recordCall(ctx context.Context, o *outing, d egress.Destination, r *umpire.Result) error {
	session, err := p.sessionOf(ctx, o)
	if err != nil {
		return err
	}
	input, err := json.Marshal(map[string]string{"url": d.URL()})
	if err != nil {
		return err
	}
	call := umpire.Call{ID: umpire.CallID("connect_" + rand.Text()), Tool: umpire.ConnectTool, Input: input}
	id := umpire.BatchID("msg_" + string(call.ID))
	started, err := p.gate.Admit(ctx, umpire.Submission{
		Session: session, Batch: id, Lane: string(id), Calls: []umpire.Call{call}, Headless: true,
	}, "", func(*umpire.Decision) umpire.Admission {
		if len(r.Reached) > 0 {
			return umpire.AdmitLed
		}
		return umpire.AdmitStart
	})
	if err != nil || !started.Go {
		return err
	}
	r.Session, r.Batch, r.Call = session, id, call.ID
	_, err = p.local.Finish(ctx, *r)
	return err
}
