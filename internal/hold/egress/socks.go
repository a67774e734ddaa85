package egress

import (
	"bufio"
	"context"
	"io"
	"net/netip"
)

// Numbers of SOCKS5, RFC 1928.
const (
	socksVersion    = 5
	socksNoSignIn   = 0
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
	socksDone       = 0
	socksFailed     = 1
	socksForbidden  = 2
	socksNoHost     = 4
	socksRefused    = 5
	socksNoCommand  = 7
	socksNoAddress  = 8
	socksHeadBytes  = 4
	socksReplyBytes = 10
)

func (p *Proxy) serveSocks(ctx context.Context, c *client) {
	d, code, err := readSocks(c.in, c)
	if err != nil || code != socksDone {
		p.recordRefusal(c, Destination{}, reasonOf(err, BadDemand))
		if err == nil {
			replySocks(c, code)
			c.linger()
		}
		return
	}
	l, reason := p.reach(ctx, c, p.named(d))
	if reason != 0 {
		replySocks(c, socksCode(reason))
		c.linger()
		return
	}
	defer l.end()
	if !replySocks(c, socksDone) {
		return
	}
	p.tunnel(c, l)
}

// readSocks reads a demand for a connection. A code other than socksDone is the refusal to reply; after an error there
// is nothing to reply to.
func readSocks(in *bufio.Reader, out io.Writer) (d Destination, code byte, err error) {
	head := make([]byte, socksHeadBytes)
	if _, err := io.ReadFull(in, head[:2]); err != nil {
		return d, 0, err
	}
	offered := make([]byte, head[1])
	if _, err := io.ReadFull(in, offered); err != nil {
		return d, 0, err
	}
	choice := byte(socksNoMethod)
	for _, method := range offered {
		if method == socksNoSignIn {
			choice = socksNoSignIn
		}
	}
	if _, err := out.Write([]byte{socksVersion, choice}); err != nil {
		return d, 0, err
	}
	if choice != socksNoSignIn {
		return d, 0, io.ErrUnexpectedEOF
	}
	if _, err := io.ReadFull(in, head); err != nil {
		return d, 0, err
	}
	host, code, err := readSocksHost(in, head[3])
	if err != nil || code != socksDone {
		return d, code, err
	}
	port := make([]byte, 2)
	if _, err := io.ReadFull(in, port); err != nil {
		return d, 0, err
	}
	number := uint16(port[0])<<8 | uint16(port[1])
	host, good := normalHost(host)
	switch {
	case head[0] != socksVersion || head[2] != 0 || !good || number == 0:
		return Destination{}, socksFailed, nil
	case head[1] != socksConnect:
		return Destination{}, socksNoCommand, nil
	}
	return Destination{host, number}, socksDone, nil
}

func readSocksHost(in *bufio.Reader, kind byte) (host string, code byte, err error) {
	var size byte
	switch kind {
	case socksIPv4:
		size = 4
	case socksIPv6:
		size = 16
	case socksName:
		if size, err = in.ReadByte(); err != nil {
			return "", 0, err
		}
	default:
		return "", socksNoAddress, nil
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(in, text); err != nil {
		return "", 0, err
	}
	if kind == socksName {
		return string(text), socksDone, nil
	}
	addr, _ := netip.AddrFromSlice(text) // of a right size
	return addr.String(), socksDone, nil
}

// replySocks reports whether the reply was sent. The address in it is of no use to a client.
func replySocks(c *client, code byte) bool {
	reply := make([]byte, socksReplyBytes)
	reply[0], reply[1], reply[3] = socksVersion, code, socksIPv4
	_, err := c.Write(reply)
	return err == nil
}

func socksCode(reason Reason) byte {
	switch reason { //nolint:exhaustive // all others are refusals
	case NoAddress:
		return socksNoHost
	case Unreachable:
		return socksRefused
	}
	return socksForbidden
}

// named replaces an address that was invented for a name by the name.
func (p *Proxy) named(d Destination) Destination {
	addr, is := d.address()
	if !is || p.NameOf == nil {
		return d
	}
	name, known := p.NameOf(addr)
	host, good := normalHost(name)
	if !known || !good {
		return d
	}
	return Destination{host, d.Port}
}
