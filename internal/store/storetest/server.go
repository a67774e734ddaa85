package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Server is a private PostgreSQL server that listens on one unix socket in its own
// folder, and is removed after its test.
type Server struct {
	dir      string // holds the socket, the data and the log
	bin      string
	owner    owner
	database atomic.Int64
}

// The limits for starting, stopping and querying a server.
const (
	serverTime = 5 * time.Minute
	queryTime  = 5 * time.Minute
	// maxSocketDir leaves room for the socket's name in its address.
	maxSocketDir = 80
)

// settings suit a temporary server that must not lose acknowledged commits.
var settings = []string{
	"listen_addresses=''", "port=5432", "max_connections=200", "shared_buffers=32MB", "fsync=on",
	"synchronous_commit=on",
	"log_min_messages=fatal", "autovacuum=off",
}

// Postgres starts a server and returns the address of an empty database in it.
func Postgres(t testing.TB) (dsn string) { return NewServer(t).Database(t) }

// NewServer starts a server for a test. If PostgreSQL is not installed, it skips the
// test, or fails it if CI is set.
func NewServer(t testing.TB) *Server {
	t.Helper()
	bin, err := findServer()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("PostgreSQL is needed where CI is set: %v", err)
		}
		t.Skipf("PostgreSQL is not installed: %v", err)
	}
	s := &Server{bin: bin, owner: serverOwner(t)}
	s.dir = socketDir(t)
	t.Cleanup(func() {
		_ = s.control("stop", "-m", "immediate") // it may be stopped already
		if err := os.RemoveAll(s.dir); err != nil {
			t.Errorf("server: %v", err)
		}
	})
	if err := s.owner.own(s.dir); err != nil {
		t.Fatalf("server: %v", err)
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "umpire", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync"); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	return s
}

// socketDir makes a folder whose path is short enough for a socket in it.
func socketDir(t testing.TB) string {
	t.Helper()
	parent := os.TempDir()
	if len(parent) > maxSocketDir {
		parent = "/tmp"
	}
	//nolint:usetesting // the test's own folder has a long name, and is closed to the server's user
	dir, err := os.MkdirTemp(parent, "umpire-pg-")
	if err != nil {
		t.Fatalf("server: %v", err)
	}
	return dir
}

// findServer returns the folder with initdb, pg_ctl and postgres.
func findServer() (string, error) {
	var dirs []string
	if out, err := exec.CommandContext(context.Background(), "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.Sort(debian)
	slices.Reverse(debian)
	for _, dir := range append(dirs, debian...) {
		if hasServer(dir) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder with initdb and pg_ctl: %w", fs.ErrNotExist)
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// run runs one of the server's programs as its owner.
func (s *Server) run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), serverTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	s.owner.runAs(cmd)
	// The server inherits the output of pg_ctl: with a pipe, Wait would never return.
	out, err := os.CreateTemp("", "umpire-pg-output-")
	if err != nil {
		return err
	}
	defer func() {
		_ = os.Remove(out.Name()) // a leftover in the temporary folder at worst
	}()
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		logged, _ := os.ReadFile(s.log())
		return fmt.Errorf("%s: %w\n%s\n%s", name, err, said, tail(logged))
	}
	return nil
}

func tail(log []byte) []byte {
	lines := bytes.Split(log, []byte("\n"))
	const last = 20
	return bytes.Join(lines[max(0, len(lines)-last):], []byte("\n"))
}

func (s *Server) control(args ...string) error {
	return s.run("pg_ctl", append(args, "-D", s.data(), "-w", "-t", "240")...)
}

// Start restarts the server after Stop, and returns when it accepts connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	options := "-k " + s.dir + " -c " + strings.Join(settings, " -c ")
	if err := s.control("start", "-l", s.log(), "-o", options); err != nil {
		t.Fatal(err)
	}
}

// Stop stops the server, either immediately as in a crash or in an orderly way.
func (s *Server) Stop(t testing.TB, immediate bool) {
	t.Helper()
	mode := "fast"
	if immediate {
		mode = "immediate"
	}
	if err := s.control("stop", "-m", mode); err != nil {
		t.Fatal(err)
	}
}

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) (dsn string) {
	t.Helper()
	name := fmt.Sprintf("test%d", s.database.Add(1))
	if err := s.admin("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	return address(s.dir, name)
}

func address(socketDir, database string) string {
	return fmt.Sprintf("host=%s port=5432 user=umpire dbname=%s", socketDir, database)
}

// Cut closes all connections from the server's side.
func (s *Server) Cut() error {
	return s.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'
		AND pid <> pg_backend_pid()`)
}

// admin runs a statement in the default database.
func (s *Server) admin(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	c, err := pgx.Connect(ctx, address(s.dir, "postgres"))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}
