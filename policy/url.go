package policy

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/umpirehq/umpire"
)

// urlProblem explains why fetching a URL is more than looking at a public page, or returns "".
func urlProblem(text string) umpire.Phrase {
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
	case MetadataHost(host):
		return metadataText
	case PrivateHost(host):
		return privateText
	}
	return ""
}

// Messages about hosts that are not on the public web.
const (
	metadataText = "the host hands out what logs this machine in to its cloud"
	privateText  = "the host is this machine or a private network"
)

// metadataHosts answer, from within a cloud, with its credentials. Some of the addresses look
// like any other.
var metadataHosts = []string{
	"169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
	"168.63.129.16", "192.0.0.192",
	"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal",
}

// MetadataHost reports whether a host, in lower case, hands out a cloud's credentials.
func MetadataHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.Unmap().WithZone("").String()
	}
	return slices.Contains(metadataHosts, host)
}

// urlDoubt explains why programs may disagree about the host of a URL, or returns "" if all
// read it alike.
func urlDoubt(text string) umpire.Phrase {
	scheme, rest, ok := strings.Cut(text, ":")
	if lower := strings.ToLower(scheme); !ok || lower != "http" && lower != "https" {
		return ""
	}
	end := strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	host := hostName(text)
	switch {
	case strings.ContainsAny(rest[:end], "\\ ") || strings.ContainsFunc(text, unicode.IsControl):
		return "programs disagree about what a backslash, a blank or a control character means in a URL"
	case !strings.HasPrefix(rest, "//") || host == "":
		return "programs disagree about the host of a URL that does not begin with http://HOST"
	case strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII || r == '%' }):
		return "the host is not written in ASCII, so that it may stand for another"
	}
	return ""
}

// hostProblem is urlProblem for a command's target: a URL, HOST:PORT, USER@HOST, @HOST for dig,
// or TCP:HOST:PORT for socat. It accepts a single word, which may be the name of a remote.
func hostProblem(target string) umpire.Phrase {
	host := hostName(target)
	if parts := strings.Split(host, ":"); len(parts) == 3 && strings.HasPrefix(parts[0], "tcp") {
		host = parts[1]
	}
	switch {
	case host == "" || strings.ContainsAny(host, "…\x00"):
		return ""
	case MetadataHost(host) && (strings.ContainsAny(host, ".:") || strings.Contains(target, "://")):
		return metadataText
	case !strings.ContainsAny(host, ".:") && host != "localhost" && !strings.Contains(target, "://") &&
		!isNumeric(host):
		return ""
	case PrivateHost(host):
		return privateText
	}
	return ""
}

// isNumeric reports whether a host is an address written as one number.
func isNumeric(host string) bool {
	return strings.HasPrefix(host, "0x") || strings.Trim(host, "0123456789") == ""
}

// privateNames are the suffixes of host names that are never on the public web.
var privateNames = []string{
	"localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa", ".corp", ".intranet",
}

// PrivateHost reports whether a host, as written in a URL, is this machine or on a private
// network: fetching from it asks. It cannot recognize a name that only resolves to such an
// address. A host whose last label is a number is an unusual spelling of an address.
func PrivateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return !PublicAddress(addr)
	}
	isEnd := func(end string) bool { return host == end || end[0] == '.' && strings.HasSuffix(host, end) }
	if slices.ContainsFunc(privateNames, isEnd) || leadsInside(host) {
		return true
	}
	last := lastLabel(host)
	return !strings.Contains(host, ".") || strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
}

// wildcardNames are public zones in which names resolve to the addresses that they spell, or to
// this machine.
var wildcardNames = []string{
	"nip.io", "sslip.io", "xip.io", "traefik.me", "local.gd", "backname.io", "1u.ms", "rbndr.us", "localtest.me",
	"lvh.me", "vcap.me",
	"lacolhost.com", "fuf.me", "localho.st", "localhost.direct", "smackaho.st", "yoogle.com",
}

// leadsInside reports whether a name spells an address that is not on the public web, in labels
// or with dashes, or lies in one of wildcardNames.
func leadsInside(host string) bool {
	for _, zone := range wildcardNames {
		if host == zone || strings.HasSuffix(host, "."+zone) {
			return true
		}
	}
	parts := strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' })
	for i := 0; i+4 <= len(parts); i++ {
		addr, err := netip.ParseAddr(strings.Join(parts[i:i+4], "."))
		if err == nil && !PublicAddress(addr) {
			return true
		}
	}
	return false
}

func lastLabel(host string) string { return host[strings.LastIndexByte(host, '.')+1:] }

// PublicAddress reports whether an address is on the public web: globally reachable, and
// without an embedded IPv4 address.
func PublicAddress(addr netip.Addr) bool {
	addr = addr.WithZone("")
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && (addr.Is4() || addr.As16()[0]>>5 == 1) && // in 2000::/3
		!slices.ContainsFunc(specialBlocks(), func(p netip.Prefix) bool { return p.Contains(addr) })
}

// specialBlocks are the address blocks that are not globally reachable or that embed an IPv4
// address, according to the IANA registries (RFC 6890). Some clouds have their metadata service
// in 100.64.0.0/10.
var specialBlocks = sync.OnceValue(func() []netip.Prefix {
	return parsePrefixes(
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	)
})

func parsePrefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
