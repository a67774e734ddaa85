//go:build !linux

package cli

import "net"

// peerOf returns 0 because the peer is not known here.
func peerOf(net.Conn) int { return 0 }

// programOf returns "" because the program is not known here.
func programOf(int) string { return "" }
