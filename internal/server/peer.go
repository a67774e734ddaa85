package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	systemuser "os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
)

// The ways by which a peer comes.
const (
	channelUnix  = "unix"
	channelTCP   = "tcp"
	channelLocal = "local" // from within this process
)

// A peer is the other end of a connection. Fields that are not known are -1 or "".
type peer struct {
	channel string
	uid     int
	pid     int
	addr    netip.Addr
	socket  *net.UnixConn
	// far and near are the ends of a TCP connection.
	far, near netip.AddrPort

	once   sync.Once
	origin origin
	err    error
}

// An origin is where a peer's process comes from, as it was when the peer first
// showed a person's credential.
type origin struct {
	// itself is the process, or all that hold the connection; lineage are the parents, the
	// nearest first.
	itself, lineage []peerProcess
	// elsewhere says that the process counts its fellows otherwise than the gate.
	elsewhere bool
	// objection says why a person's credential is not to be honoured there.
	objection string
}

// A peerProcess is told from later ones of the same number by when it began.
type peerProcess struct {
	pid     int
	started string
}

type peerKey struct{}

// peerOf learns who is at the other end of a connection.
func peerOf(c net.Conn) *peer {
	switch c := c.(type) {
	case *net.UnixConn:
		p := &peer{channel: channelUnix, uid: -1, pid: -1, socket: c}
		if uid, pid, err := credentialsOf(c); err == nil {
			p.uid, p.pid = uid, pid
		}
		return p
	case *net.TCPConn:
		p := &peer{channel: channelTCP, uid: -1, pid: -1}
		p.far, p.near = addrPortOf(c.RemoteAddr()), addrPortOf(c.LocalAddr())
		p.addr = p.far.Addr()
		return p
	}
	return localPeer()
}

func addrPortOf(a net.Addr) netip.AddrPort {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func localPeer() *peer { return &peer{channel: channelLocal, uid: os.Getuid(), pid: os.Getpid()} }

// actor is the peer for the record: by its login name, where the system tells the user, or
// else by its address. Which client it is, it says itself.
func (p *peer) actor(claim string) umpire.Actor {
	if p.uid < 0 {
		name := cmp.Or(p.channel, channelLocal)
		if p.channel == channelTCP {
			name = p.addr.String()
		}
		return umpire.Actor{Name: name, Client: claim}
	}
	a := umpire.Actor{Name: fmt.Sprintf("uid %d", p.uid), Client: claim, UID: &p.uid, PID: &p.pid}
	if known, err := systemuser.LookupId(strconv.Itoa(p.uid)); err == nil {
		a.Name = known.Username
	}
	return a
}

// person reports why the peer may not use a person's credential: "" is that it may.
func (p *peer) person() string {
	if !p.hasOrigin() {
		return ""
	}
	p.once.Do(p.findOrigin)
	if p.err != nil {
		return "it cannot be told where the process comes from: " + p.err.Error()
	}
	return p.origin.objection
}

// runner returns the process that started the peer and runs a session, nil when there is none. The
// peer's own parents are looked up, and not all sessions that there are.
func (p *peer) runner(ctx context.Context, sessions umpire.SessionReader) (*peerProcess, error) {
	if len(p.origin.lineage) == 0 {
		return nil, nil //nolint:nilnil // nobody is not an error
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(p.origin.lineage))
	for i, parent := range p.origin.lineage {
		names[i] = fmt.Sprintf("%s:%d:%s", host, parent.pid, parent.started)
	}
	found, err := sessions.Sessions(ctx, umpire.SessionQuery{Runners: names})
	for i := range found {
		if found[i].State == umpire.SessionOver {
			continue
		}
		for _, name := range found[i].AllRunners() {
			if at := slices.Index(names, name); at >= 0 {
				return &p.origin.lineage[at], nil
			}
		}
	}
	return nil, err
}

// hasOrigin reports whether the other end is a process of this machine that the system
// can tell. One on another machine shows its credential, and nothing else is known.
func (p *peer) hasOrigin() bool {
	return p.channel == channelUnix || p.channel == channelTCP && p.far.Addr().IsLoopback()
}

func (p *peer) findOrigin() {
	if p.channel == channelUnix {
		p.origin, p.err = originOf(p.socket, p.pid)
		return
	}
	p.origin, p.uid, p.pid, p.err = tcpOriginOf(p.far, p.near)
}

// parseRunner reads "host:pid:starttime", where a host's name may hold colons.
func parseRunner(text, host string) (peerProcess, bool) {
	rest, ok := strings.CutPrefix(text, host+":")
	if !ok {
		return peerProcess{}, false
	}
	number, started, ok := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(number)
	return peerProcess{pid: pid, started: started}, ok && err == nil
}
