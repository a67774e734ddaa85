package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

const (
	bashTimeout    = 120_000 // milliseconds, unless the call says otherwise
	maxBashTimeout = 600_000
	// killGrace is how long a process group may take to end after it was asked to.
	killGrace = 2 * time.Second
	// pipeGrace is how long the output of processes that a command left running is read after
	// it has ended.
	pipeGrace = 500 * time.Millisecond
)

var bashTool = tool{
	about: "Runs a command line in a shell of its own, from the working directory each time, without a terminal or " +
		"input. " +
		"What it leaves running ends with it; for something that is to go on set run_in_background.",
	schema: `{"type":"object","required":["command"],"properties":{
		"command":{"type":"string"},
		"description":{"type":"string","description":"what it does, in a few words"},
		"timeout":{"type":"integer","minimum":1,"maximum":600000,"description":"milliseconds (default 120000)"},
		"run_in_background":{"type":"boolean","description":"do not wait for it; look at it with BashOutput"}}}`,
	run: (*Set).bash,
}

// commandOf reads the command, as the decision does: the first name that is there.
// Two of them would leave open which one was judged.
func commandOf(in input) (string, error) {
	if _, one := in.field("command"); one != nil {
		if _, two := in.field("cmd"); two != nil {
			return "", errors.New("input.cmd: cannot be combined with command")
		}
	}
	command, err := in.must("command", "cmd")
	if err == nil && strings.TrimSpace(command) == "" {
		err = errors.New("input.command: is empty")
	}
	if err == nil && strings.ContainsRune(command, 0) {
		err = errors.New("input.command: contains a NUL byte")
	}
	return command, err
}

func (s *Set) bash(ctx context.Context, u *use) (string, error) {
	command, err := commandOf(u.in)
	if err != nil {
		return "", err
	}
	limit, err := u.in.number("timeout", bashTimeout, 1, maxBashTimeout)
	if err != nil {
		return "", err
	}
	if Background(u.call.Input) || u.call.Background {
		return s.startJob(command, u)
	}
	timeout := time.Duration(limit) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %v", errTimeout, timeout))
	defer cancel()
	var out output
	sink, done := s.streamOutput(u.call.ID, &out)
	err = s.confined(ctx, u, s.shell(command, u.call.Dir, sink), sink)
	done()
	return out.String(), err
}

// streamOutput returns the writer for a call's output, which keeps it and passes it on. Call
// done when the call has ended.
func (s *Set) streamOutput(id umpire.CallID, kept io.Writer) (sink io.Writer, done func()) {
	if s.options.Output == nil {
		return kept, func() {}
	}
	live := &stream{send: func(text string) { s.options.Output(id, text) }}
	return io.MultiWriter(kept, live), live.flushLast
}

// shell makes the command that runs a command line. Both its streams go to one place, in the
// order in which they were written.
func (s *Set) shell(command, dir string, out io.Writer) *exec.Cmd {
	//nolint:noctx // the context ends the whole process group, which exec cannot
	cmd := exec.Command(ShellName(), "-c", command)
	cmd.Dir = dir
	cmd.Env = commandEnv(s.options.Env)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = pipeGrace
	process.Own(cmd)
	return cmd
}

// ShellName is bash, whose language the decision reads, or the shell that exists.
func ShellName() string {
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "sh"
}

// Extra names the shell for calls of Bash, whose line is then judged as that shell reads it.
func (s *Set) Extra(name string) map[string]json.RawMessage {
	if name != "Bash" || filepath.Base(ShellName()) != "bash" {
		return nil
	}
	return map[string]json.RawMessage{umpire.ExtraShell: json.RawMessage(`"bash"`)}
}

// runGroup runs a command until it and its process group have ended. Once ctx is done, the group has grace to end.
// The error is the command's failure.
func runGroup(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g, err := process.Start(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	select {
	case err = <-g.Done:
	case <-ctx.Done():
		g.Stop(grace)
		return context.Cause(ctx)
	}
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s", exitText(exited))
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // a process that it left held its output open
	}
	return err
}

// exitText describes how a command ended.
func exitText(e *exec.ExitError) string {
	if code := e.ExitCode(); code >= 0 {
		return fmt.Sprintf("exit code %d", code)
	}
	return e.String() // the signal
}
