package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// ProxyAddress is where a command in a sandbox with an [Exit] finds a proxy, on its private loopback.
const ProxyAddress = "127.0.0.1:19181"

// An Exit is the way out of the private network of a command. Proxy and Direct are called in goroutines of their own,
// and close the connections that they get.
type Exit struct {
	// Proxy serves a connection to ProxyAddress.
	Proxy func(conn net.Conn)
	// Direct serves a connection of a program that believes it is connected to a name, or to an address.
	Direct func(conn net.Conn, name string, port uint16)
	// Named is told the name for which an address was invented, before a program learns of the address.
	Named func(invented netip.Addr, name string)
	// Texts replace the content of files of the system, by their names.
	Texts map[string]string
}

// Exit returns the way out through the proxy. Its connections end with ctx. It sets NameOf.
func (p *Proxy) Exit(ctx context.Context) *Exit {
	var mu sync.Mutex
	names := map[netip.Addr]string{}
	p.NameOf = func(invented netip.Addr) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		name, known := names[invented]
		return name, known
	}
	exit := &Exit{
		Proxy: func(conn net.Conn) { p.ServeProxy(ctx, conn) },
		Direct: func(conn net.Conn, name string, port uint16) {
			p.ServeDirect(ctx, conn, Destination{name, port})
		},
		Named: func(invented netip.Addr, name string) {
			mu.Lock()
			defer mu.Unlock()
			names[invented] = name
		},
	}
	if p.keys != nil {
		exit.Texts = map[string]string{sshSettings: p.keys.settings()}
	}
	return exit
}

// A passage is a message of the sandbox about the way out: a listener, or a name.
type passage struct {
	Name    string     `json:"name,omitempty"` // "" for the proxy
	Port    uint16     `json:"port,omitempty"` // of a listener, whose socket comes along
	Address netip.Addr `json:"address,omitzero"`
}

// maxPassage bounds a message in bytes.
const maxPassage = 1024
