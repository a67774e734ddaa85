package client

import (
	"context"
	"net"
)

// NewForTest returns a client over connections of a test's own.
func NewForTest(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	return newClient("http://localhost", "", dial)
}
