package egress

import (
	"net/url"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// NamedBy returns the destinations that a command line names, as [Way] approves them: the hosts of its URLs, and those
// of the groups whose programs it runs. It returns none if a program of the line may reach others, or if one is on
// this machine, because a way out leads to neither. The accesses are those of policy.FactsOf, and goesOnline is
// policy.GoesOnline.
func NamedBy(accesses []umpire.Access, goesOnline func(*umpire.Access) bool) (named []string) {
	var targets []string
	for i := range accesses {
		if a := &accesses[i]; a.Kind == umpire.KindNetwork {
			d, remote := destinationIn(a.Target)
			if !remote {
				return nil
			}
			targets, named = append(targets, a.Target), append(named, d.String())
		}
	}
	for i := range accesses {
		a := &accesses[i]
		if a.Kind != umpire.KindExec || !a.Online && !goesOnline(a) {
			continue
		}
		hosts := hostsOf(a.Program)
		isNamed := func(arg string) bool { return slices.Contains(targets, arg) }
		if hosts == nil && !slices.ContainsFunc(a.Args, isNamed) {
			return nil
		}
		named = append(named, hosts...)
	}
	return named
}

// hostsOf returns the hosts from which a program fetches, as far as a group lists it.
func hostsOf(program string) (hosts []string) {
	for i := range groups {
		if slices.Contains(groups[i].Programs, program) {
			hosts = append(hosts, groups[i].Hosts...)
		}
	}
	return hosts
}

// destinationIn returns the destination of a URL of the web, unless it is on this machine or a host without a domain.
func destinationIn(address string) (Destination, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return Destination{}, false
	}
	port := u.Port()
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return Destination{}, false
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	host, normal := normalHost(u.Hostname())
	number, fits := normalPort(port)
	d := Destination{host, number}
	addr, is := d.address()
	here := host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		is && (addr.IsLoopback() || addr.IsUnspecified())
	return d, normal && fits && !here && (is || strings.Contains(host, "."))
}
