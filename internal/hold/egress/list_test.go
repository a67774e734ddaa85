package egress

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

func TestList(t *testing.T) {
	t.Parallel()
	list, err := ParseList([]string{
		"Example.COM", "*.wild.example", "db.example:5432", "*.deep.example:8443", "192.0.2.7", "10.0.0.0/8:5432",
		"[2001:db8::1]:22", "2001:db8:1::/48", "fd00:ec2::254", "npm", "debian",
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"example.com:443": "Example.COM", "example.com:80": "Example.COM", "example.com:22": "", "a.example.com:443": "",
		"notexample.com:443": "", "example.com.evil:443": "", "com:443": "",
		"a.wild.example:443": "*.wild.example", "a.b.wild.example:80": "*.wild.example", "wild.example:443": "",
		"awild.example:443": "", "db.example:5432": "db.example:5432", "db.example:443": "",
		"x.deep.example:8443": "*.deep.example:8443", "x.deep.example:443": "",
		"192.0.2.7:443": "192.0.2.7", "192.0.2.8:443": "", "192.0.2.7:22": "",
		"10.255.0.1:5432": "10.0.0.0/8:5432", "10.255.0.1:443": "", "11.0.0.1:5432": "",
		"[2001:db8::1]:22": "[2001:db8::1]:22", "[2001:db8::1]:443": "", "[2001:db8:1:2::3]:443": "2001:db8:1::/48",
		"[::ffff:10.1.2.3]:5432": "10.0.0.0/8:5432", "[::10.1.2.3]:5432": "", "[fd00:ec2::254]:80": "fd00:ec2::254",
		"registry.npmjs.org:443": "npm", "registry.npmjs.org:80": "", "evil.registry.npmjs.org:443": "",
		"deb.debian.org:80": "debian", "deb.debian.org:22": "",
	} {
		d, good := parseAuthority(text, 0)
		if !good {
			t.Errorf("%s is no destination", text)
			continue
		}
		entry, found := list.Finds(d)
		if entry.Text != want || found != (want != "") {
			t.Errorf("%s is covered by %q, want %q", text, entry.Text, want)
		}
	}
	if _, found := (List{}).Finds(example); found {
		t.Error("the empty list covers something")
	}
	if entry, found := list.Finds(Destination{}); found {
		t.Errorf("no destination is covered by %q", entry.Text)
	}
}

func TestListErrors(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"": "as a host name", "*": "as a host name", "*.": "as a host name", "*.com": "top-level domain",
		"a.*.com": "as a host name", "*example.com": "as a host name", "nosuch": "the groups are npm",
		"localhost": "the groups are npm", "localhost:80": "the groups are npm", "*.192.0.2.7": "as a host name",
		"https://example.com/x": `the host alone: "example.com"`, "example.com/": "as a range",
		"example.com:": "as a host name", "example.com:0": "usable port", "example.com:65536": "usable port",
		"example.com:080": "usable port", "example.com:+80": "usable port", "example.com:https": "usable port",
		"10.0.0.0/0": "covers too many", "10.1.0.0/8": `write "10.0.0.0/8"`, "::/0": "covers too many",
		"::ffff:10.0.0.0/104": "as a range", "10.0.0.0/33": "as a range", "127.1": "as a host name",
		"0x7f.0.0.1": "as a host name", "2130706433": "as a host name", "bücher.example": "xn-- form",
		"a b.example": "as a host name", "-a.example": "as a host name", "fe80::1%eth0": "as a host name",
		"[::1]80": "as a host name", "[::1]:": "as a host name", "a..example": "as a host name",
		strings.Repeat("a", 64) + ".example": "as a host name",
	} {
		list, err := ParseList([]string{"example.com", text})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
		if _, found := list.Finds(example); found {
			t.Errorf("%q: the list is not empty", text)
		}
	}
}

// TestAuthority: names that programs read in different ways are no destinations.
func TestAuthority(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Destination{
		"Example.COM:443": example, "example.com.:443": example, "example.com": {"example.com", 80},
		"[::FFFF:127.0.0.1]:80": {"127.0.0.1", 80}, "[0:0::1]": {"::1", 80}, "127.0.0.1.:1": {"127.0.0.1", 1},
		"a_b.example": {"a_b.example", 80},
		"":            {}, ":80": {}, "example.com:": {}, "example.com:0": {}, "example.com:00080": {}, "example.com..": {},
		"127.1": {}, "0177.0.0.1": {}, "127.0.0.01": {}, "0x7f000001": {}, "2130706433": {}, "1.2.3.4.5": {}, "a.1": {},
		"user@example.com": {}, "example.com:80:80": {}, "::1": {}, "[::1%lo]": {}, "[example.com]": {}, "[::1": {},
		"exam%70le.com": {}, "example.com/x": {}, "ex\x00ample.com": {}, "exämple.com": {}, "example。com": {},
		"a b": {}, "*.example.com": {}, "example.com:-80": {}, "example.com: 80": {},
	} {
		got, good := parseAuthority(text, 80)
		if good != (want != Destination{}) || good && got != want {
			t.Errorf("%q is %v %v, want %v", text, got, good, want)
		}
	}
}

func TestRandomNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"www": false, "my-bucket.s3.us-east-1": false, "d111111abcdef8": false, "pipelinesghubeus2.actions": false,
		"productionresultssa12": false, "a.b.c.d": false, "documentation-archive": false,
		"mzxw6ytboi4dkmrtgq3tqojq":                         true, // base32
		"7b22746f6b656e223a2273656372657422":               true, // hex
		"3q2d8k1m9x7v5b4n.t":                               true,
		"cm9vdDp4OjA6MDpyb290Oi9yb290Oi9iaW4vYmFz":         true,
		"xkqzjwvbtrplmnsd":                                 true,
		"a.b.c.d.e":                                        true,
		strings.Repeat("word-", 8) + "x":                   true,
		"one-word.and-another.and-a-third.and-four-more.x": true,
	} {
		if looksRandom(name) != want {
			t.Errorf("%s looks random: %v", name, !want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	local := prefixes("93.184.216.0/24", "2600:1234:5678:9::/64")
	for text, want := range map[string]Reason{
		"1.1.1.1": 0, "93.184.215.14": 0, "172.32.0.1": 0, "100.128.0.1": 0, "2606:4700::1111": 0, "::ffff:1.1.1.1": 0,
		"64:ff9b::1.1.1.1": 0, "2600:1234:5678:a::1": 0,
		"0.0.0.0": PrivateAddress, "0.1.2.3": PrivateAddress, "10.0.0.1": PrivateAddress, "127.0.0.1": PrivateAddress,
		"127.255.0.9": PrivateAddress, "100.64.0.1": PrivateAddress, "169.254.1.1": PrivateAddress,
		"172.16.0.1": PrivateAddress, "172.31.255.255": PrivateAddress, "192.168.1.1": PrivateAddress,
		"192.0.0.1": PrivateAddress, "192.0.2.1": PrivateAddress, "198.18.0.1": PrivateAddress,
		"198.19.255.1": PrivateAddress, "203.0.113.9": PrivateAddress, "224.0.0.1": PrivateAddress,
		"239.1.1.1": PrivateAddress, "240.0.0.1": PrivateAddress, "255.255.255.255": PrivateAddress,
		"192.88.99.1": PrivateAddress, "::": PrivateAddress, "::1": PrivateAddress, "fe80::1": PrivateAddress,
		"fe80::1%eth0": PrivateAddress, "fc00::1": PrivateAddress, "fd12::1": PrivateAddress, "ff02::1": PrivateAddress,
		"fec0::1": PrivateAddress, "::ffff:127.0.0.1": PrivateAddress, "::ffff:10.0.0.1": PrivateAddress,
		"::127.0.0.1": PrivateAddress, "::ffff:0:127.0.0.1": PrivateAddress, "64:ff9b::10.0.0.1": PrivateAddress,
		"64:ff9b::127.0.0.1": PrivateAddress, "64:ff9b:1::1.1.1.1": PrivateAddress, "2002:7f00:1::": PrivateAddress,
		"2002:101:101::": PrivateAddress, "2001:0:53aa:64c::1": PrivateAddress, "2001:db8::1": PrivateAddress,
		"3fff::1": PrivateAddress, "5f00::1": PrivateAddress, "100::1": PrivateAddress, "4000::1": PrivateAddress,
		"93.184.216.34": PrivateAddress, "::ffff:93.184.216.34": PrivateAddress, "2600:1234:5678:9::1": PrivateAddress,
		"64:ff9b::93.184.216.34": PrivateAddress,
		"169.254.169.254":        MetadataAddress, "fd00:ec2::254": MetadataAddress, "100.100.100.200": MetadataAddress,
		"168.63.129.16": MetadataAddress, "::ffff:169.254.169.254": MetadataAddress,
		"64:ff9b::169.254.169.254": MetadataAddress, "169.254.170.2": MetadataAddress,
	} {
		if got := checkAddress(netip.MustParseAddr(text), local); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	if got := checkAddress(netip.Addr{}, nil); got != PrivateAddress {
		t.Errorf("the zero address is %d", got)
	}
	if local, err := localPrefixes(); err != nil || len(local) == 0 {
		t.Errorf("this machine has %v: %v", local, err)
	}
}

// TestGroups: the table holds full names that no stranger can rent, with quotas and reasons.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, group := range groups {
		if group.Quota <= 0 || group.Why == "" || len(group.Hosts) == 0 || len(group.Ports) == 0 ||
			strings.ContainsAny(group.Name, ".:/*") {
			t.Errorf("%+v is incomplete", group)
		}
		list, err := ParseList([]string{group.Name})
		if err != nil {
			t.Error(err)
		}
		for _, host := range group.Hosts {
			if name, good := normalHost(host); !good || name != host || !strings.Contains(host, ".") {
				t.Errorf("%s: %s", group.Name, host)
			}
			for _, port := range group.Ports {
				entry, found := list.Finds(Destination{host, port})
				if !found || entry.Group != group.Name || entry.Quota != group.Quota {
					t.Errorf("%s:%d is covered by %+v", host, port, entry)
				}
			}
		}
	}
}

// TestReasons: each reason has a sentence, and no sentence repeats another.
func TestReasons(t *testing.T) {
	t.Parallel()
	said := map[umpire.Phrase]Reason{"": 0}
	for r := NotListed; r <= MisplacedSecret; r++ {
		phrase := r.Say(Destination{"telemetry.example", 443})
		if other, twice := said[phrase]; twice {
			t.Errorf("%d says the same as %d: %q", r, other, phrase)
		}
		if said[phrase] = r; strings.HasSuffix(phrase.String(), ".") || r.status() < 400 {
			t.Errorf("%d: %d %s", r, r.status(), phrase)
		}
	}
	if got := NotListed.Say(Destination{"telemetry.example", 443}).String(); got !=
		"telemetry.example isn't one of the destinations you listed" {
		t.Error(got)
	}
	if Reason(0).Say(example) != "" || (MisplacedSecret+1).Say(example) != "" {
		t.Error("no reason says something")
	}
}
