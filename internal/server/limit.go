package server

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits that cannot be configured.
const (
	// maxBody is the maximum size of most requests, and maxCallBody of those with a
	// tool's input or output, of which adapters read up to 10 MiB.
	maxBody     = 1 << 20
	maxCallBody = 24 << 20
	// maxHeader is the maximum size of a request's header.
	maxHeader = 16 << 10
	// compressFrom is the size from which a response is compressed, if the client accepts
	// that. Below, it costs more than it saves.
	compressFrom = 64 << 10

	headerTimeout = 10 * time.Second
	idleTimeout   = 5 * time.Minute
	maxStreams    = 1024 // on one HTTP/2 connection
	maxUsages     = 4096 // remembered credentials and addresses
)

// Limits apply to one credential at one address. Zero fields use the default.
type Limits struct {
	PerSecond int // requests; bursts may have twice as many. Default 2,000.
	InFlight  int // active requests without watchers. Default 1,024.
	Watchers  int // per credential, from all addresses. Default 16,384.
	Idle      int // connections without a request, from all addresses. Default 1,024.
}

// keptDescriptors are reserved for the gate's own database, files and sockets.
const keptDescriptors = 48

// orDefault divides the process's descriptors to leave enough for hooks: watchers with
// both credentials get two thirds, requests a quarter, and idle connections a sixteenth.
func (l Limits) orDefault(descriptors int) Limits {
	free := max(descriptors-keptDescriptors, 0)
	if l.PerSecond == 0 {
		l.PerSecond = 2000
	}
	if l.InFlight == 0 {
		l.InFlight = max(1, min(1024, free/8))
	}
	if l.Watchers == 0 {
		l.Watchers = max(1, min(16384, free/3))
	}
	if l.Idle == 0 {
		l.Idle = max(1, min(1024, free/16))
	}
	return l
}

// An idleList holds the connections without an active request. If there are too many, it
// closes the oldest: clients send their requests at once.
type idleList struct {
	most int

	mu    sync.Mutex
	conns *list.List // of net.Conn, oldest first
	at    map[net.Conn]*list.Element
}

func newIdleList(most int) *idleList {
	return &idleList{most: most, conns: list.New(), at: map[net.Conn]*list.Element{}}
}

// track is called for each state change of a connection.
func (i *idleList) track(c net.Conn, to http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.at[c]; e != nil {
		i.conns.Remove(e)
		delete(i.at, c)
	}
	if to != http.StateNew && to != http.StateIdle {
		return
	}
	i.at[c] = i.conns.PushBack(c)
	if i.conns.Len() > i.most {
		oldest := i.conns.Remove(i.conns.Front()).(net.Conn) //nolint:forcetypeassert // it holds nothing else
		delete(i.at, oldest)
		_ = oldest.Close() // it had no active request
	}
}

// LimitConnections returns a ConnState function for a [http.Server] that limits the
// number of connections with and without an active request.
func LimitConnections(busy, idle int) func(net.Conn, http.ConnState) {
	var mu sync.Mutex
	waiting, working := newIdleList(idle), map[net.Conn]bool{}
	return func(c net.Conn, to http.ConnState) {
		waiting.track(c, to)
		mu.Lock()
		defer mu.Unlock()
		if delete(working, c); to != http.StateActive {
			return
		}
		if len(working) >= busy {
			_ = c.Close() // its response is dropped
			return
		}
		working[c] = true
	}
}

// A limiter limits requests.
type limiter struct {
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	usages map[user]*usage
}

// A user is one credential at one address; the zero address means this machine without
// TCP.
type user struct {
	role role
	addr netip.Addr
}

type usage struct {
	tokens   float64
	at       time.Time
	inFlight int
}

// begin reports whether another request may start. If so, end must be called after it.
func (l *limiter) begin(u user) (ok bool, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	use := l.usage(u)
	now := l.now()
	most := float64(2 * l.limits.PerSecond)
	use.tokens = min(most, use.tokens+now.Sub(use.at).Seconds()*float64(l.limits.PerSecond))
	use.at = now
	switch {
	case use.tokens < 1:
		return false, "too many requests per second"
	case use.inFlight >= l.limits.InFlight:
		return false, "too many requests at once"
	}
	use.tokens--
	use.inFlight++
	return true, ""
}

func (l *limiter) end(u user) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usage(u).inFlight--
}

// usage returns a user's usage. If there are too many, it forgets inactive ones, whose
// allowance is nearly full again.
func (l *limiter) usage(u user) *usage {
	if use := l.usages[u]; use != nil {
		return use
	}
	if len(l.usages) >= maxUsages {
		for other, use := range l.usages {
			if use.inFlight == 0 {
				delete(l.usages, other)
			}
		}
	}
	use := &usage{tokens: float64(2 * l.limits.PerSecond), at: l.now()}
	l.usages[u] = use
	return use
}
