//go:build !linux

package cli

import "net"

// peerOf cannot tell who is at the other end.
func peerOf(net.Conn) int { return 0 }

// programOf does not know.
func programOf(int) string { return "" }
