package egress

import (
	"net"
	"net/netip"
	"slices"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// nat64 leads to the IPv4 address in its last four bytes. Resolvers of networks without IPv4 answer with it.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

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
	case sensitive.MetadataHost(addr.String()):
		return MetadataAddress
	case !addr.IsValid(), slices.ContainsFunc(local, contains), !sensitive.PublicAddress(addr):
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
