//go:build !linux

package server

import (
	"errors"
	"net"
	"net/netip"
)

// tellsPeers says that this system does not tell who connected.
const tellsPeers = false

// credentialsOf is not known here: who may reach the socket is held by the modes
// of its folder alone.
func credentialsOf(*net.UnixConn) (uid, pid int, err error) {
	return -1, -1, errors.New("this system does not tell who connected")
}

// originOf objects to nothing: this system does not tell how a process is
// confined, nor what started it.
func originOf(*net.UnixConn, int) (origin, error) { return origin{}, nil }

// tcpOriginOf knows as little.
func tcpOriginOf(_, _ netip.AddrPort) (o origin, uid, pid int, err error) {
	return origin{}, -1, -1, nil
}
