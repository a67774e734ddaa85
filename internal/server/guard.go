package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
)

// clientHeader is the header with the client's name: cli, tui, console.
const clientHeader = "Umpire-Client"

// phrasesHeader is the header with which a client requests phrases as codes; others get English.
const phrasesHeader = "Umpire-Phrases"

// maxClientName limits the length of a client's name.
const maxClientName = 32

// isClientName reports whether a client's name is valid: it is shown to people and
// recorded.
func isClientName(name string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}
	return len(name) <= maxClientName && !strings.ContainsFunc(name, odd)
}

// safeHeaders prevent a browser from using a response for anything except the page that
// requested it.
var safeHeaders = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"},
}

// A guard checks requests before the routes of one listener. It admits a request with the
// right host, from the right origin, with a credential for the route, and within the
// limits.
type guard struct {
	server *Server
	hosts  map[string]bool // allowed hosts; nil allows all
}

// ServeHTTP answers a request.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), safeHeaders)
	x := &exchange{peer: g.peer(r)}
	out := &reply{ResponseWriter: w, x: x}
	defer g.recover(out, r)
	if f := g.identify(x, r); f != nil {
		g.refuse(out, r, f)
		return
	}
	u := user{role: x.role, addr: x.peer.addr}
	if ok, why := g.server.limiter.begin(u); !ok {
		g.refuse(out, r, &failure{code: connect.CodeResourceExhausted, word: wordLimit, text: why})
		return
	}
	end := sync.OnceFunc(func() { g.server.limiter.end(u) })
	defer end()
	where, f := g.admit(x, r)
	if f != nil {
		g.refuse(out, r, f)
		return
	}
	if where.stream { // the broker counts subscribers
		end()
		out.stall = g.server.pace.stall
	}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	x.body = &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), limit: g.server.pace.body}
	r.Body = x.body
	where.handler.ServeHTTP(out, r)
}

func (g *guard) peer(r *http.Request) *peer {
	if p, ok := r.Context().Value(peerKey{}).(*peer); ok {
		return p
	}
	return localPeer()
}

// identify determines the client and its role, or returns why it is refused.
func (g *guard) identify(x *exchange, r *http.Request) *failure {
	x.codes = r.Header.Get(phrasesHeader) == "codes"
	if claim := r.Header.Get(clientHeader); claim != "" {
		if !isClientName(claim) {
			return &failure{
				code: connect.CodeInvalidArgument, word: wordInvalid,
				text: clientHeader + ": want a short name of lower-case letters and digits",
			}
		}
		x.claim = claim
	}
	if why := g.elsewhere(r); why != "" {
		return forbidden(why)
	}
	x.role = g.server.keys.role(r.Header.Get("Authorization"))
	if x.role == roleNobody {
		return &failure{
			code: connect.CodeUnauthenticated, word: wordCredential,
			text: "a credential is needed: Authorization: Bearer TOKEN",
		}
	}
	return nil
}

// admit finds the route of a request, or returns why it is refused.
func (g *guard) admit(x *exchange, r *http.Request) (route, *failure) {
	where, known := g.server.routes[r.URL.Path]
	switch {
	case !known:
		return where, &failure{
			code: connect.CodeUnimplemented, status: http.StatusNotFound, word: wordNotFound,
			text: "there is no " + r.URL.Path,
		}
	case x.role < where.role:
		return where, forbidden(r.URL.Path + " takes the credential of " + where.role.String())
	}
	return where, g.person(x, r, where)
}

func forbidden(why string) *failure {
	return &failure{code: connect.CodePermissionDenied, word: wordCredential, text: why}
}

// elsewhere returns why a request is not local: it names another host, as after DNS
// rebinding, or a page of another origin sent it.
func (g *guard) elsewhere(r *http.Request) string {
	if g.hosts != nil && !g.hosts[r.Host] {
		return "the request is for another host"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "the request comes from another site"
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return "the request comes from another origin"
	}
	return ""
}

// person refuses a person's credential from a process that should not have it.
func (g *guard) person(x *exchange, r *http.Request, where route) *failure {
	if x.role != rolePerson {
		return nil
	}
	const refused = "a person's credential is not taken here: "
	if why := x.peer.person(); why != "" {
		return forbidden(refused + why)
	}
	if where.role != rolePerson {
		return nil
	}
	runner, _, err := x.peer.runner(r.Context(), g.server.gate.Sessions())
	if err != nil {
		return failureOf(umpire.Errorf("%w: cannot determine the owner of sessions: %w", umpire.ErrNotRecorded, err))
	}
	if runner != nil {
		return forbidden(refused + "the process was started by process " + strconv.Itoa(runner.pid) +
			", which runs a session")
	}
	return nil
}

// refuse answers in the request's protocol.
func (g *guard) refuse(w *reply, r *http.Request, f *failure) {
	if f.code == connect.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	g.server.refuser.writeFailure(w, r, w.x, f)
}

// recover answers a panic as an internal error, never as an answer of the gate. It
// reports the details only in the log.
func (g *guard) recover(w *reply, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
		panic(fault)
	}
	g.server.log.Error("a request panicked", "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
	if w.wrote {
		panic(http.ErrAbortHandler)
	}
	g.refuse(w, r, &failure{code: connect.CodeInternal, word: wordInternal, text: "internal error"})
}

// A timedBody limits the time for receiving a request's body, and only that: a remaining
// deadline would end a held request.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	limit   time.Duration
	begun   bool
}

// Read sets the deadline at first, and removes it at the end.
func (b *timedBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		// A connection without deadlines is in memory.
		_ = b.control.SetReadDeadline(time.Now().Add(b.limit))
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

// done removes the deadline. A stream's request ends before its body does.
func (b *timedBody) done() {
	if b != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
}

// hostsOf returns a listener's host names, or nil for all if it is not TCP.
func hostsOf(addr net.Addr) map[string]bool {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil
	}
	_, port, err := net.SplitHostPort(tcp.String())
	if err != nil {
		return map[string]bool{}
	}
	hosts := map[string]bool{tcp.String(): !tcp.IP.IsUnspecified()}
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		hosts[net.JoinHostPort(name, port)] = true
	}
	return hosts
}

// logWriter passes net/http's messages to the log.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http", "says", strings.TrimSpace(string(p)))
	return len(p), nil
}
