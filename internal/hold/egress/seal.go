package egress

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// The hosts of a group that only serves files get requests that only fetch, and a leased host those of its leases. To
// see them, the proxy ends TLS there by its own authority, which lives as long as the command and holds for those hosts
// alone. Its key never leaves this process. The proxy itself trusts what this machine trusts.

// An authority signs certificates for the hosts whose requests are read.
type authority struct {
	once sync.Once
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	err  error

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

// authorityLife is longer than any command runs, and authoritySkew is how far clocks may differ.
const (
	authorityLife = 48 * time.Hour
	authoritySkew = time.Hour
)

// make makes the key and the certificate of the authority, which names the hosts that it is for.
func (a *authority) make(hosts []string) error {
	a.once.Do(func() {
		if a.key, a.err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); a.err != nil {
			return
		}
		made := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "umpire, for one command"},
			NotBefore: time.Now().Add(-authoritySkew), NotAfter: time.Now().Add(authorityLife),
			KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
			PermittedDNSDomainsCritical: true, PermittedDNSDomains: hosts,
		}
		var raw []byte
		if raw, a.err = x509.CreateCertificate(rand.Reader, made, made, a.key.Public(), a.key); a.err == nil {
			a.cert, a.err = x509.ParseCertificate(raw)
		}
	})
	return a.err
}

var errNoAuthority = errors.New("no-authority")

// leaf returns the certificate of a host.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch known := a.leaves[host]; {
	case a.cert == nil:
		return nil, errNoAuthority
	case known != nil:
		return known, nil
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, made, a.cert, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	leaf := &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: a.key}
	a.leaves = put(a.leaves, host, leaf)
	return leaf, nil
}

// systemRoots are the usual files with the authorities that a machine trusts.
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// Authorities returns what programs of the command have to trust, in PEM: the authorities of this machine and that of
// the proxy, or nil if the proxy looks into no connection.
func (p *Proxy) Authorities() ([]byte, error) {
	var hosts []string
	for _, e := range p.List.entries {
		if e.seals(Destination{e.host, e.port}) {
			hosts = append(hosts, e.host)
		}
	}
	for _, s := range p.leases {
		hosts = append(hosts, s.Host)
	}
	if len(hosts) == 0 {
		return nil, nil
	}
	if err := p.authority.make(hosts); err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range append([]string{os.Getenv("SSL_CERT_FILE")}, systemRoots...) {
		if text, err := os.ReadFile(name); err == nil {
			all = append(text, '\n')
			break
		}
	}
	return append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.authority.cert.Raw})...), nil
}

// fetches reports whether the entry's hosts are only fetched from.
func (e Entry) fetches() bool { return e.Group != "" && !e.Unread }

// seals reports whether the proxy ends TLS with a destination of the entry.
func (e Entry) seals(d Destination) bool { return (e.fetches() || e.leased) && d.Port == portHTTPS }

// secureTo starts TLS with a destination. After a failure the connection is closed.
func (p *Proxy) secureTo(ctx context.Context, conn net.Conn, d Destination) (net.Conn, Reason) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	secured := tls.Client(conn, &tls.Config{
		ServerName: d.Host, RootCAs: p.roots, NextProtos: []string{"http/1.1"},
	})
	err := secured.HandshakeContext(ctx)
	if err == nil {
		return secured, 0
	}
	_ = conn.Close() // nothing but the hello was sent
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return nil, NotTrusted
	}
	return nil, Unreachable
}

// A replay is a connection of which some bytes were read.
type replay struct {
	net.Conn

	from io.Reader
}

// Read begins with the bytes that were read.
func (r replay) Read(b []byte) (int, error) { return r.from.Read(b) }

// unseal ends TLS of the client, and serves its requests.
func (p *Proxy) unseal(c *client, l *link) {
	hello := l.greet(c)
	if hello == nil {
		return
	}
	leaf, err := p.authority.leaf(l.to.Host)
	if err != nil {
		l.cut(BadHello)
		return
	}
	inner := tls.Server(replay{&c.side, io.MultiReader(bytes.NewReader(hello), c.in)}, &tls.Config{
		Certificates: []tls.Certificate{*leaf}, NextProtos: []string{"http/1.1"},
	})
	p.serveRequests(newClient(inner, times{c.hello, c.idle}), l)
	_ = inner.Close() // it only says goodbye
}

// mayFetch reports whether a request only fetches: it sends nothing but its head.
func (h *head) mayFetch() bool {
	return (h.method == http.MethodGet || h.method == http.MethodHead) && h.length == 0 && !h.chunked
}
