package egress

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The ports of the web, which an entry without a port stands for.
const (
	portHTTP  = 80
	portHTTPS = 443
)

// Limits of DNS.
const (
	maxNameBytes  = 253
	maxLabelBytes = 63
)

// A Destination is a host and port as a command asked for them. Host is a name in lower case without a final dot, or
// the text of an address without brackets. The zero value names nothing.
type Destination struct {
	Host string
	Port uint16
}

// String returns "host:port", with an IPv6 address in brackets.
func (d Destination) String() string {
	return net.JoinHostPort(d.Host, strconv.Itoa(int(d.Port)))
}

// short is the text for people: the port is left out if it goes without saying.
func (d Destination) short() string {
	if d.web() {
		return d.Host
	}
	return d.String()
}

// web reports whether the port carries TLS and HTTP only.
func (d Destination) web() bool { return d.Port == portHTTP || d.Port == portHTTPS }

// address returns the address that the host is, if it is one.
func (d Destination) address() (netip.Addr, bool) {
	addr, err := netip.ParseAddr(d.Host)
	return addr, err == nil
}

// normalHost returns a host in the form of [Destination], or false. Programs disagree about names with other
// characters and about addresses like 127.1 or 0x7f000001, so these are refused.
func normalHost(text string) (string, bool) {
	if strings.Contains(text, ":") {
		addr, err := netip.ParseAddr(text)
		return addr.Unmap().String(), err == nil && addr.Zone() == ""
	}
	host := strings.ToLower(strings.TrimSuffix(text, "."))
	if len(host) > maxNameBytes {
		return "", false
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if !goodLabel(label) {
			return "", false
		}
		last = label
	}
	if '0' <= last[0] && last[0] <= '9' { // as in the URL standard, a last label of this kind makes it an IPv4 address
		addr, err := netip.ParseAddr(host)
		return addr.String(), err == nil
	}
	return host, true
}

// goodLabel reports whether a label consists of lower-case letters, digits, hyphens and underscores.
func goodLabel(label string) bool {
	if label == "" || len(label) > maxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// normalPort returns a port in decimal without a sign or leading zeros.
func normalPort(text string) (uint16, bool) {
	port, err := strconv.ParseUint(text, 10, 16)
	return uint16(port), err == nil && port > 0 && text[0] != '0'
}

// parseAuthority returns the destination of "host:port", "[address]:port", or without a port if there is a standard
// one.
func parseAuthority(text string, standard uint16) (Destination, bool) {
	host, port := text, ""
	if inside, found := strings.CutPrefix(text, "["); found {
		host, port, found = strings.Cut(inside, "]")
		if !found || !strings.Contains(host, ":") {
			return Destination{}, false
		}
	} else if at := strings.IndexByte(text, ':'); at >= 0 {
		host, port = text[:at], text[at:]
	}
	host, good := normalHost(host)
	if !good {
		return Destination{}, false
	}
	if port == "" {
		return Destination{host, standard}, standard != 0
	}
	number, good := normalPort(strings.TrimPrefix(port, ":"))
	return Destination{host, number}, good && port[0] == ':'
}

// Names below a wildcard reach the name servers of its owner, or of a stranger with a name there. A name beyond
// these bounds may carry data.
const (
	maxBelowBytes     = 48 // all labels that the wildcard stands for
	maxBelowLabels    = 4
	maxPlainLabel     = 15 // a shorter label is never called random
	maxReadableLabel  = 32
	maxDigitSwitches  = 3 // changes between letters and digits in a label
	maxConsonantsRuns = 5 // consonants in a row
)

// looksRandom reports whether the labels that a wildcard stands for may carry data.
func looksRandom(below string) bool {
	if len(below) > maxBelowBytes || strings.Count(below, ".")+1 > maxBelowLabels {
		return true
	}
	for label := range strings.SplitSeq(below, ".") {
		if len(label) > maxReadableLabel || len(label) > maxPlainLabel && unreadable(label) {
			return true
		}
	}
	return false
}

// unreadable reports whether a label mixes letters and digits or strings consonants together as encodings do.
func unreadable(label string) bool {
	switches, run, digit := 0, 0, false
	for i, c := range []byte(label) {
		isDigit := '0' <= c && c <= '9'
		if i > 0 && isDigit != digit && c != '-' {
			switches++
		}
		digit = isDigit
		if isDigit || strings.IndexByte("aeiouy-_", c) >= 0 {
			run = 0
			continue
		}
		if run++; run > maxConsonantsRuns {
			return true
		}
	}
	return switches > maxDigitSwitches
}
