package console

import (
	"net/http"

	"github.com/umpirehq/umpire"
)

// A Proxy stands in front of the console's address for other machines, and authenticates its users.
type Proxy struct {
	// UserHeader is the header with the person's name. The proxy overwrites any value from a browser.
	UserHeader string
	// Secret is in the header [ProxyHeader] of each request that the proxy passes on: without it,
	// any process on this machine could claim to be anybody.
	Secret string
}

// ProxyHeader is the header with the proxy's secret.
const ProxyHeader = "Umpire-Proxy"

var errProxy = umpire.Errorf("only the proxy of console.user_header can use this address: it must send the secret "+
	"in the header %s, and one name", ProxyHeader)

// identify returns the name of the person who made the request, or "" if the proxy gives no name. A
// request that bypassed the proxy is an error. Without a proxy, the name is always "".
func (p *Proxy) identify(h http.Header) (name string, err error) {
	if p == nil {
		return "", nil
	}
	secret, names := h.Values(ProxyHeader), h.Values(p.UserHeader)
	if len(secret) != 1 || !sameText(secret[0], p.Secret) || len(names) > 1 {
		return "", errProxy
	}
	if name = h.Get(p.UserHeader); name == "" {
		return "", nil
	}
	return name, CheckName(name)
}
