package policy

import (
	"net/netip"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// If programs read a URL as different hosts, no rule for one of them covers it, whichever tool
// fetches it.
func TestURLsThatAreReadInSeveralWays(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow WebFetch(domain:good.com)", "allow Bash(curl:*)")
	for url, want := range map[string]umpire.Verdict{
		"https://good.com/a?b=c\\d#e f": umpire.Allow,
		"http://good.com.:80/":          umpire.Allow,
		`http://good.com\@evil.com/`:    umpire.Ask,
		`http://evil.com\@good.com/`:    umpire.Ask,
		"http://good.com @evil.com/":    umpire.Ask,
		"http:good.com":                 umpire.Ask,
		"http:/good.com":                umpire.Ask,
		"https:///good.com":             umpire.Ask,
		"http://good.com/\t":            umpire.Ask,
		"http://go\u00adod.com/":        umpire.Ask,
		"http://ｇood.com/":              umpire.Ask,
		"http://g%6fod.com/":            umpire.Ask,
	} {
		a := network(url)
		a.Risk = umpire.Medium
		for _, tool := range []string{"WebFetch", "Bash"} {
			if d := Decide(p, query(tool, a)); d.Verdict != want {
				t.Errorf("%s %q: %s, want %s: %s", tool, url, d.Verdict, want, d.Reason)
			}
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "127.0.0.1": false, "10.1.2.3": false, "100.64.0.1": false, "0.0.0.0": false,
		"::1": false, "fe80::1%eth0": false, "fd00::1": false, "::ffff:8.8.8.8": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::7f00:1": false,
	} {
		if got := sensitive.PublicAddress(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
		if PrivateHost(text) == want {
			t.Errorf("%s as a host: private %t", text, !want)
		}
	}
}
