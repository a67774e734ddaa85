package jsonrpc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// MCPPath is the path that an [MCPListener] serves.
const MCPPath = "/mcp"

const (
	// maxSessions bounds the concurrent sessions.
	maxSessions = 64
	// maxConnections bounds the connections, each of which may wait for an answer.
	maxConnections = 1024
	// maxHeader bounds the header of a request, and headerTime and bodyTime how long the header and
	// the message may take to arrive.
	maxHeader  = 64 << 10
	headerTime = 10 * time.Second
	bodyTime   = time.Minute
)

// An MCPListener serves MCP over HTTP to programs of this machine that have the token. Browser pages
// are not served: a request that names an origin, or another host than this one, is refused.
type MCPListener struct {
	// Token is the token that a client must present.
	Token string
	// Begin serves one session, until its context ends or an error prevents it from continuing.
	// Clients without sessions share one.
	Begin func(ctx context.Context, client Side) error
	// Report is called with the reason why a session ended before its client.
	Report func(error)

	ctx context.Context //nolint:containedctx // Serve's context, for the sessions

	mu     sync.Mutex
	fronts map[string]*front // by the ids of sessions
	work   sync.WaitGroup
}

// Serve serves until the context ends, and then ends all sessions.
func (l *MCPListener) Serve(ctx context.Context, on net.Listener) error {
	l.fronts = map[string]*front{}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithCancel(ctx)
	server := &http.Server{
		Handler: l, ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return l.ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() }) //nolint:errcheck // it ends either way
	defer stop()
	err := server.Serve(netutil.LimitListener(on, maxConnections))
	cancel()
	l.work.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// ServeHTTP answers one HTTP request.
func (l *MCPListener) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	given := []byte(q.Header.Get("Authorization"))
	switch {
	case q.Header.Get("Origin") != "" || !isLocal(q.Host):
		http.Error(w, "umpire serves programs on this machine, not web pages", http.StatusForbidden)
	case subtle.ConstantTimeCompare(given, []byte("Bearer "+l.Token)) != 1:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
	case q.URL.Path != MCPPath:
		http.NotFound(w, q)
	case q.Method == http.MethodPost:
		l.post(w, q)
	case q.Method == http.MethodGet:
		l.listen(w, q)
	case q.Method == http.MethodDelete:
		if f := l.session(w, q); f != nil {
			f.end()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "want GET, POST or DELETE", http.StatusMethodNotAllowed)
	}
}

// isLocal reports whether a host with a port is this machine, by a name that cannot be redefined by
// others.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// session returns the session that a request names, or answers the request itself and returns nil.
func (l *MCPListener) session(w http.ResponseWriter, q *http.Request) *front {
	id := q.Header.Get(headerSession)
	l.mu.Lock()
	f := l.fronts[id]
	l.mu.Unlock()
	switch {
	case id == "":
		http.Error(w, "want a session", http.StatusBadRequest)
		return nil
	case f == nil:
		http.Error(w, "the session has ended", http.StatusNotFound)
		return nil
	}
	return f
}

// begin starts the session with an id, or returns it.
func (l *MCPListener) begin(id string) (*front, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.fronts[id]; f != nil {
		return f, nil
	}
	if len(l.fronts) >= maxSessions || l.ctx.Err() != nil {
		return nil, umpire.Errorf("more than %d sessions", maxSessions)
	}
	f := newFront(l.ctx, id)
	l.fronts[id] = f
	l.work.Go(func() {
		go f.tend()
		if err := l.Begin(f.ctx, f); err != nil && f.ctx.Err() == nil {
			l.Report(err)
		}
		f.shutDown()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.fronts, id)
	})
	return f, nil
}

// listen writes messages that belong to no request, or resumes a broken stream.
func (l *MCPListener) listen(w http.ResponseWriter, q *http.Request) {
	f := l.session(w, q)
	if f == nil {
		return
	}
	s, number := f.general, -1
	if last := q.Header.Get(headerLastEvent); last != "" {
		id, at, ok := readEventID(last)
		f.mu.Lock()
		s, number = f.streams[id], at
		f.mu.Unlock()
		if !ok || s == nil {
			http.Error(w, "this stream is not kept", http.StatusBadRequest)
			return
		}
	}
	if !accepts(q, typeEvents) {
		http.Error(w, "want a client that accepts "+typeEvents, http.StatusNotAcceptable)
		return
	}
	s.writeTo(q.Context(), f.ctx, w, number, false)
}

