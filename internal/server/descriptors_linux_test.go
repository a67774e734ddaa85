package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/server"
)

// fewDescriptors is the limit set by `ulimit -n 256`.
const fewDescriptors = 256

// serveFew is the child: a server with a low limit of open files and connections.
func serveFew() int {
	few := syscall.Rlimit{Cur: fewDescriptors, Max: fewDescriptors}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		fmt.Println(err)
		return 1
	}
	l, err := net.Listen("unix", os.Getenv("UMPIRE_TEST_GATE"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		bufio.NewScanner(os.Stdin).Scan()
		cancel()
	}()
	fmt.Println("ready")
	gate := newFake()
	gate.tell(stamped())
	if err := server.New(server.Config{Gate: gate, Credentials: credentials}).Serve(ctx, l); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestFloodsLeaveDescriptors checks that calls are decided during floods of connections
// without a credential and watchers with either, beyond the process's limit.
func TestFloodsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	path := filepath.Join(shortDir(t), "gate.sock")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), "UMPIRE_TEST_CHILD=few-descriptors", "UMPIRE_TEST_GATE="+path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the server says %q", lines.Text())
	}
	flood := func(request string) {
		for range fewDescriptors {
			conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
			if err != nil {
				continue // the backlog is full
			}
			t.Cleanup(func() { conn.Close() })
			_, _ = fmt.Fprint(conn, request) // it may already be closed
		}
	}
	watch := "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
	for name, request := range map[string]string{
		"watchers of an agent": fmt.Sprintf(watch, credentials.Agent), "watchers of a person": fmt.Sprintf(watch, credentials.Person),
		"connections that say nothing": "",
	} {
		flood(request)
		c, err := server.Dial("unix:"+path, credentials.Agent)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), childTime)
		if _, err := c.Check(ctx, umpire.Call{Tool: "Bash"}); err != nil {
			t.Errorf("beside %s: %v", name, err)
		}
		cancel()
		c.Close()
	}
}
