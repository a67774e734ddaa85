package egress

import (
	"net"
	"net/netip"
	"slices"
)

// special4 are the IPv4 addresses that are not on the internet, or mean something else there: IANA's registry of
// special-purpose addresses, multicast, and the reserved rest.
var special4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")

// Of IPv6 only global unicast is on the internet, without special6: protocols including Teredo, documentation, and
// 6to4, which lead to IPv4 addresses that nothing here judges.
var (
	global6  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

// nat64 leads to the IPv4 address in its last four bytes. Resolvers of networks without IPv4 answer with it.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// metadata are the addresses at which clouds hand out credentials of the machine. A listed prefix does not cover them.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"),
	netip.MustParseAddr("169.254.170.2"),   // tasks of Amazon ECS
	netip.MustParseAddr("169.254.170.23"),  // pods of Amazon EKS
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("fd20:ce::254"),
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// embedded returns the address that packets to an address reach in the end, as far as its form tells.
func embedded(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		last := addr.As16()
		return netip.AddrFrom4([4]byte(last[12:]))
	}
	return addr
}

// checkAddress returns why an address may not be reached if it is not listed itself, or 0. The local prefixes are
// those of this machine and its neighbours.
func checkAddress(addr netip.Addr, local []netip.Prefix) Reason {
	contains := func(prefix netip.Prefix) bool { return prefix.Contains(addr) }
	if addr.Zone() != "" {
		return PrivateAddress
	}
	addr = embedded(addr)
	switch {
	case slices.Contains(metadata, addr):
		return MetadataAddress
	case !addr.IsValid(), slices.ContainsFunc(local, contains):
		return PrivateAddress
	case addr.Is4() && slices.ContainsFunc(special4, contains):
		return PrivateAddress
	case addr.Is6() && (!global6.Contains(addr) || slices.ContainsFunc(special6, contains)):
		return PrivateAddress
	}
	return 0
}

// The shortest prefix of an interface whose other addresses count as neighbours. A shorter one belongs to a tunnel that
// carries everything.
const (
	minNeighbours4 = 16
	minNeighbours6 = 48
)

// localPrefixes returns the addresses of this machine and its neighbours. Public ones are among them: a service that
// a firewall keeps from strangers may still answer this machine.
func localPrefixes() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var local []netip.Prefix
	for _, addr := range addrs {
		prefix, err := netip.ParsePrefix(addr.String())
		if err != nil {
			continue // an interface without an address of IP
		}
		ip := prefix.Addr().Unmap()
		local = append(local, netip.PrefixFrom(ip, ip.BitLen()))
		if ip.Is4() && prefix.Bits() >= minNeighbours4 || ip.Is6() && prefix.Bits() >= minNeighbours6 {
			local = append(local, prefix.Masked())
		}
	}
	return local, nil
}
