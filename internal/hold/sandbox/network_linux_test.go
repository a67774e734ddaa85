package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// dialerWord is the argument that makes the test program dial.
const dialerWord = "dial"

// dialAll dials addresses, written as NETWORK=ADDRESS, and prints the outcomes. Then it
// prints the answer of its own server.
func dialAll(targets []string) {
	for _, target := range targets {
		network, address, _ := strings.Cut(target, "=")
		fmt.Println(outcomeOf(reached(network, address)))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answered") }))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
}

// reached dials an address with a timeout that is longer than any delay on this machine.
func reached(network, address string) error {
	if network == "look" {
		_, err := net.DefaultResolver.LookupHost(context.Background(), address)
		return err
	}
	if network == "udp" {
		return sendUDP(&testBed{UDP: address})
	}
	c, err := net.DialTimeout(network, address, time.Minute)
	if err == nil {
		_ = c.Close()
	}
	return err
}

// ownAddress returns an address of this machine that is not a loopback address, or "".
func ownAddress() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	return ""
}

// serverHere listens outside of the sandbox, and returns the address.
func serverHere(t *testing.T, network, address string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return network + "=" + l.Addr().String()
}

// TestLoopback checks that a command can only connect to its own servers.
func TestLoopback(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	targets := []string{
		serverHere(t, "tcp", "127.0.0.1:0"), "udp=" + packets.LocalAddr().String(),
		serverHere(t, "unix", "@umpire-"+filepath.Base(filepath.Dir(b.root))),
		"tcp=169.254.169.254:80", "udp=192.0.2.1:53",
	}
	want := []string{"ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", "answered <nil>", ""}
	if own := ownAddress(); own != "" {
		targets, want = append([]string{serverHere(t, "tcp", own+":0")}, targets...), append([]string{"ENETUNREACH"}, want...)
	}
	for _, target := range targets[:3] {
		if network, address, _ := strings.Cut(target, "="); reached(network, address) != nil {
			t.Errorf("%s cannot be reached outside of the sandbox either", target)
		}
	}
	line := b.self() + " " + dialerWord + " '" + strings.Join(targets, "' '") + "'"
	if got := b.works(writing, line); got != strings.Join(want, "\n") {
		t.Errorf("dialled %q, want %q", got, want)
	}
	b.fails(Limits{Mode: umpire.SandboxReadOnly}, line, "EPERM")
}

// TestLoopbackOfOtherPrograms covers programs not written in Go, which request their sockets differently.
func TestLoopbackOfOtherPrograms(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	b := newBench(t)
	const program = `
import http.server, threading, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"answered")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://localhost:%d" % server.server_port).read().decode())
`
	if err := os.WriteFile(filepath.Join(b.root, "serve.py"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := b.works(writing, "python3 serve.py"); out != "answered\n" {
		t.Errorf("it said %q", out)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, address, _ := strings.Cut(serverHere(t, "tcp", "127.0.0.1:0"), "=")
	_, port, _ := net.SplitHostPort(address)
	line := "bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'"
	b.fails(writing, line, "Connection refused")
	b.fails(Limits{Mode: umpire.SandboxReadOnly}, line, "Operation not permitted")
	open := writing
	open.Network = true
	b.works(open, line)
}

// TestLoopbackOfTheMachine checks that a helper without its own network namespace enables
// no interface and starts nothing.
func TestLoopbackOfTheMachine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "touch ran")
	cmd.Dir = b.root
	box, err := b.Wrap(cmd, writing)
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr.Cloneflags &^= unix.CLONE_NEWNET
	failed, ok := errors.AsType[*SetupError](box.Close(cmd.Run()))
	if !ok || failed.Step != "loopback" {
		t.Errorf("%v, want the set-up to fail at the loopback", failed)
	}
	b.lacks(filepath.Join(b.root, "ran"))
}
