package policy

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
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
	case sensitive.MetadataHost(host):
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
	case sensitive.MetadataHost(host) && (strings.ContainsAny(host, ".:") || strings.Contains(target, "://")):
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
		return !sensitive.PublicAddress(addr)
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
		if err == nil && !sensitive.PublicAddress(addr) {
			return true
		}
	}
	return false
}

func lastLabel(host string) string { return host[strings.LastIndexByte(host, '.')+1:] }
