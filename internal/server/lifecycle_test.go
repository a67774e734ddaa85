package server_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/server"
)

func TestDrainLetsRequestsEnd(t *testing.T) {
	t.Parallel()
	for name, h2 := range protocols {
		for network := range networks {
			t.Run(name+"/"+network, func(t *testing.T) {
				t.Parallel()
				gate := newFake()
				gate.blocks, gate.entered = make(chan struct{}), make(chan struct{})
				w := serve(t, network, server.Config{Gate: gate})
				ended := make(chan error)
				go func() {
					var err error
					if h2 {
						_, err = w.gateClient(t, credentials.Agent).Check(t.Context(), connect.NewRequest(&umpirev1.Call{}))
					} else {
						_, err = w.client(t, credentials.Agent).Check(t.Context(), umpire.Call{})
					}
					ended <- err
				}()
				<-gate.entered
				stopped := make(chan error)
				go func() { stopped <- w.stop() }()
				for { // until no more clients are admitted
					conn, err := w.dial(t.Context(), "", "")
					if err != nil {
						break
					}
					conn.Close()
				}
				close(gate.blocks)
				if err := <-ended; err != nil {
					t.Errorf("the request under way: %v", err)
				}
				if err := <-stopped; err != nil {
					t.Errorf("Serve returned %v", err)
				}
			})
		}
	}
}

func TestDrainCutsOffWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	gate := newFake()
	gate.blocks, gate.entered = make(chan struct{}), make(chan struct{})
	listener, err := server.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() {
		served <- server.New(server.Config{Gate: gate, Credentials: credentials, Drain: 50 * time.Millisecond}).Serve(ctx, listener)
	}()
	c, err := server.Dial(listener.Addr().String(), credentials.Agent)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended := make(chan error)
	go func() {
		_, err := c.Check(t.Context(), umpire.Call{})
		ended <- err
	}()
	<-gate.entered
	cancel()
	if err := <-served; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("Serve returned %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the request that was cut off has an answer")
	}
}

func TestServeNeedsCredentialsAndALoopbackAddress(t *testing.T) {
	t.Parallel()
	listener, err := server.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.New(server.Config{Gate: newFake()}).Serve(t.Context(), listener); err == nil {
		t.Error("serves without credentials")
	}
	everywhere, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = server.New(server.Config{Gate: newFake(), Credentials: credentials}).Serve(t.Context(), everywhere)
	if err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("serves everybody: %v", err)
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:0", "nonsense"} {
		if l, err := server.Listen(t.Context(), address, false); err == nil {
			l.Close()
			t.Errorf("listens on %s", address)
		}
	}
	l, err := server.Listen(t.Context(), "0.0.0.0:0", true)
	if err != nil {
		t.Fatalf("where it is allowed: %v", err)
	}
	l.Close()
}

func TestSocketIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shortDir(t), "state")
	l, err := server.Listen(t.Context(), "unix:"+dir+"/gate.sock", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, dir + "/gate.sock": 0o600 | fs.ModeSocket} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if other, err := server.Listen(t.Context(), "unix:"+dir+"/other.sock", false); err == nil {
		other.Close()
		t.Error("listens in a folder that others can read")
	}
}

func TestOnlyADeadSocketIsReplaced(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	path := dir + "/gate.sock"
	first, err := server.Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := server.Listen(t.Context(), "unix:"+path, false); err == nil {
		second.Close()
		t.Error("two gates listen at one socket")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	answered, err := server.Listen(t.Context(), "unix:"+path, false)
	if err == nil {
		answered.Close()
		t.Error("a socket that somebody answers is replaced")
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	third, err := server.Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatalf("a socket that a dead gate has left: %v", err)
	}
	third.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := server.Listen(t.Context(), "unix:"+path, false); err == nil {
		l.Close()
		t.Error("a file is replaced")
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if l, err := server.Listen(t.Context(), "unix:"+dir+"/"+strings.Repeat("x", 200), false); err == nil {
		l.Close()
		t.Error("listens at a path that is too long")
	}
}

func TestCredentialsAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	made, err := server.LoadCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Agent) != 64 || len(made.Person) != 64 || made.Agent == made.Person {
		t.Errorf("tokens %q and %q", made.Agent, made.Person)
	}
	for _, name := range []string{server.AgentTokenFile, server.PersonTokenFile} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if token, err := server.ReadToken(filepath.Join(dir, server.PersonTokenFile)); token != made.Person || err != nil {
		t.Errorf("the client reads %q, %v", token, err)
	}
	if again, err := server.LoadCredentials(dir); again != made || err != nil {
		t.Errorf("the second time: %v %v, want %v", again, err, made)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestUnsoundCredentialsAreReplaced(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"readable by others": func(path string) error { return os.Chmod(path, 0o640) },
		"empty":              func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"short":              func(path string) error { return os.WriteFile(path, []byte("abcd\n"), 0o600) },
		"no hex":             func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("zz", 32)), 0o600) },
		"huge":               func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			made, err := server.LoadCredentials(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(dir, server.PersonTokenFile)); err != nil {
				t.Fatal(err)
			}
			again, err := server.LoadCredentials(dir)
			if err != nil || again.Agent != made.Agent || again.Person == made.Person || len(again.Person) != 64 {
				t.Errorf("%v %v, was %v", again, err, made)
			}
			if info, err := os.Lstat(filepath.Join(dir, server.PersonTokenFile)); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
		})
	}
	dir := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, server.AgentTokenFile)); err != nil {
		t.Fatal(err)
	}
	if c, err := server.LoadCredentials(dir); err == nil {
		t.Errorf("a link is followed: %v", c)
	}
}

// A hook asks once and is held until the person has answered.
func TestBatchIsHeldUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.gate.tell(notice("s1"))
		c := w.client(t, credentials.Agent)
		if b, err := c.Await(t.Context(), "s1", "b1", 20*time.Millisecond); err != nil || b.State != umpire.BatchWaiting {
			t.Errorf("when nobody answers: %v %v", b.State, err)
		}
		const held = 3
		ended := make(chan umpire.Batch, held)
		for range held {
			go func() {
				b, err := c.Await(t.Context(), "s1", "b1", time.Minute)
				if err != nil {
					t.Error(err)
				}
				ended <- b
			}()
		}
		w.gate.tell(notice("s2"), notice("s1"), notice("s2"))
		if _, err := w.client(t, credentials.Person).Resolve(t.Context(), umpire.Answer{Request: "r1", Choice: umpire.Approve}); err != nil {
			t.Fatal(err)
		}
		for range held {
			if b := <-ended; b.State != umpire.BatchRunning {
				t.Errorf("after the answer: %v", b.State)
			}
		}
		if b, err := c.Await(t.Context(), "s1", "b1", time.Minute); err != nil || b.State != umpire.BatchRunning {
			t.Errorf("of a batch that runs: %v %v", b.State, err)
		}
	})
}

func TestDrainLetsHeldBatchesGo(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{})
	ended := make(chan error)
	before := w.gate.watching()
	go func() {
		b, err := w.client(t, credentials.Agent).Await(t.Context(), "s1", "b1", time.Minute)
		if b.State != umpire.BatchWaiting && err == nil {
			err = errors.New("the batch is " + string(b.State))
		}
		ended <- err
	}()
	<-before
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
