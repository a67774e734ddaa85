package sandbox

import (
	"io"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// TestExit: a command reaches names, addresses and the proxy through the exit alone. It holds no socket of the machine's
// network. Messages without a connection stay out of reach. It sees the exit's texts in files that exist.
func TestExit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	b := newBench(t)
	var mu sync.Mutex
	var got []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, text)
	}
	answer := func(conn net.Conn, text string) {
		defer conn.Close()
		note(text)
		_, _ = io.WriteString(conn, text+"\n")
	}
	exit := &egress.Exit{
		Proxy: func(conn net.Conn) { answer(conn, "proxy") },
		Direct: func(conn net.Conn, name string, port uint16) {
			answer(conn, net.JoinHostPort(name, strconv.Itoa(int(port))))
		},
		Named: func(at netip.Addr, name string) { note(name + " is " + at.String()) },
		Texts: map[string]string{"/etc/passwd": "another text\n", "/etc/missing.example": "no text"},
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `
		for to in registry.example/443 registry.example/443 registry.example/22 other.example/8443 127.0.0.1/19181 \
			203.0.113.9/80 2001:db8::9/80; do
			timeout 5 bash -c "exec 3<>/dev/tcp/$to && cat <&3" 2>/dev/null || echo "$to is out of reach"
		done
		cat /etc/passwd; ls /etc/missing.example 2>/dev/null
		python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("203.0.113.10", 123))'`)
	cmd.Dir, cmd.Env = b.root, []string{"PATH=/usr/bin:/bin"}
	var out strings.Builder
	cmd.Stdout = &out
	box, err := b.Wrap(cmd, Limits{Mode: umpire.SandboxWorkspaceWrite, Observe: true, Exit: exit})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Close(cmd.Run()); err != nil {
		t.Fatal(err)
	}
	want := "registry.example:443\nregistry.example:443\nregistry.example:22\nother.example:8443\nproxy\n" +
		"203.0.113.9:80\n[2001:db8::9]:80\nanother text\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	all := strings.Join(got, ", ")
	for _, text := range []string{"registry.example is 198.18.0.1", "other.example is 198.18.0.2"} {
		if !strings.Contains(all, text) {
			t.Errorf("no %q in %s", text, all)
		}
	}
	if len(box.Seen.Addresses) != 1 || box.Seen.Addresses[0] != "203.0.113.10:123" {
		t.Errorf("refused: %v", box.Seen.Addresses)
	}
}
