package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	systemuser "os/user"
	"slices"
	"strconv"
	"sync"

	"github.com/umpirehq/umpire"
)

// The kinds of connections.
const (
	channelUnix  = "unix"
	channelTCP   = "tcp"
	channelLocal = "local" // from within this process
)

// A peer is the client of a connection. Unknown fields are -1 or "".
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

// An origin describes the client's process at the time when the client first used a
// person's credential.
type origin struct {
	// itself is the process, or all processes that hold the connection; lineage are its
	// ancestors, nearest first.
	itself, lineage []peerProcess
	// elsewhere means that the process is in another pid namespace than the gate.
	elsewhere bool
	// objection is the reason why its use of a person's credential is refused.
	objection string
}

// A peerProcess has the name that sessions use, which distinguishes it from later processes with the same id.
type peerProcess struct {
	pid  int
	name string
}

// hasProcess reports whether a process with a name is in a list.
func hasProcess(list []peerProcess, name string) bool {
	return slices.ContainsFunc(list, func(p peerProcess) bool { return p.name == name })
}

type peerKey struct{}

// peerOf identifies the client of a connection.
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

// actor returns the client for the record: with its login name if the system knows the
// user, or else its address. The client claims its name itself.
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

// person returns why the client may not use a person's credential, or "" if it may.
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

// runner returns the client's ancestor that runs a session, or nil, and the session. It looks up the
// ancestors only, not all sessions.
func (p *peer) runner(
	ctx context.Context, sessions umpire.SessionReader,
) (by *peerProcess, session umpire.SessionID, err error) {
	if len(p.origin.lineage) == 0 {
		return nil, "", nil
	}
	names := make([]string, len(p.origin.lineage))
	for i, parent := range p.origin.lineage {
		names[i] = parent.name
	}
	found, err := sessions.List(ctx, umpire.SessionQuery{Runners: names})
	for i := range found {
		if found[i].State == umpire.SessionOver {
			continue
		}
		for _, name := range found[i].AllRunners() {
			if at := slices.Index(names, name); at >= 0 {
				return &p.origin.lineage[at], found[i].ID, nil
			}
		}
	}
	return nil, "", err
}

// SessionOf returns the session of the agent below which a process of this machine has made a TCP connection, or "".
// The process must belong to this user. Systems that do not tell the process know no session.
func (s *Server) SessionOf(ctx context.Context, c net.Conn) (umpire.SessionID, error) {
	if !tellsPeers {
		return "", nil
	}
	p := peerOf(c)
	p.findOrigin()
	if p.err != nil {
		return "", p.err
	}
	if len(p.origin.itself) == 0 {
		return "", errors.New(p.origin.objection)
	}
	_, session, err := p.runner(ctx, s.config.Gate.Sessions())
	return session, err
}

// hasOrigin reports whether the client is a process of this machine that the system can
// identify. Only the credential is known of a client on another machine.
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
