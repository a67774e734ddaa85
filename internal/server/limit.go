package server

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds that nothing configures.
const (
	// maxBody is the largest request of most kinds; maxCallBody of those that bear
	// a tool's input or output, which adapters read up to 10 MiB of.
	maxBody     = 1 << 20
	maxCallBody = 24 << 20
	// maxHeader is the largest head of a request.
	maxHeader = 16 << 10
	// compressFrom is the size from which an answer is compressed, if the client
	// takes that. Below, it costs more than it saves.
	compressFrom = 64 << 10

	headerTimeout = 10 * time.Second
	idleTimeout   = 5 * time.Minute
	maxStreams    = 1024 // on one HTTP/2 connection
	maxUsages     = 4096 // of credentials and addresses that are remembered
)

// Limits bound what one credential may take from one address. Zero fields take
// the default.
type Limits struct {
	PerSecond int // requests; twice as many may come at once. Default 2,000.
	InFlight  int // requests under way, not counting watchers. Default 1,024.
	Watchers  int // with one credential, from everywhere. Default 16,384.
	Idle      int // connections without a request, from everywhere. Default 1,024.
}

// keptDescriptors are for the database, files and sockets of the gate's own.
const keptDescriptors = 48

// orDefault leaves of the descriptors that the process may have open enough for hooks: watchers with
// both credentials take two thirds, requests a quarter, and idle connections a sixteenth.
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

// An idleList holds the connections on which no request is under way. When there are too many, the
// one that has waited longest is closed: whoever asks does so at once.
type idleList struct {
	most int

	mu    sync.Mutex
	conns *list.List // of net.Conn, the one that has waited longest first
	at    map[net.Conn]*list.Element
}

func newIdleList(most int) *idleList {
	return &idleList{most: most, conns: list.New(), at: map[net.Conn]*list.Element{}}
}

// track is told of each change of a connection.
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
		_ = oldest.Close() // nothing was under way on it
	}
}

// LimitConnections returns what a [http.Server] tells of its connections, so that no more of them stay than
// so many with a request under way, and so many without.
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
			_ = c.Close() // its answer goes nowhere
			return
		}
		working[c] = true
	}
}

// A limiter counts requests.
type limiter struct {
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	usages map[user]*usage
}

// A user is one credential at one address; the zero address is this machine by
// other ways than TCP.
type user struct {
	role role
	addr netip.Addr
}

type usage struct {
	tokens   float64
	at       time.Time
	inFlight int
}

// begin reports whether another request may begin. If so, end has to be called
// when it is over.
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

// usage finds what a user takes. When there are too many, those that take nothing
// are forgotten: their allowance is full again, or nearly.
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
