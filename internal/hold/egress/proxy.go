package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// The limits of a Proxy, for all connections of one command.
const (
	maxConnections = 256 // at once
	maxNames       = 100 // names below one wildcard
	maxQuestions   = 20  // different questions to the person, one at a time
	maxAddresses   = 8   // addresses of a name that are tried
	maxVerdicts    = 1000
)

// The limits of a connection.
const (
	helloTime   = 30 * time.Second // for the first request or client hello, from the first chance to send it
	idleTime    = 15 * time.Minute // without a byte in either direction
	resolveTime = 15 * time.Second
	dialTime    = 10 * time.Second // for each address
	lingerTime  = time.Second      // for the client to read a refusal
	lingerBytes = 1 << 20          // of the client, which are read and dropped meanwhile
)

// A How is the way in which a destination was allowed. The zero value is Refused.
type How int

// The ways.
const (
	Refused  How = iota
	ByEntry      // an entry of the list covers it
	ByGroup      // a group of the list covers it
	ByPerson     // the person said yes
)

// A Connection records the fate of one connection, or of one request that made its own.
type Connection struct {
	Destination Destination    // zero if the command did not name one that can be read
	Address     netip.AddrPort // the address it went to; zero if it went to none
	Up, Down    int64          // bytes sent to the destination, and received from it
	Began       time.Time
	Lasted      time.Duration
	How         How
	Entry       Entry  // the entry that covers the destination; zero if none does
	Reason      Reason // why it was refused, failed or was cut; 0 if a side or the context ended it
	Uses        []umpire.SecretUse
	Misplaced   string // the lease whose placeholder was where it must not be, for MisplacedSecret
}

// A Resolver finds the addresses of a name. [net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A Proxy serves the connections of one command. The zero value refuses all. Set its fields before the first
// connection. Its methods may be called at the same time, as it calls its functions.
type Proxy struct {
	List List
	// Judge decides about a destination under the person's rules, once. The entry covers it; why is 0, or says why the
	// entry or the lack of one does not suffice: NotListed, PortNotListed, RandomName or ManyNames. nil allows each
	// destination with an entry that suffices, and asks about all others.
	Judge func(ctx context.Context, d Destination, e Entry, why Reason) umpire.Verdict
	// Ask asks the person for a destination, and why it needs an answer: as for Judge, NotPermitted if only Judge asks,
	// or OverQuota, which asks for as many bytes again. It must return when ctx ends. The answer holds for the whole
	// command. nil says no.
	Ask func(ctx context.Context, d Destination, why Reason) bool
	// Record is told of each connection once, when it has ended or is refused. nil forgets it.
	Record func(Connection)
	// NameOf returns the name that stands behind an address that was invented for it, for programs that resolve
	// names before they ask the proxy. nil knows none.
	NameOf func(netip.Addr) (string, bool)
	// Resolver and Dial reach the network. nil stands for that of this machine. A connection that Dial returns
	// should have CloseWrite; one without ends as a whole when the command ends its side.
	Resolver Resolver
	Dial     func(ctx context.Context, to netip.AddrPort) (net.Conn, error)

	local func() ([]netip.Prefix, error) // nil stands for localPrefixes
	times *times                         // nil stands for the constants
	roots *x509.CertPool                 // nil stands for those of this machine

	authority authority
	leases    []activeLease
	keys      *keyring

	turn sync.Mutex // held by the connection that asks the person

	mu       sync.Mutex
	idle     sync.Cond // serving is 0
	serving  int
	verdicts map[judged]umpire.Verdict
	quotas   map[string]*quota
	names    map[string]map[string]bool // used names by the text of the wildcard
	answers  map[question]*answer
}

// times are the limits of time that tests shorten.
type times struct{ hello, idle time.Duration }

func (p *Proxy) patience() times {
	if p.times != nil {
		return *p.times
	}
	return times{helloTime, idleTime}
}

// ServeProxy serves a connection to the proxy: HTTP with CONNECT or an absolute URI, or SOCKS5. It returns when the
// connection has ended, and closes it. A refusal is told to the client.
func (p *Proxy) ServeProxy(ctx context.Context, conn net.Conn) {
	c, leave := p.enter(ctx, conn, Destination{})
	if c == nil {
		return
	}
	defer leave()
	c.within(c.hello)
	first, err := c.in.Peek(1)
	switch {
	case err != nil:
		p.recordRefusal(c, Destination{}, reasonOf(err, BadDemand))
	case first[0] == socksVersion:
		p.serveSocks(ctx, c)
	case 'A' <= first[0] && first[0] <= 'Z':
		p.serveHTTP(ctx, c)
	default:
		p.recordRefusal(c, Destination{}, BadDemand)
	}
}

// ServeDirect serves a connection of a program that believes that it is connected to d. It returns when the
// connection has ended, and closes it. A refusal resets it.
func (p *Proxy) ServeDirect(ctx context.Context, conn net.Conn, d Destination) {
	c, leave := p.enter(ctx, conn, d)
	if c == nil {
		return
	}
	defer leave()
	host, good := normalHost(d.Host)
	if !good || d.Port == 0 {
		p.recordRefusal(c, Destination{}, BadDemand)
		c.reset()
		return
	}
	l, reason := p.reach(ctx, c, Destination{host, d.Port})
	if reason != 0 {
		c.reset()
		return
	}
	defer l.end()
	p.tunnel(c, l)
}

// enter makes room for a connection, or refuses it and returns nil. The connection is closed when ctx ends, and by
// leave.
func (p *Proxy) enter(ctx context.Context, conn net.Conn, d Destination) (c *client, leave func()) {
	c = newClient(conn, p.patience())
	p.mu.Lock()
	room := p.serving < maxConnections
	if room {
		p.serving++
	}
	p.mu.Unlock()
	if !room {
		p.recordRefusal(c, d, ManyConnections)
		c.reset()
		return nil, nil
	}
	stop := context.AfterFunc(ctx, c.hangUp)
	return c, func() {
		stop()
		c.hangUp()
		p.mu.Lock()
		p.serving--
		p.idle.L = &p.mu
		p.idle.Broadcast()
		p.mu.Unlock()
	}
}

// MaySend reports whether the command may send more than requests to fetch something, without a further question. It
// may if it has a lease or a destination whose requests are not read. nil sends nothing.
func (p *Proxy) MaySend() bool {
	return p != nil && (len(p.leases) > 0 || slices.ContainsFunc(p.List.entries, func(e Entry) bool {
		return e.Group == "" || e.Unread
	}))
}

// Wait waits until no connection is served, of the command's agent neither. It is for a context that has ended.
func (p *Proxy) Wait() {
	if p.keys != nil {
		p.keys.serving.Wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.idle.L = &p.mu; p.serving > 0; {
		p.idle.Wait()
	}
}

// recordRefusal records a connection that did not come so far as to have a link.
func (p *Proxy) recordRefusal(c *client, d Destination, why Reason) {
	p.record(Connection{Destination: d, Began: c.began, Lasted: time.Since(c.began), Reason: why})
}

func (p *Proxy) record(done Connection) {
	if p.Record != nil {
		p.Record(done)
	}
}