func accepts(q *http.Request, kind string) bool {
	all := strings.Join(q.Header.Values("Accept"), ",")
	return strings.Contains(all, kind) || strings.Contains(all, "*/*")
}

// post accepts a message.
func (l *MCPListener) post(w http.ResponseWriter, q *http.Request) {
	if contentType(q.Header) != typeJSON {
		http.Error(w, "want "+typeJSON, http.StatusUnsupportedMediaType)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // without one it only takes longer
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, MaxMessage))
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		http.Error(w, ErrTooLarge.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		return // the client is gone
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	m, err := readMessage(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, &m, CodeInvalidRequest, err)
		return
	}
	f, version := l.sessionOf(w, q, &m)
	switch {
	case f == nil:
	case m.IsRequest():
		l.serveRequest(w, q, f, &m, version)
	default:
		if err := f.notify(q.Context(), &m); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

// readMessage reads the message of a body. With an error it still returns the id, if there is one.
func readMessage(body []byte) (Message, error) {
	var m Message
	line, err := compactLine(body)
	if err == nil {
		m, err = Parse(line)
	}
	switch {
	case err != nil:
		o, _ := strictjson.ReadObject(body) // ignore all members but the unique ones
		m.ID = o["id"]
	case m.Method == "" && !m.IsResponse():
		err = errors.New("want a request, a notification or a response")
	case !m.HasValidID():
		err = errors.New("id: want a text or a number")
	}
	return m, err
}

// refuse answers a message with an error.
func refuse(w http.ResponseWriter, status int, m *Message, code int, err error) {
	id := json.RawMessage("null")
	if m.HasID() && m.HasValidID() {
		id = m.ID
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(Refuse(id, code, "umpire: "+err.Error())) // the client may have gone
}

// codeHeaderMismatch means that a header field contradicts the message.
const codeHeaderMismatch = -32020

// sessionOf returns the session that a message belongs to, and begins it if necessary. If there is
// none, it answers the message.
func (l *MCPListener) sessionOf(w http.ResponseWriter, q *http.Request, m *Message) (f *front, version string) {
	said := versionOf(m.Params)
	version = cmp.Or(q.Header.Get(headerVersion), said)
	var err error
	switch {
	case q.Header.Get(headerSession) != "":
		return l.session(w, q), version
	case m.Method == methodInitialize:
		var params struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &params) // the server rejects invalid parameters
		if f, err = l.begin(rand.Text()); err == nil {
			w.Header().Set(headerSession, f.id)
			return f, params.Version
		}
	case version < versionStateless:
		http.Error(w, "want a session: begin with "+methodInitialize, http.StatusBadRequest)
		return nil, ""
	default:
		if err := checkHeader(q.Header, m, version, said); err != nil {
			refuse(w, http.StatusBadRequest, m, codeHeaderMismatch, err)
			return nil, ""
		}
		if f, err = l.begin(""); err == nil {
			return f, version
		}
	}
	refuse(w, http.StatusServiceUnavailable, m, CodeDenied, err)
	return nil, ""
}

// checkHeader refuses a message whose header contradicts its body: a program that looks only at the
// header would mistake it for another one.
func checkHeader(h http.Header, m *Message, version, said string) error {
	switch {
	case m.IsRequest() && said != version:
		return umpire.Errorf("%s: the message says %q", headerVersion, said)
	case h.Get(headerMethod) != m.Method:
		return umpire.Errorf("%s: the message says %q", headerMethod, m.Method)
	case nameOf(m) != "" && h.Get(headerName) != headerText(nameOf(m)):
		return umpire.Errorf("%s: the message says %q", headerName, nameOf(m))
	}
	return nil
}

// serveRequest answers a request with a stream of events.
func (l *MCPListener) serveRequest(w http.ResponseWriter, q *http.Request, f *front, m *Message, version string) {
	if !accepts(q, typeEvents) {
		refuse(w, http.StatusNotAcceptable, m, CodeInvalidRequest,
			umpire.Errorf("want a client that accepts %s", typeEvents))
		return
	}
	s, key, err := f.takeRequest(q.Context(), m)
	if err != nil {
		refuse(w, http.StatusOK, m, CodeDenied, err)
		return
	}
	primed := f.id != "" && version >= versionPrimed && version < versionStateless
	s.writeTo(q.Context(), f.ctx, w, 0, primed)
	if f.id == "" && !s.finished() { // without sessions a client cannot come back
		_ = f.cancel(context.WithoutCancel(q.Context()), key) // the session has ended
	}
}
