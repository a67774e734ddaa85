package egress

import (
	"net/netip"
	"strings"

	"github.com/umpirehq/umpire"
)

// The shortest prefixes that may be listed: a shorter one lists much of the internet.
const (
	minPrefix4 = 8
	minPrefix6 = 16
)

// DefaultQuota is the number of bytes that a command may send to an entry other than a group. It covers the requests
// of a large download, but no copy of a working tree.
const DefaultQuota = 4 << 20

// An Entry is one line of a person's list. The zero value covers nothing.
type Entry struct {
	Text   string // as the person wrote it
	Group  string // the name of the group, or "" for any other entry
	Unread bool   // of the group
	Quota  int64  // bytes that may be sent to all destinations of the entry together

	host   string       // a name; with below set, the names below it
	below  bool         //
	prefix netip.Prefix // addresses, for an entry without a name
	port   uint16       // 0 stands for both ports of the web
	run    bool         // approved for this run, and not listed
	leased bool         // for the requests of a lease alone
}

// A List is the set of destinations that a person listed. The zero value is empty. It is safe for concurrent use.
type List struct{ entries []Entry }

// ParseList reads entries: a host name, "*.example.com" for all names below one, an address, a prefix like 10.0.0.0/8,
// each with or without ":port", or the name of a group. Without a port an entry covers 80 and 443. An error names the
// entry and says what to do; the list is then empty.
func ParseList(entries []string) (List, error) {
	var list List
	for _, text := range entries {
		if group, found := findGroup(text); found {
			list.entries = append(list.entries, group.entries()...)
			continue
		}
		entry, err := parseEntry(text)
		if err != nil {
			return List{}, err
		}
		list.entries = append(list.entries, entry)
	}
	return list, nil
}

func parseEntry(text string) (Entry, error) {
	entry := Entry{Text: text, Quota: DefaultQuota}
	if _, after, is := strings.Cut(text, "://"); is {
		host, _, _ := strings.Cut(after, "/")
		return Entry{}, umpire.Errorf("%q is a whole address; write the host alone: %q", text, host)
	}
	host, port, good := splitEntry(text)
	if port != "" {
		number, fits := normalPort(port)
		if entry.port = number; !fits {
			return Entry{}, umpire.Errorf("%q has no usable port; write a number from 1 to 65535 after the colon", text)
		}
	}
	if strings.Contains(host, "/") {
		var err error
		entry.prefix, err = parsePrefix(text, host)
		return entry, err
	}
	suffix, below := strings.CutPrefix(host, "*.")
	name, normal := normalHost(suffix)
	addr, err := netip.ParseAddr(name)
	switch {
	case !good || !normal || below && err == nil:
		return Entry{}, umpire.Errorf("%q cannot be read as a host name or address; write one like %q, %q or %q, "+
			"and a name with other letters in its xn-- form", text, "example.com", "*.example.com", "192.0.2.7:5432")
	case err == nil:
		entry.prefix = netip.PrefixFrom(addr, addr.BitLen())
	case !strings.Contains(name, ".") && below:
		return Entry{}, umpire.Errorf("%q covers a whole top-level domain; list the names that you mean", text)
	case !strings.Contains(name, "."):
		return Entry{}, umpire.Errorf("%q is neither a group nor a full host name; the groups are %s",
			text, strings.Join(GroupNames(), ", "))
	default:
		entry.host, entry.below = name, below
	}
	return entry, nil
}

// splitEntry separates the port of an entry. An IPv6 address with a port stands in brackets.
func splitEntry(text string) (host, port string, good bool) {
	if inside, found := strings.CutPrefix(text, "["); found {
		host, port, found = strings.Cut(inside, "]")
		return host, strings.TrimPrefix(port, ":"), found && (port == "" || len(port) > 1 && port[0] == ':')
	}
	host, port, found := strings.Cut(text, ":")
	if strings.Contains(port, ":") {
		return text, "", true
	}
	return host, port, !found || port != ""
}

func parsePrefix(text, host string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(host)
	addr := prefix.Addr()
	switch {
	case err != nil || addr.Is4In6():
		return netip.Prefix{}, umpire.Errorf("%q cannot be read as a range of addresses; write one like %q",
			text, "10.0.0.0/8")
	case addr.Is4() && prefix.Bits() < minPrefix4 || addr.Is6() && prefix.Bits() < minPrefix6:
		return netip.Prefix{}, umpire.Errorf("%q covers too many addresses; use at least /%d for IPv4 and /%d for IPv6",
			text, minPrefix4, minPrefix6)
	case prefix != prefix.Masked():
		return netip.Prefix{}, umpire.Errorf("%q has bits after its prefix; write %q", text, prefix.Masked().String())
	}
	return prefix, nil
}

// Finds returns the first entry that covers a destination. It does not judge the address that a name has.
func (l List) Finds(d Destination) (Entry, bool) {
	for _, entry := range l.entries {
		if entry.coversPort(d) && entry.coversHost(d) {
			return entry, true
		}
	}
	return Entry{}, false
}

// findsHost reports whether an entry covers the host with some port.
func (l List) findsHost(d Destination) bool {
	for _, entry := range l.entries {
		if entry.coversHost(d) {
			return true
		}
	}
	return false
}

// findsAddress reports whether an entry covers an address itself; if alone is set, it has to be listed, and not among
// others of a prefix.
func (l List) findsAddress(addr netip.AddrPort, alone bool) bool {
	d := Destination{addr.Addr().String(), addr.Port()}
	for _, entry := range l.entries {
		if entry.coversPort(d) && entry.coversHost(d) && (!alone || entry.prefix.IsSingleIP() && !entry.run) {
			return true
		}
	}
	return false
}

func (e Entry) coversPort(d Destination) bool {
	return d.Port != 0 && (d.Port == e.port || e.port == 0 && d.web())
}

func (e Entry) coversHost(d Destination) bool {
	if addr, is := d.address(); is {
		return e.prefix.IsValid() && e.prefix.Contains(addr)
	}
	return e.host != "" && (e.below && strings.HasSuffix(d.Host, "."+e.host) || !e.below && d.Host == e.host)
}

// wild returns the labels of a destination that the wildcard of the entry stands for, or "".
func (e Entry) wild(d Destination) string {
	if !e.below {
		return ""
	}
	return strings.TrimSuffix(d.Host, "."+e.host)
}
