//go:debug updatemaxprocs=0

// Umpire-hook is `umpire hook` as a separate program that starts faster, because agents start
// it for every call. It hands the question to the running gate, or if there is no gate,
// decides from a snapshot that umpire has saved. It leaves everything else to the program
// umpire next to it, so both give the same answers.
//
//	umpire-hook claude --deadline 595s
//
// The word hook may precede the agent, as it does for umpire.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/cmd/umpire-hook/early"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/policy"
)

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
	time.AfterFunc(relay.Patience, listen)
	args := os.Args[1:]
	if len(args) > 0 && host.Find(args[0]) != nil {
		args = append([]string{"hook"}, args...)
	}
	os.Exit(answerQuestion(ctx, listen, args))
}

// answerQuestion answers a question that the early attempt left, and calls sent once a gate has it.
// If umpire has to answer instead, it is started before anything more is read.
func answerQuestion(ctx context.Context, sent func(), args []string) int {
	early.Attempt.Profile.End(process.Initialized)
	dir := early.Attempt.Dir
	getenv := relay.Registered(os.Getenv, args[min(1, len(args)):])
	h := &hook{args: args, sent: sent, dir: dir, home: relay.Home(getenv, dir)}
	if !h.prepare(ctx) {
		h.missing = handOver(args) // does not return when it succeeds
	}
	front := host.Front{
		Stdin: early.Attempt.Payload(os.Stdin), Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: getenv, Dir: dir, Now: time.Now,
		Line: h.gateLine, Nonce: func() string { return early.Attempt.Nonce }, Runner: early.Attempt.Runner,
		Profile: early.Attempt.Profile,
		Responder: &host.Responder{
			Config: h.configOf, Decided: h.decided, Remember: h.remember, TurnLine: h.turnLine,
			Home:     relay.UserHome(os.Getenv),
			HandOver: func(q *host.Question) { _ = h.passOn(q.Payload) }, // else the call stays as it came
		},
	}
	if len(args) > 1 && args[0] == "hook" {
		if code, known := front.Answer(ctx, args[1:]); known {
			return code
		}
	}
	fmt.Fprintf(os.Stderr, "umpire-hook: want AGENT as umpire hook does: %v\n", h.missing)
	return relay.ExitDenied
}

// A hook is one question, before it is read.
type hook struct {
	args      []string
	sent      func()
	dir, home string
	line      *relay.Line // to the running gate, or nil
	project   string      // that config is about
	config    host.Config
	missing   error // why umpire could not be started
}

// prepare reports whether this program can answer by itself: through a running gate, or
// from a snapshot that umpire has left.
func (h *hook) prepare(ctx context.Context) bool {
	if len(h.args) < 2 || h.args[0] != "hook" || h.home == "" ||
		!early.Attempt.Looked() && !relay.HasUsualSocket(h.home) {
		return false
	}
	asks := host.Find(h.args[1])
	if asks == nil {
		return false
	}
	if asks.Relayed() {
		if err := h.dial(ctx); !errors.Is(err, relay.ErrAbsent) {
			return err == nil
		}
	}
	found := h.findSnapshot(asks.StartedIn(os.Getenv, h.dir))
	early.Attempt.Profile.End(process.SnapshotRead)
	return found
}

// dial connects to the gate that runs, unless the early attempt has looked for it.
func (h *hook) dial(ctx context.Context) (err error) {
	if h.line, err = early.Attempt.Line(); h.line == nil && err == nil {
		h.line, err = relay.DialUsual(ctx, h.home)
	}
	if h.line != nil {
		h.line.Sent = h.sent
	}
	return err
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
		Settings: s.Settings, Root: s.Root,
		Decide: func(_ context.Context, _ string, q policy.Query) umpire.Decision {
			return judge.Decide(func() (*judge.Judge, error) { return j, nil }, q, time.Now)
		},
	}
	return true
}

// decided passes some questions on to umpire: one about code of the project, because this program
// compares files only by their times, and umpire by content; one about a write or an edit by
// autonomy, because umpire stores the old content of files; one about a git command that changes
// the work tree, because umpire asks git for the changes; and one about a read in a home or a
// temporary file, because umpire knows a trial's view of them, and the files that a session made.
func (h *hook) decided(q *host.Question, _ string, d *umpire.Decision) {
	byCode := slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeProjectCode })
	other := slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool { return a.Kind != umpire.KindWrite })
	moves := func(a umpire.Access) bool { return gitdir.MovesFiles(a.Words) }
	git := d.Verdict != umpire.Deny && slices.ContainsFunc(d.Accesses, moves)
	writes := d.Verdict != umpire.Deny && len(d.Accesses) > 0 && !other
	if byCode || git || writes || policy.NeedsLook(d) || len(judge.WrittenOutside(d)) > 0 || judge.EditsByAutonomy(d) {
		_ = h.passOn(q.Payload) // if umpire cannot be started, the question stays open
	}
}

// remember reports a finished command line whose files umpire has stored.
func (h *hook) remember(_ context.Context, q *host.Question, e *host.Event, _ *umpire.Decision) {
	state := filepath.Dir(relay.Socket(h.home))
	if e.Kind != host.BeforeTool && e.Call.Tool == "Bash" && !e.RunsOn() &&
		relay.HasPendingRecord(state, string(e.Call.Session), string(e.Call.ID)) {
		_ = h.passOn(q.Payload) // else it is sealed later
	}
}

// turnLine has umpire write the line about kept changes, if there are any: this program cannot read their
// records.
func (h *hook) turnLine(q *host.Question, e *host.Event) string {
	if relay.KeptSinceTurn(filepath.Dir(relay.Socket(h.home)), string(e.Session)) {
		_ = h.passOn(q.Payload) // else no line is shown
	}
	return ""
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
		os.Exit(relay.ExitDenied)
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
		return host.Config{}, fmt.Errorf("unknown project %q", project)
	}
	return h.config, nil
}

// gateLine is the line of [host.Front].
func (h *hook) gateLine(context.Context, *host.Question) (*relay.Line, error) { return h.line, nil }

// findSibling returns the path of the program umpire next to this one.
func findSibling() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(own), "umpire"+filepath.Ext(own)), nil
}
