package egress

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Doors are the inner side of an [Exit]. They listen on an address when the command is about to connect to it, and pass
// the listening socket to [Exit.Serve], which accepts the connections. So the command never holds a socket outside of
// its own network. The methods may be called at the same time.
type Doors struct {
	socket int

	mu   sync.Mutex
	open map[netip.AddrPort]bool
}

// OpenDoors makes the addresses that may be invented local to this network namespace, and opens the proxy's port. The
// messages go to a socket, whose other end Serve reads.
func OpenDoors(socket int, invented netip.Prefix) (*Doors, error) {
	if err := addLocal(invented); err != nil {
		return nil, err
	}
	d := &Doors{socket: socket, open: map[netip.AddrPort]bool{}}
	return d, d.Listen(netip.MustParseAddrPort(ProxyAddress), "")
}

// addLocal gives the addresses of a prefix to the loopback, which is the private one.
func addLocal(of netip.Prefix) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // it only configured
	request, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	address, mask := of.Addr().Next().As4(), net.CIDRMask(of.Bits(), 32)
	for _, set := range []struct {
		call uint
		to   []byte
	}{{unix.SIOCSIFADDR, address[:]}, {unix.SIOCSIFNETMASK, mask}} {
		if err := request.SetInet4Addr(set.to); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, set.call, request); err != nil {
			return err
		}
	}
	return nil
}

// Listen listens on an address that was invented for a name, unless that was done before.
func (d *Doors) Listen(at netip.AddrPort, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[at] {
		return nil
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }() // the other end has its own
	to := unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	if err := errors.Join(unix.Bind(socket, &to), unix.Listen(socket, unix.SOMAXCONN)); err != nil {
		return err
	}
	d.open[at] = true
	return d.pass(passage{Name: name, Port: at.Port()}, unix.UnixRights(socket))
}

// Name tells the outside for which name an address was invented.
func (d *Doors) Name(invented netip.Addr, name string) error {
	return d.pass(passage{Address: invented, Name: name}, nil)
}

// pass sends a message outside.
func (d *Doors) pass(p passage, socket []byte) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return unix.Sendmsg(d.socket, text, socket, nil, unix.MSG_NOSIGNAL)
}

// Serve takes the messages of doors until their end is closed, and hands connections on. Then it closes all listeners.
func (e *Exit) Serve(from *os.File) {
	conn, err := net.FileConn(from)
	if err != nil {
		return // without it, no connection leaves
	}
	defer conn.Close()
	socket, is := conn.(*net.UnixConn)
	if !is {
		return
	}
	var open []net.Listener
	defer func() {
		for _, l := range open {
			_ = l.Close() // it only accepted
		}
	}()
	text, rights := make([]byte, maxPassage), make([]byte, unix.CmsgSpace(4))
	for {
		n, m, _, _, err := socket.ReadMsgUnix(text, rights)
		if err != nil || n == 0 {
			return
		}
		var p passage
		if json.Unmarshal(text[:n], &p) != nil {
			return
		}
		if m == 0 {
			e.Named(p.Address, p.Name)
			continue
		}
		l, err := listenerIn(rights[:m])
		if err != nil {
			return
		}
		open = append(open, l)
		go e.accept(l, p)
	}
}

// listenerIn returns the listener that came with a message.
func listenerIn(rights []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("no socket came along"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("no socket came along"), err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// accept hands the connections of a listener on until it is closed.
func (e *Exit) accept(l net.Listener, p passage) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if p.Name == "" {
			go e.Proxy(conn)
		} else {
			go e.Direct(conn, p.Name, p.Port)
		}
	}
}
