package console

import (
	"net/http"

	"github.com/umpirehq/umpire"
)

// A Proxy is what stands in front of the console's address for other machines, and knows who its users are.
type Proxy struct {
	// UserHeader is the header with the name of the person. The proxy replaces what a browser sends in it.
	UserHeader string
	// Secret is in the header [ProxyHeader] of each request that the proxy passes on: without it, any process on
	// this machine could say that it is anybody.
	Secret string
}

// ProxyHeader is the header in which a proxy proves itself.
const ProxyHeader = "Umpire-Proxy"

var errProxy = umpire.Errorf("this address is answered through the proxy of console.user_header only: it sends "+
	"the secret in the header %s, and one name", ProxyHeader)

// identify returns the name of the person whose request it is, "" if the proxy gives none. What did not come
// through the proxy is an error. Without a proxy nobody has a name.
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
