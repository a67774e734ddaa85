package egress

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// A link is the connection to an allowed destination.
type link struct {
	side

	in     *bufio.Reader // reads the connection and counts
	to     Destination
	entry  Entry // that covers it
	quota  *quota
	up     atomic.Int64
	down   atomic.Int64
	active atomic.Int64 // when bytes last moved, in nanoseconds
	why    atomic.Int64 // the first reason
	finish func(*link)

	secrets inspector

	headOnly bool // no more than headLeft bytes are read
	headLeft int
}

// reach decides about a destination and connects to it. A refusal and a failure are recorded. The caller ends the
// link, which also closes when ctx ends.
func (p *Proxy) reach(ctx context.Context, c *client, d Destination) (*link, Reason) {
	done := Connection{Destination: d, Began: time.Now()}
	leave, reason := p.allow(ctx, d)
	done.How, done.Entry = leave.how, leave.entry
	var (
		conn net.Conn
		seen *visit
	)
	if reason == 0 {
		seen, reason = p.keys.visitHost(d)
	}
	if reason == 0 {
		conn, done.Address, reason = p.connect(ctx, d)
	}
	if reason == 0 && leave.entry.seals(d) {
		conn, reason = p.secureTo(ctx, conn, d)
	}
	if reason != 0 {
		p.keys.leaveHost(seen)
		if reason.denies() {
			done.How = Refused
		}
		done.Reason, done.Lasted = reason, time.Since(done.Began)
		p.record(done)
		return nil, reason
	}
	l := &link{side: side{Conn: conn, idle: c.idle}, to: d, entry: leave.entry, quota: leave.quota}
	l.in = bufio.NewReader(l)
	l.secrets = p.inspectorOf(ctx, d)
	stop := context.AfterFunc(ctx, l.hangUp)
	l.touch()
	l.finish = func(l *link) {
		stop()
		l.hangUp()
		done.Up, done.Down, done.Reason = l.up.Load(), l.down.Load(), l.reason()
		done.Uses, done.Misplaced = append(l.secrets.uses, p.keys.leaveHost(seen)...), l.secrets.misplaced
		done.Lasted = time.Since(done.Began)
		p.record(done)
	}
	return l, 0
}

// connect connects to the first good address of a destination. The name is resolved here and nowhere else.
func (p *Proxy) connect(ctx context.Context, d Destination) (net.Conn, netip.AddrPort, Reason) {
	good, reason := p.resolve(ctx, d)
	for _, to := range good {
		if conn, err := p.dial(ctx, to); err == nil {
			return conn, to, 0
		}
		reason = Unreachable
	}
	return nil, netip.AddrPort{}, reason
}

func (p *Proxy) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if p.Dial != nil {
		return p.Dial(ctx, to)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", to.String())
}

// resolve returns the addresses of a destination that may be reached, or the reason against the last one.
func (p *Proxy) resolve(ctx context.Context, d Destination) (good []netip.AddrPort, reason Reason) {
	all := make([]netip.Addr, 1)
	if addr, is := d.address(); is {
		all[0] = addr
	} else {
		ctx, cancel := context.WithTimeout(ctx, resolveTime)
		defer cancel()
		var resolver Resolver = net.DefaultResolver
		if p.Resolver != nil {
			resolver = p.Resolver
		}
		var err error
		// The final dot keeps the machine's search domains out.
		if all, err = resolver.LookupNetIP(ctx, "ip", d.Host+"."); err != nil {
			return nil, NoAddress
		}
	}
	reason = NoAddress
	for _, addr := range all {
		to := netip.AddrPortFrom(addr.Unmap(), d.Port)
		if bad := p.checkReach(to); bad != 0 {
			reason = bad
		} else if len(good) < maxAddresses {
			good = append(good, to)
		}
	}
	return good, reason
}

// end closes and records the link.
func (l *link) end() { l.finish(l) }

// cut notes why the link ends, unless another reason came first.
func (l *link) cut(why Reason) { l.why.CompareAndSwap(0, int64(why)) }

func (l *link) reason() Reason { return Reason(l.why.Load()) }

func (l *link) touch() { l.active.Store(time.Now().UnixNano()) }

func (l *link) received(n int64) {
	if n > 0 {
		l.down.Add(n)
		l.touch()
	}
}

// asleep reports whether no bytes moved for the idle time. A download notes its bytes up to half that time late.
func (l *link) asleep() bool { return time.Now().UnixNano()-l.active.Load() >= int64(l.idle+l.idle/2) }

var errOverQuota = errors.New("over-quota")

// Write sends within the quota.
func (l *link) Write(b []byte) (int, error) {
	if !l.quota.spend(len(b)) {
		l.cut(OverQuota)
		return 0, errOverQuota
	}
	n, err := l.side.Write(b)
	l.up.Add(int64(n))
	l.touch()
	return n, err
}

// Read reads past the buffer.
func (l *link) Read(b []byte) (int, error) {
	if l.headOnly && l.headLeft <= 0 {
		return 0, errLongHead
	}
	n, err := l.side.Read(b)
	l.received(int64(n))
	l.headLeft -= n
	return n, err
}
