// Umpire-hook is `umpire hook` as a program of its own, which starts faster: an
// agent starts it for every call it makes. It hands the question to the gate that
// runs. Whatever it cannot do itself it leaves to the program umpire beside it, so
// that the answers of both are the same.
//
//	umpire-hook hook claude --deadline 595s
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/umpirehq/umpire/internal/hostcall"
	"github.com/umpirehq/umpire/internal/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// exitUsage is what umpire says to a command line that it does not understand.
const exitUsage = 4

// run answers one question. Handing it over comes before anything is read, so that
// umpire finds all as it was.
func run(ctx context.Context, args []string) int {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	h := &hook{dir: dir, home: hostcall.Home(os.Getenv, dir)}
	var missing error
	if !h.prepare(ctx, args) {
		missing = handOver(args) // does not return when it succeeds
	}
	front := hostcall.Front{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Now: time.Now,
		Line: h.found, Nonce: nonce, Runner: func() string { return runner.Of(os.Getppid()) },
		Desk: &hostcall.Desk{Config: func(string) (hostcall.Config, error) { return hostcall.Config{}, missing }},
	}
	if len(args) > 1 && args[0] == "hook" {
		if code, known := front.Answer(ctx, args[1:]); known {
			return code
		}
	}
	fmt.Fprintf(os.Stderr, "umpire-hook: want hook AGENT as umpire does: %v\n", missing)
	return exitUsage
}

// A hook is one question, before it is read.
type hook struct {
	dir, home string
	line      *hostcall.Line
}

// prepare reports whether this program can answer by itself.
func (h *hook) prepare(ctx context.Context, args []string) bool {
	if len(args) < 2 || args[0] != "hook" || args[1] != "claude" || h.home == "" || !h.plain() {
		return false
	}
	socket := hostcall.Socket(h.home)
	conn, err := hostcall.DialUnix(ctx, socket)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(hostcall.TokenFile(h.home))
	if err != nil {
		return false
	}
	token, err := hostcall.ParseToken(text)
	if err != nil {
		return false
	}
	h.line = &hostcall.Line{
		Host: "localhost", Token: token, Conn: conn,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return hostcall.DialUnix(ctx, socket) },
	}
	return true
}

func (h *hook) found(context.Context, *hostcall.Question) (*hostcall.Line, error) { return h.line, nil }

// maxPlain bounds the configuration that is looked through.
const maxPlain = 64 << 10

// plain reports whether the person's configuration leaves it at the usual socket
// and at enforcing: where neither key is written, nor a character that YAML could
// write one with otherwise.
func (h *hook) plain() bool {
	f, err := os.Open(filepath.Join(h.home, "config.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPlain+1))
	if err != nil || len(text) > maxPlain {
		return false
	}
	for _, special := range []string{"listen", "enforce_gateway", `\`} {
		if bytes.Contains(text, []byte(special)) {
			return false
		}
	}
	return true
}

// nonce tells a question from others; nobody gains by guessing it.
func nonce() string {
	return strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

// sibling is the program umpire beside this one.
func sibling() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(own), "umpire"+filepath.Ext(own)), nil
}
