package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
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

// A peer is the other end of a connection. What is not known of it is -1 or "".
type peer struct {
	channel string
	uid     int
	pid     int
	addr    netip.Addr
	socket  *net.UnixConn

	once   sync.Once
	origin origin
	err    error
}

// An origin is where a peer's process comes from, as it was when the peer first
// showed a person's credential.
type origin struct {
	// lineage are the parents, the nearest first.
	lineage []process
	// objection says why a person's credential is not to be honoured there.
	objection string
}

// A process is told from later ones of the same number by when it began.
type process struct {
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
		if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
			p.addr = at.Addr().Unmap()
		}
		return p
	}
	return localPeer()
}

func localPeer() *peer { return &peer{channel: channelLocal, uid: os.Getuid(), pid: os.Getpid()} }

// actor names the peer for the record. What it says of itself is told as such.
func (p *peer) actor(claim string) string {
	name := cmp.Or(p.channel, channelLocal)
	if p.channel == channelTCP {
		name = p.addr.String()
	}
	if p.uid >= 0 {
		name = fmt.Sprintf("uid %d, pid %d", p.uid, p.pid)
	}
	if claim != "" {
		name += ", says " + claim
	}
	return name
}

// person reports why the peer may not use a person's credential: "" is that it
// may. runners are the processes that run sessions; nil leaves them out of it.
func (p *peer) person(runners []process) string {
	if p.channel != channelUnix {
		return ""
	}
	p.once.Do(func() { p.origin, p.err = originOf(p.socket, p.pid) })
	switch {
	case p.err != nil:
		return "it cannot be told where the process comes from: " + p.err.Error()
	case p.origin.objection != "":
		return p.origin.objection
	}
	for _, parent := range p.origin.lineage {
		for _, runner := range runners {
			if parent == runner {
				return fmt.Sprintf("the process was started by process %d, which runs a session", runner.pid)
			}
		}
	}
	return ""
}

// runnersOf returns the processes of this host that run sessions.
func runnersOf(ctx context.Context, sessions Sessions) ([]process, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	all, err := sessions.Sessions(ctx, umpire.SessionQuery{})
	if err != nil {
		return nil, err
	}
	var runners []process
	for i := range all {
		if all[i].State == umpire.SessionOver {
			continue
		}
		if runner, ok := parseRunner(all[i].Runner, host); ok {
			runners = append(runners, runner)
		}
	}
	return runners, nil
}

// parseRunner reads "host:pid:starttime", where a host's name may hold colons.
func parseRunner(text, host string) (process, bool) {
	rest, ok := strings.CutPrefix(text, host+":")
	if !ok {
		return process{}, false
	}
	number, started, ok := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(number)
	return process{pid: pid, started: started}, ok && err == nil
}
