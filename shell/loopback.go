package shell

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/umpirehq/umpire"
)

// IsLoopback reports whether a URL, HOST:PORT or HOST certainly leads to a server on this machine, by a name or an
// address that every program reads alike. A URL with a user name or with another scheme than HTTP's does not count.
func IsLoopback(target string) bool {
	if !strings.Contains(target, "://") {
		target = "http://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" ||
		strings.ContainsAny(target, "\\ \x00…") {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.Zone() == "" && addr.IsLoopback()
}

// look records a request to target that sends nothing. It is safe if a server on this machine answers it.
func look(u *use, target word, why umpire.Phrase) {
	risk := umpire.Medium
	if !target.open && IsLoopback(target.text) {
		risk = umpire.Safe
	}
	u.visit(target, risk, why)
}

// checkNetcat judges a connection. With -z, nc only checks whether a port is open.
func checkNetcat(u *use) {
	if !u.gave("-z") || u.gave("-l", "--listen", "-k", "--keep-open") {
		reachesFirst(u)
		return
	}
	u.onlyShows("checks whether a port is open")
	if len(u.operands) > 0 {
		look(u, u.operands[0], "checks whether a port is open")
	}
	u.operands = nil
}
