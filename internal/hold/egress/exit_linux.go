package egress

import (
	"bytes"
	"encoding/binary"
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

// maxDoors bounds the addresses that a command connects to. Any others are out of reach.
const maxDoors = 256

// OpenDoors leads every address to this network namespace itself, and opens the proxy's port. The messages go to a
// socket, whose other end Serve reads.
func OpenDoors(socket int) (*Doors, error) {
	if err := routeToItself(unix.AF_INET); err != nil {
		return nil, err
	}
	_ = routeToItself(unix.AF_INET6) // without IPv6 there is nothing to lead
	d := &Doors{socket: socket, open: map[netip.AddrPort]bool{}}
	return d, d.Listen(netip.MustParseAddrPort(ProxyAddress), "")
}

// loopback is the index of a namespace's first interface.
const loopback = 1

// routeToItself adds a local route for all addresses of a family: ip route add local default dev lo.
func routeToItself(family uint8) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // it only configured
	request := struct {
		unix.NlMsghdr
		unix.RtMsg
		unix.RtAttr

		Device uint32
	}{
		unix.NlMsghdr{
			Type: unix.RTM_NEWROUTE, Flags: unix.NLM_F_REQUEST | unix.NLM_F_CREATE | unix.NLM_F_ACK,
			Len: unix.SizeofNlMsghdr + unix.SizeofRtMsg + unix.SizeofRtAttr + 4,
		},
		unix.RtMsg{
			Family: family, Table: unix.RT_TABLE_LOCAL, Protocol: unix.RTPROT_BOOT, Scope: unix.RT_SCOPE_HOST,
			Type: unix.RTN_LOCAL,
		},
		unix.RtAttr{Len: unix.SizeofRtAttr + 4, Type: unix.RTA_OIF},
		loopback,
	}
	var message bytes.Buffer
	if err := binary.Write(&message, binary.NativeEndian, request); err != nil {
		return err
	}
	if err := unix.Sendto(fd, message.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 {
		return unix.EBADMSG
	}
	if errno := -int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}

// Listen listens on an address, unless that was done before. The name is that for which it was invented, or else the
// address itself.
func (d *Doors) Listen(at netip.AddrPort, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[at] {
		return nil
	}
	if len(d.open) >= maxDoors {
		return unix.EADDRNOTAVAIL
	}
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }() // the other end has its own
	if family == unix.AF_INET6 {              // a route alone makes no address of this family local
		err = unix.SetsockoptInt(socket, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1)
	}
	if err := errors.Join(err, unix.Bind(socket, to), unix.Listen(socket, unix.SOMAXCONN)); err != nil {
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
