//go:debug updatemaxprocs=0

// Umpire-hook is `umpire hook` as a program of its own, which starts faster: an agent starts
// it for every call it makes. It hands the question to the gate that runs; where none does it
// decides by a snapshot that umpire has left. Everything else it leaves to the program umpire
// next to it, so both give the same answers.
//
//	umpire-hook claude --deadline 595s
//
// The word hook may stand before the agent, as it does for umpire.
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
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/process"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/policy"
)

// patience is how long it may take to answer a question, or to hand it to a gate,
// until signals are listened for: that starts a thread, which takes a tenth of the
// time that most questions need. A signal before ends the process, as before main.
const patience = 20 * time.Millisecond

func main() {
	ctx, interrupt := context.WithCancel(context.Background())
	listen := sync.OnceFunc(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-signals
			interrupt()
		}()
	})
	time.AfterFunc(patience, listen)
	args := os.Args[1:]
	if len(args) > 0 && host.Find(args[0]) != nil {
		args = append([]string{"hook"}, args...)
	}
	os.Exit(answerQuestion(ctx, listen, args))
}

// exitDenied is what umpire says to a hook that it does not understand, too: for an
// agent any other code means to go on.
const exitDenied = 2

// answerQuestion answers one question, and calls sent once a gate has it. Handing it over comes
// before anything is read, so that umpire finds all as it was.
func answerQuestion(ctx context.Context, sent func(), args []string) int {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	getenv := relay.Registered(os.Getenv, args[min(1, len(args)):])
	h := &hook{args: args, sent: sent, dir: dir, home: relay.Home(getenv, dir)}
	if !h.prepare(ctx) {
		h.missing = handOver(args) // does not return when it succeeds
	}
	front := host.Front{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: getenv, Dir: dir, Now: time.Now,
		Line: h.gateLine, Nonce: newNonce, Runner: func() string { return process.Host(os.Getppid()) },
		Responder: &host.Responder{
			Config: h.configOf, Decided: h.decided, Home: relay.UserHome(os.Getenv),
			HandOver: func(q *host.Question) { _ = h.passOn(q.Payload) }, // else the call stays as it came
		},
	}
	if len(args) > 1 && args[0] == "hook" {
		if code, known := front.Answer(ctx, args[1:]); known {
			return code
		}
	}
	fmt.Fprintf(os.Stderr, "umpire-hook: want AGENT as umpire hook does: %v\n", h.missing)
	return exitDenied
}

// A hook is one question, before it is read.
type hook struct {
	args      []string
	sent      func()
	dir, home string
	line      *relay.Line // to the gate that runs, nil when none does
	project   string      // that config is about
	config    host.Config
	missing   error // why umpire could not be started
}

// prepare reports whether this program can answer by itself: through a gate that
// runs, or where none does by a snapshot that umpire has left.
func (h *hook) prepare(ctx context.Context) bool {
	if len(h.args) < 2 || h.args[0] != "hook" || h.home == "" || !h.hasPlainConfig() {
		return false
	}
	asks := host.Find(h.args[1])
	if asks == nil {
		return false
	}
	if asks.Relayed() {
		if there, err := h.dial(ctx); there || err != nil {
			return err == nil
		}
	}
	return h.findSnapshot(asks.StartedIn(os.Getenv, h.dir))
}

// dial connects to the gate that runs, and reports whether one does.
func (h *hook) dial(ctx context.Context) (there bool, err error) {
	socket := relay.Socket(h.home)
	conn, err := relay.DialUnix(ctx, socket)
	if errors.Is(err, relay.ErrAbsent) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(relay.TokenFile(h.home))
	if err != nil {
		return false, err
	}
	token, err := relay.ParseToken(text)
	if err != nil {
		return false, err
	}
	h.line = &relay.Line{
		Host: "localhost", Token: token, Conn: conn, Sent: h.sent,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) { return relay.DialUnix(ctx, socket) },
	}
	return true, nil
}

// findSnapshot finds the snapshot of a project.
func (h *hook) findSnapshot(project string) bool {
	if !filepath.IsAbs(project) {
		return false
	}
	s, ok := judge.LoadSnapshot(judge.SnapshotKey{Dir: project, Home: h.home, UserHome: relay.UserHome(os.Getenv)})
	if !ok {
		return false
	}
	j, err := s.Judge()
	if err != nil {
		return false
	}
	h.project = project
	h.config = host.Config{
		Settings: s.Settings,
		Decide: func(_ context.Context, _ string, q policy.Query) umpire.Decision {
			return judge.Decide(func() (*judge.Judge, error) { return j, nil }, q, time.Now)
		},
	}
	return true
}

// decided passes on a question about code of the project, since this program compares files
// by their times alone, and umpire by what they say; and one about a write, which umpire
// remembers.
func (h *hook) decided(q *host.Question, _ string, d *umpire.Decision) {
	byCode := slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeProjectCode })
	other := slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool { return a.Kind != umpire.KindWrite })
	if byCode || d.Verdict != umpire.Deny && len(d.Accesses) > 0 && !other {
		_ = h.passOn(q.Payload) // when it cannot be started, the question stands
	}
}

// passOn gives the question that was read to the program umpire, and ends as it ends. It
// returns only when that cannot be started.
func (h *hook) passOn(question []byte) error {
	f, err := os.CreateTemp("", "umpire-question-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(question)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return err
	}
	return startUmpire(h.args, f)
}

// startUmpire has the program umpire answer instead, and ends as it ends.
func startUmpire(args []string, stdin *os.File) error {
	name, err := findSibling()
	if err != nil {
		return err
	}
	process, err := os.StartProcess(name, append([]string{name}, args...), &os.ProcAttr{
		Files: []*os.File{stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return fmt.Errorf("umpire-hook needs the program umpire beside it: %s: %w", name, err)
	}
	state, err := process.Wait()
	if err != nil || state.ExitCode() < 0 {
		os.Exit(exitDenied)
	}
	os.Exit(state.ExitCode())
	return nil
}

// configOf is the configuration of the one project that was looked for.
func (h *hook) configOf(project string) (host.Config, error) {
	switch {
	case h.missing != nil:
		return host.Config{}, h.missing
	case h.config.Decide == nil || project != h.project:
		return host.Config{}, fmt.Errorf("nothing is known of the project %q", project)
	}
	return h.config, nil
}

// gateLine is the line of [host.Front].
func (h *hook) gateLine(context.Context, *host.Question) (*relay.Line, error) { return h.line, nil }

// maxPlain bounds the configuration that is looked through.
const maxPlain = 64 << 10

// hasPlainConfig reports whether the configuration of the administrator and the person leaves it
// at the usual socket: where the key is not written, nor a character that YAML could write
// it with otherwise.
func (h *hook) hasPlainConfig() bool {
	return saysNothing(filepath.Join(files.Managed.Dir, "config.yaml")) &&
		saysNothing(filepath.Join(h.home, "config.yaml"))
}

// saysNothing reports whether a file does not mention the socket.
func saysNothing(name string) bool {
	f, err := os.Open(name)
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
	return !bytes.Contains(text, []byte("listen")) && !bytes.Contains(text, []byte(`\`))
}

// newNonce tells a question from others; nobody gains by guessing it.
func newNonce() string {
	return strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

// findSibling is the program umpire beside this one.
func findSibling() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(own), "umpire"+filepath.Ext(own)), nil
}
