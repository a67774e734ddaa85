package sensitive

import (
	"net/netip"
	"slices"
	"sync"
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
