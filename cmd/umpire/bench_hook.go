package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/adapter"
)

// benchTimeout is how long a hook may take over one line before it counts as
// hung.
const benchTimeout = 20 * time.Second

// A benchHook is another program that judges. It is used by one goroutine.
type benchHook struct {
	command, format, dir string
	stderr               io.Writer
	timeout              time.Duration // 0 is benchTimeout

	// The process of format jsonl; nil while none runs.
	process *exec.Cmd
	cancel  context.CancelFunc
	in      io.WriteCloser
	answers chan inputLine // closed by the goroutine that reads, when output ends
	ended   chan struct{}  // closed when the process was waited for
}

func (h *benchHook) judge() benchJudge {
	if h.timeout == 0 {
		h.timeout = benchTimeout
	}
	if h.format == formatLines {
		return h.line
	}
	return h.once
}

// start prepares the command, which a shell reads.
func (h *benchHook) start(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.command)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/c", h.command)
	}
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+h.dir)
	cmd.WaitDelay = time.Second // a grandchild may hold the output open
	return cmd
}

// once starts the hook for one line.
func (h *benchHook) once(ctx context.Context, l *benchLine) benchAnswer {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	cmd := h.start(ctx)
	cmd.Stdin = bytes.NewReader(h.payload(l))
	var stdout limitedBuffer
	cmd.Stdout = &stdout
	err := cmd.Run()
	switch ended := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return benchAnswer{outcome: benchHung}
	case err != nil && !errors.As(err, &ended) || ended != nil && !ended.Exited():
		return benchAnswer{outcome: benchCrashed}
	}
	return h.read(stdout.Bytes(), cmd.ProcessState.ExitCode())
}

// read tells the verdict from output and exit code. The code 2 denies whatever
// the output says, as it does for the agents that start hooks.
func (h *benchHook) read(stdout []byte, code int) benchAnswer {
	verdict, said := benchVerdict(stdout)
	switch {
	case code == exitDenied:
		return benchAnswer{benchAnswered, umpire.Deny}
	case code == exitAsks && h.format == formatUmpire:
		return benchAnswer{benchAnswered, umpire.Ask}
	case code != exitDone:
		return benchAnswer{outcome: benchCrashed}
	case said:
		return benchAnswer{benchAnswered, verdict}
	}
	return benchAnswer{benchAnswered, umpire.Allow}
}

func (h *benchHook) payload(l *benchLine) []byte {
	event := map[string]any{"id": l.ID, "command": l.Command, "cwd": h.dir}
	if h.format == formatClaude {
		event = map[string]any{
			"session_id": "umpire-bench", "cwd": h.dir, "permission_mode": "default",
			"hook_event_name": adapter.ClaudePreToolUse.String(), "tool_name": "Bash", "tool_use_id": l.ID,
			"tool_input": map[string]string{"command": l.Command},
		}
	}
	text, err := json.Marshal(event)
	if err != nil {
		return nil // strings always marshal
	}
	return append(text, '\n')
}

// line asks the running process, starting it when there is none.
func (h *benchHook) line(ctx context.Context, l *benchLine) benchAnswer {
	if h.process == nil && h.launch() != nil {
		return benchAnswer{outcome: benchCrashed}
	}
	limit := time.NewTimer(h.timeout)
	defer limit.Stop()
	// A process that does not read would block the write; it is killed then, and
	// the write fails.
	go func(in io.Writer, text []byte) { _, _ = in.Write(text) }(h.in, h.payload(l))
	for {
		select {
		case got, ok := <-h.answers:
			if !ok {
				return benchAnswer{outcome: h.stop()}
			}
			if verdict, ok := verdictOfLine(got.text, l.ID); ok {
				return benchAnswer{benchAnswered, verdict}
			}
		case <-limit.C:
			h.stop()
			return benchAnswer{outcome: benchHung}
		case <-ctx.Done():
			h.stop()
			return benchAnswer{}
		}
	}
}

// verdictOfLine reads an answer; one to another line, or to none, is passed over.
func verdictOfLine(text []byte, id string) (umpire.Verdict, bool) {
	var answer struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.ID != id {
		return umpire.Deny, false
	}
	return benchVerdict(text)
}

// launch starts the process and the goroutine that reads its answers, which ends
// with the process's output.
func (h *benchHook) launch() error {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := h.start(ctx)
	cmd.Stderr = h.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return err
	}
	out, pipe := io.Pipe()
	cmd.Stdout = pipe
	if err := cmd.Start(); err != nil {
		cancel()
		return err
	}
	h.process, h.cancel, h.in = cmd, cancel, in
	h.answers, h.ended = make(chan inputLine), make(chan struct{})
	go readAnswers(ctx, out, h.answers)
	go func(ended chan<- struct{}) {
		defer close(ended)
		pipe.CloseWithError(cmd.Wait())
	}(h.ended)
	return nil
}

func readAnswers(ctx context.Context, r *io.PipeReader, answers chan<- inputLine) {
	defer close(answers)
	in := bufio.NewReader(r)
	for {
		text, err := readLine(in, maxLine)
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
		select {
		case answers <- inputLine{text, err}:
		case <-ctx.Done():
			_ = r.Close()
			return
		}
	}
}

// stop ends the process, if one runs, and says how it ended by itself.
func (h *benchHook) stop() benchOutcome {
	if h.process == nil {
		return benchMissing
	}
	_ = h.in.Close()
	h.cancel()
	for range h.answers { // a reader that waits to hand over ends too
	}
	<-h.ended
	state := h.process.ProcessState
	h.process = nil
	if state != nil && state.Success() {
		return benchMissing
	}
	return benchCrashed
}
