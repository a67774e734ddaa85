package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// This file writes the profile of macOS's own sandbox, Seatbelt. Later rules override
// earlier ones, so guarded paths come after writable ones.

// seatbeltBase lets a program start, fork, read and use the few services that every
// program on macOS needs; everything else is denied.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read* file-ioctl)
(allow ipc-posix-sem ipc-posix-shm)
(allow pseudo-tty)
(allow mach-lookup
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.trustd.agent"))
(allow file-write-data
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read* file-write* (regex #"^/dev/ttys[0-9]+$") (literal "/dev/ptmx"))
`

// seatbeltNetwork allows the network and the services that resolve names.
const seatbeltNetwork = `(allow network* system-socket)
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.dnssd.service"))
`

// seatbelt returns the profile for an order.
func seatbelt(o *order) string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	open := slices.Clone(o.Open)
	if o.Tmp != "" {
		open = append(open, o.Tmp)
	}
	for _, path := range open {
		fmt.Fprintf(&b, "(allow file-write* (subpath %s))\n", seatbeltString(path))
	}
	if o.Reach == reachMachine { // macOS has no private loopback
		b.WriteString(seatbeltNetwork)
	}
	for _, path := range o.Pinned {
		fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", seatbeltString(path))
	}
	for _, path := range slices.Concat(o.Guarded, o.Absent) {
		fmt.Fprintf(&b, "(deny file-write* (subpath %s))\n", seatbeltString(path))
	}
	for _, path := range o.Hidden {
		fmt.Fprintf(&b, "(deny file-read* file-write* network-outbound (subpath %s))\n", seatbeltString(path))
	}
	return b.String()
}

// seatbeltString quotes a path.
func seatbeltString(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
