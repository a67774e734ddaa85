package policy

import (
	"net/netip"
	"net/url"
	"strings"
)

// urlProblem says why fetching a URL is more than looking at a public page, or
// "" when it is not.
func urlProblem(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL cannot be read"
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "not a web address"
	case u.User != nil:
		return "the URL holds a user name or password"
	case host == "":
		return "the URL names no host"
	case privateHost(host):
		return "the host is this machine or a private network"
	case secretQuery(u):
		return "the URL seems to hold a secret"
	}
	return ""
}

// privateNames are the ends of host names that never lead to the public web.
var privateNames = []string{"localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa", ".corp", ".intranet"}

// privateHost reports whether a host is on this machine or a private network. A
// host whose last label is a number is an address in one of its odd spellings.
func privateHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is4In6() || sharedSpace(addr)
	}
	for _, end := range privateNames {
		if host == end || strings.HasPrefix(end, ".") && strings.HasSuffix(host, end) {
			return true
		}
	}
	last := lastLabel(host)
	return !strings.Contains(host, ".") || strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
}

func lastLabel(host string) string { return host[strings.LastIndexByte(host, '.')+1:] }

// sharedSpace reports 100.64.0.0/10 (RFC 6598), where some clouds keep their
// metadata service.
func sharedSpace(addr netip.Addr) bool {
	return netip.MustParsePrefix("100.64.0.0/10").Contains(addr)
}

// secretNames are names of query parameters that carry secrets.
var secretNames = []string{"token", "secret", "password", "passwd", "api_key", "apikey", "access_key", "private_key", "auth"}

func secretQuery(u *url.URL) bool {
	for name := range u.Query() {
		lower := strings.ToLower(name)
		for _, secret := range secretNames {
			if strings.Contains(lower, secret) {
				return true
			}
		}
	}
	return false
}
