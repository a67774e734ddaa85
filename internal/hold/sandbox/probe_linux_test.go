package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// provenLandlock is the version with which the tables were made, because Landlock alone
// stops different probes in each version.
const provenLandlock = 7

// TestProbeTable really runs all probes, under each layer, and compares the outcomes byte
// by byte.
func TestProbeTable(t *testing.T) {
	t.Parallel()
	needFull(t)
	r, err := Examine(t.Context(), plainDir(t))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, p := range r.Probes {
		fmt.Fprintf(&table, "%-16s %-32s %-8s %-8s %s\n", p.Group, p.Name, p.Landlock, p.Filter, p.Full)
		if !p.Full.denied() {
			t.Errorf("%s: %s: %q: the sandbox does not stop it", p.Group, p.Name, p.Full)
		}
	}
	if _, _, by := r.By(); !slices.Contains(by, "TCP") || slices.Contains(by, "ICMP") {
		t.Errorf("said to be stopped by namespaces: %q", by)
	}
	if landlockVersion() != provenLandlock {
		t.Skipf("the table is for Landlock %d, this machine has %d", provenLandlock, landlockVersion())
	}
	checkGolden(t, "probes.txt", table.String()) // the same for root and other users
}

// checkGolden compares a table with the expected one.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := golden(name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestProbesAreReal checks that each probe succeeds without layers, unless the kernel
// forbids it in general: a probe that always fails proves nothing.
func TestProbesAreReal(t *testing.T) {
	t.Parallel()
	needFull(t)
	s, done, err := newTestBed(t.Context(), plainDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	unprivileged := map[string]bool{}
	for _, name := range []string{
		"raw packets", "ICMP", "mount namespace", "join a namespace", "mount", "make a mount writable", "unmount", "chroot", "bpf",
		"perf events", "open a file by its handle", "32-bit system calls", "core_pattern", "sysrq", "open a disk", "make a device",
		"ptrace them", "ptrace the sandbox's first", "write their memory", "vsock", "type into a terminal", "userfaultfd", "keyrings",
		"user namespace by clone3", "user namespace by unshare", "MPTCP", "io_uring", "change an interface",
	} {
		unprivileged[name] = true // may be refused for other reasons
	}
	for _, p := range probes {
		if unprivileged[p.name] || p.name == "gain rights by a program" || p.name == "replace .git/config" {
			continue
		}
		if err := p.try(s); err != nil {
			t.Errorf("%s: %s: %v, want it to succeed outside of the sandbox", p.group, p.name, err)
		}
	}
}

// TestProbesInADeepFolder covers a project deeper than the maximum length of a socket's path. It does not run
// in parallel with the other user's tests, which could not find the path of this socket.
func TestProbesInADeepFolder(t *testing.T) {
	needFull(t)
	dir := filepath.Join(plainDir(t), strings.Repeat("deep/", 40))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Examine(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Probes, func(p Probe) bool { return p.Name == "unix socket by path" })
	if p := r.Probes[i]; p.Filter != allowed || p.Full != "ECONNREFUSED" {
		t.Errorf("%+v", p)
	}
}

func TestProbeTableAsAnotherUser(t *testing.T) {
	t.Parallel()
	needFull(t)
	asNobody(t, "^(TestProbeTable|TestProbesAreReal)$")
}
