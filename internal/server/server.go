package server

import (
	"cmp"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// defaultDrain limits how long active requests may take to end.
const defaultDrain = 15 * time.Second

// A Backend is the gate that a server serves.
type Backend interface {
	umpire.Gate
	// AddRunner adds a live process to the runners of a session whose agent runs its
	// calls itself.
	AddRunner(ctx context.Context, s *umpire.Session, runner string) error
	// Asking returns the sessions of a project with a pending question, or of all projects.
	Asking(ctx context.Context, project umpire.ProjectID) ([]umpire.SessionID, error)
}

// A Config configures a server. Gate and Credentials are required; the other fields have
// useful zero values.
type Config struct {
	Gate        Backend
	Credentials Credentials
	// Hooks answers the hooks of agents, using Gate. If nil, hooks are not answered.
	Hooks *host.Responder
	// Console opens the console at a person's request. If nil, there is no console.
	Console ConsoleOpener
	// Remote permits TCP addresses that other machines can reach. The connection is not
	// encrypted.
	Remote bool
	Log    *slog.Logger
	Limits Limits
	// Drain limits how long active requests may take to end; 0 means 15 seconds.
	Drain time.Duration
}

// A Server serves a gate. It is safe for concurrent use.
type Server struct {
	gate    Backend
	keys    *keyring
	config  Config
	log     *slog.Logger
	refuser refuser
	routes  routes
	limiter *limiter
	idle    *idleList
	pace    pace
	broker  *broker
	inbox   *inbox
}

// New returns an idle server. It must be ended with Close or Serve.
func New(c Config) *Server { return newServer(c, usualPace) }

func newServer(c Config, p pace) *Server {
	c.Limits = c.Limits.orDefault(descriptorLimit())
	c.Drain = cmp.Or(c.Drain, defaultDrain)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		gate: c.Gate, keys: c.Credentials.keyring(), config: c, log: c.Log, pace: p,
		refuser: refuser{connect.NewErrorWriter(handlerOptions(maxBody)...), c.Log},
		routes:  routes{},
		idle:    newIdleList(c.Limits.Idle),
		limiter: &limiter{limits: c.Limits, now: time.Now, usages: make(map[user]*usage)},
		broker:  newBroker(c.Gate, c.Log, p, c.Limits),
		inbox:   newInbox(time.Now),
	}
	s.addRoutes()
	return s
}

// addRoutes makes the services and adds their routes.
func (s *Server) addRoutes() {
	owner := ownership{s.gate}
	lists := make(turns, maxLists)
	calls := &callService{s.gate, owner, s.broker, lists}
	timeline := &timelineService{
		gate: s.gate, owner: owner, broker: s.broker, inbox: s.inbox, refuser: s.refuser, pace: s.pace, log: s.log,
		turns: lists,
	}
	calls.addRoutes(s.routes)
	(&sessionService{s.gate, owner, lists}).addRoutes(s.routes)
	(&ruleService{s.gate}).addRoutes(s.routes)
	(&grantService{s.gate}).addRoutes(s.routes)
	(&ticketService{s.gate, s.inbox, s.refuser}).addRoutes(s.routes)
	timeline.addRoutes(s.routes)
	s.routes["/healthz"] = route{handler: http.HandlerFunc(s.healthy), role: roleAgent}
	if s.config.Console != nil {
		s.routes[consolePath] = route{handler: http.HandlerFunc(s.openConsole), role: rolePerson, stream: true}
	}
	if hooks := s.config.Hooks; hooks != nil {
		s.routes[relay.Path] = route{handler: newHookService(*hooks, calls, s.refuser, s.inbox), role: roleAgent}
	}
}

// Serve serves on the listeners, which it closes, until ctx ends. Then it drains:
// watchers are told to resume, new requests are refused, and active requests may end. It
// returns nil if ctx ended and all requests were answered, or else what went wrong. A
// server serves once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	defer s.Close()
	for _, l := range listeners {
		if err := s.admissible(l.Addr()); err != nil {
			return errors.Join(err, closeAll(listeners))
		}
	}
	// Requests outlive ctx while the server drains.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	servers := make([]*http.Server, len(listeners))
	failed := make(chan error, len(listeners))
	for i, l := range listeners {
		servers[i] = s.http(base, l)
		go func() { failed <- servers[i].Serve(l) }()
	}
	var err error
	ended := 0
	select {
	case <-ctx.Done():
	case err = <-failed:
		ended = 1
	}
	err = errors.Join(err, s.drain(servers))
	cut()
	for ; ended < len(servers); ended++ {
		if late := <-failed; !errors.Is(late, http.ErrServerClosed) {
			err = errors.Join(err, late)
		}
	}
	return err
}

// admissible refuses addresses that other machines can reach.
func (s *Server) admissible(addr net.Addr) error {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !s.config.Remote {
		return umpire.Errorf("listen on %s: not a loopback address; allow it explicitly", tcp)
	}
	if s.config.Credentials.Agent == "" || s.config.Credentials.Person == "" {
		return errors.New("serve: the credentials are missing")
	}
	return nil
}

func closeAll(listeners []net.Listener) error {
	var err error
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

func (s *Server) http(base context.Context, l net.Listener) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           &guard{server: s, hosts: hostsOf(l.Addr())},
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(logWriter{s.log}, "", 0),
		ConnState:         s.idle.track,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, peerOf(c))
		},
	}
}

// drain ends the watchers, waits for active requests, and aborts those that take too
// long.
func (s *Server) drain(servers []*http.Server) error {
	s.broker.drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	var err error
	for _, server := range servers {
		if failed := server.Shutdown(ctx); failed != nil {
			err = errors.Join(err, umpire.Errorf("drain: requests were cut off: %w", failed), server.Close())
		}
	}
	return err
}

// Close ends the watchers and waits for the server's goroutines. Its error is always nil.
func (s *Server) Close() error {
	s.broker.close()
	return nil
}

func (s *Server) healthy(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.refuser.refuse(w, r, wrongMethod(http.MethodGet))
		return
	}
	if s.broker.isDraining() {
		s.refuser.refuse(w, r, errDraining)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// A write error only means that the client is gone.
	_, _ = w.Write([]byte("{\"status\":\"ok\"}\n"))
}
