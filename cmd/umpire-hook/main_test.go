package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host/relay"
)

// heavy are the packages that a program started for every call must not link: each
// does work at its start, whether it is used or not.
var heavy = regexp.MustCompile(`^(net/http|net/rpc|crypto/.*|database/sql|log|flag|html/.*|text/template|go/.*|` +
	`github\.com/spf13/.*|modernc\.org/.*|github\.com/jackc/.*|google\.golang\.org/.*|connectrpc\.com/.*|` +
	`github\.com/zricethezav/.*|github\.com/charmbracelet/.*|charm\.land/.*|golang\.org/x/(net|term|text)/.*|` +
	`github\.com/fsnotify/.*|go\.yaml\.in/.*|gopkg\.in/.*|` +
	`github\.com/umpirehq/umpire/internal/((agent|api|gate|server|store|hold/sandbox|host/setup)(/.*)?|secret|rulefile))$`)

func TestLinksNothingHeavy(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("go list names %d packages", len(packages))
	}
	for _, name := range packages {
		if heavy.MatchString(name) {
			t.Errorf("links %s", name)
		}
	}
	for _, name := range []string{"net/http", "modernc.org/sqlite", "go.yaml.in/yaml/v3", "github.com/umpirehq/umpire/internal/gate"} {
		if !heavy.MatchString(name) {
			t.Errorf("%s would pass", name)
		}
	}
}

// A start records the work that the program does before main, or before it exits.
type start struct {
	packages    []string
	allocations int
	took        float64 // in ms
	trace       string
}

// startOf runs the program and reads the package initializations from its trace.
func startOf(t *testing.T, program, stdin string, args ...string) (s start, stdout string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var out, trace bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &trace
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	_ = cmd.Run() // it refuses a command line without words
	s.trace = trace.String()
	for _, found := range initialised.FindAllStringSubmatch(s.trace, -1) {
		took, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		allocations, err := strconv.Atoi(found[3])
		if err != nil {
			t.Fatal(err)
		}
		s.packages = append(s.packages, found[1])
		s.took, s.allocations = s.took+took, s.allocations+allocations
	}
	return s, out.String()
}

var initialised = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, \d+ bytes, (\d+) allocs$`)

func buildHook(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "umpire-hook")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestStartIsBounded limits the work before main. It prints the time, but does not check it.
func TestStartIsBounded(t *testing.T) {
	t.Parallel()
	program := buildHook(t)
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := startOf(t, program, "")
	t.Logf("%d packages are initialised, with %d allocations, in %.2f ms", len(s.packages), s.allocations, s.took)
	if n := len(s.packages); n == 0 || n > 34 || s.allocations > 340 {
		t.Errorf("%d packages are initialised, with %d allocations:\n%s", n, s.allocations, s.trace)
	}
	if runtime.GOARCH == "amd64" && info.Size() > 7_000_000 {
		t.Errorf("the program has %d bytes", info.Size())
	}
}

// TestGateIsAskedFirst: if a gate answers at once, neither the shell nor the rules are
// initialised. On a busy machine the answer may come too late, so the test tries several times.
func TestGateIsAskedFirst(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the gate is not asked early")
	}
	program, home := buildHook(t), t.TempDir()
	serveAnswer(t, home, "allowed\n")
	var s start
	for range 50 {
		var out string
		s, out = startOf(t, program, "{}", "hook", "claude", "--home", home)
		if out != "allowed\n" {
			t.Fatalf("%q\n%s", out, s.trace)
		}
		if len(s.packages) <= 25 {
			break
		}
	}
	t.Logf("%d packages are initialised, with %d allocations, in %.2f ms", len(s.packages), s.allocations, s.took)
	for _, name := range s.packages {
		if heavyAtStart.MatchString(name) {
			t.Errorf("%s is initialised", name)
		}
	}
	if len(s.packages) > 25 || s.allocations > 65 {
		t.Errorf("%d packages are initialised, with %d allocations:\n%s", len(s.packages), s.allocations, s.trace)
	}
}

// heavyAtStart are the packages that only deciding needs.
var heavyAtStart = regexp.MustCompile(`^(regexp|net/netip|mvdan\.cc/.*|` +
	`github\.com/umpirehq/umpire/(shell|place|policy|internal/(view|host|judge)))$`)

// serveAnswer answers every question with a text, as a gate of a folder does.
func serveAnswer(t *testing.T, home, text string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(relay.TokenFile(home), []byte("T\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", relay.Socket(home))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // an answer before its end breaks the connection
		w.Header().Set(relay.HeaderExit, "0")
		w.Header().Set(relay.HeaderStdout, strconv.Itoa(len(text)))
		io.WriteString(w, text)
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
}
