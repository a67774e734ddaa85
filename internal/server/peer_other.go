//go:build !linux

package server

import (
	"errors"
	"net"
	"net/netip"
)

// tellsPeers means that this system does not identify clients.
const tellsPeers = false

// credentialsOf is not available: only the modes of the socket's folder control access.
func credentialsOf(*net.UnixConn) (uid, pid int, err error) {
	return -1, -1, errors.New("this system does not report which process connected")
}

// originOf returns no objection: this system does not report a process's restrictions or
// ancestors.
func originOf(*net.UnixConn, int) (origin, error) { return origin{}, nil }

// tcpOriginOf returns no objection for the same reason.
func tcpOriginOf(_, _ netip.AddrPort) (o origin, uid, pid int, err error) {
	return origin{}, -1, -1, nil
}
