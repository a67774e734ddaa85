package tool

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

const (
	dialTimeout    = 10 * time.Second
	maxHeaderBytes = 64 << 10
	maxAddresses   = 4 // maximum addresses tried per host
)

// A web is how pages are reached. The zero value is the real network.
type web struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	roots   *x509.CertPool
}

// client returns a client for one call. It dials the very address that was checked, so a name
// cannot mean something else the second time.
func (w web) client(private bool) *http.Client {
	if w.resolve == nil {
		w.resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if w.dial == nil {
		w.dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return w.reach(ctx, network, address, private)
		},
		TLSClientConfig:        &tls.Config{RootCAs: w.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  webTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reach dials a host, unless one of its addresses is not on the public web.
func (w web) reach(ctx context.Context, network, address string, private bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := w.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if err := refuseAddress(addr, private); err != nil {
			return nil, fmt.Errorf("%s: %w", host, err)
		}
	}
	var failed error
	for _, addr := range addrs[:min(len(addrs), maxAddresses)] {
		conn, err := w.dial(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

func (w web) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := w.resolve(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = fmt.Errorf("%s: has no address", host)
	}
	return addrs, err
}

// refuseAddress rejects an address that is not on the public web. With private, the
// address may be on this machine or its network, because a person was asked about it.
// Addresses that hand out credentials, and multicast, are always rejected.
func refuseAddress(addr netip.Addr, private bool) error {
	addr = addr.Unmap().WithZone("")
	switch {
	case slices.Contains(metadata, addr):
		return fmt.Errorf("leads to %v, which serves this machine's cloud credentials", addr)
	case private && (addr.IsLoopback() || addr.IsPrivate()):
		return nil
	case !sensitive.PublicAddress(addr):
		return fmt.Errorf("leads to %v, which is not on the public web", addr)
	}
	return nil
}

// metadata are addresses at which clouds hand out credentials and that look like any
// other, or like a private one.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"),
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}
