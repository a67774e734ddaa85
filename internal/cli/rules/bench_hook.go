package rules

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
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host"
)

// hookTimeout is how long a hook may take over one line before it counts as
// hung.
const hookTimeout = 20 * time.Second

// maxHookOutput limits the stored output of a hook, in bytes.
const maxHookOutput = 64 << 10

// The exit codes of hooks.
const (
	codeDone   = 0
	codeDenied = 2
	codeAsks   = 3
)

// A Format is the protocol of a hook.
type Format string

// The formats.
const (
	FormatClaude Format = "claude" // one process a line, with Claude Code's event
	FormatUmpire Format = "umpire" // one process a line, with {"id","command","cwd"}
	FormatLines  Format = "jsonl"  // one process for all lines
)

// Formats are the ways to ask a hook; the first is the usual one.
var Formats = []Format{FormatClaude, FormatUmpire, FormatLines}

// A hookJudge is another program that judges. It is used by one goroutine, which
// closes it in the end. The fields are set before its first use.
type hookJudge struct {
	Command string        // a line for the shell
	Format  Format        // one of Formats
	Dir     string        // its working directory, and that of the commands
	Stderr  io.Writer     // error output of a process of FormatLines; nil drops it
	Timeout time.Duration // for one line; 0 is 20 seconds

	// The process of FormatLines; nil if it is not running.
	process *exec.Cmd
	cancel  context.CancelFunc
	in      io.WriteCloser
	answers chan strictjson.Line // closed by the goroutine that reads, when output ends
	ended   chan struct{}        // closed when the process was waited for
}

// askFor is a lineJudge: it asks the hook for the line, in its format.
func (h *hookJudge) askFor(ctx context.Context, l *Line) Answer {
	if h.Format == FormatLines {
		return h.askProcess(ctx, l)
	}
	return h.runOnce(ctx, l)
}

// Close ends the process, if one runs. Judging again starts another.
func (h *hookJudge) Close() { h.stop() }

func (h *hookJudge) timeout() time.Duration {
	if h.Timeout == 0 {
		return hookTimeout
	}
	return h.Timeout
}

// newCommand prepares the command, which a shell reads.
func (h *hookJudge) newCommand(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.Command)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/c", h.Command)
	}
	cmd.Dir = h.Dir
	cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+h.Dir)
	cmd.WaitDelay = time.Second // a grandchild may hold the output open
	return cmd
}

// runOnce starts the hook for one line.
func (h *hookJudge) runOnce(ctx context.Context, l *Line) Answer {
	ctx, cancel := context.WithTimeout(ctx, h.timeout())
	defer cancel()
	cmd := h.newCommand(ctx)
	cmd.Stdin = bytes.NewReader(h.payload(l))
	var stdout beginningOf
	cmd.Stdout = &stdout
	err := cmd.Run()
	switch ended := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return Answer{Outcome: Hung}
	case err != nil && !errors.As(err, &ended) || ended != nil && !ended.Exited():
		return Answer{Outcome: Crashed}
	}
	return h.readVerdict(stdout.Bytes(), cmd.ProcessState.ExitCode())
}

// readVerdict returns the verdict from a hook's output and exit code. Exit code 2
// denies regardless of the output, as it does for the agents that start hooks.
func (h *hookJudge) readVerdict(stdout []byte, code int) Answer {
	verdict, said := verdictIn(stdout)
	switch {
	case code == codeDenied:
		return Answer{Outcome: Answered, Verdict: umpire.Deny}
	case code == codeAsks && h.Format == FormatUmpire:
		return Answer{Outcome: Answered, Verdict: umpire.Ask}
	case code != codeDone:
		return Answer{Outcome: Crashed}
	case said:
		return Answer{Outcome: Answered, Verdict: verdict}
	}
	return Answer{Outcome: Answered, Verdict: umpire.Allow}
}

func (h *hookJudge) payload(l *Line) []byte {
	event := map[string]any{"id": l.ID, "command": l.Command, "cwd": h.Dir}
	if h.Format == FormatClaude {
		event = map[string]any{
			"session_id": "umpire-bench", "cwd": h.Dir, "permission_mode": "default",
			"hook_event_name": host.BeforeTool.String(), "tool_name": "Bash", "tool_use_id": l.ID,
			"tool_input": map[string]string{"command": l.Command},
		}
	}
	text, err := json.Marshal(event)
	if err != nil {
		return nil // strings always marshal
	}
	return append(text, '\n')
}

// askProcess asks the running process, starting it if necessary.
func (h *hookJudge) askProcess(ctx context.Context, l *Line) Answer {
	if h.process == nil && h.launch() != nil {
		return Answer{Outcome: Crashed}
	}
	limit := time.NewTimer(h.timeout())
	defer limit.Stop()
	// Kill a process that does not read, or the write would block. The write then
	// fails.
	go func(in io.Writer, text []byte) { _, _ = in.Write(text) }(h.in, h.payload(l))
	for {
		select {
		case got, ok := <-h.answers:
			if !ok {
				return Answer{Outcome: h.stop()}
			}
			if verdict, ok := verdictOfLine(got.Text, l.ID); ok {
				return Answer{Outcome: Answered, Verdict: verdict}
			}
		case <-limit.C:
			h.stop()
			return Answer{Outcome: Hung}
		case <-ctx.Done():
			h.stop()
			return Answer{}
		}
	}
}

// verdictOfLine reads an answer. It skips answers to other lines and those without an id.
func verdictOfLine(text []byte, id string) (umpire.Verdict, bool) {
	var answer struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.ID != id {
		return umpire.Deny, false
	}
	return verdictIn(text)
}

// launch starts the process and the goroutine that reads its answers, which ends
// with the process's output.
func (h *hookJudge) launch() error {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := h.newCommand(ctx)
	cmd.Stderr = h.Stderr
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
	h.answers, h.ended = make(chan strictjson.Line), make(chan struct{})
	go readAnswers(ctx, out, h.answers)
	go func(ended chan<- struct{}) {
		defer close(ended)
		pipe.CloseWithError(cmd.Wait())
	}(h.ended)
	return nil
}

func readAnswers(ctx context.Context, r *io.PipeReader, answers chan<- strictjson.Line) {
	defer close(answers)
	in := bufio.NewReader(r)
	for {
		text, err := strictjson.ReadLine(in, strictjson.MaxLine)
		if err != nil && !errors.Is(err, strictjson.ErrLineTooLong) {
			return
		}
		select {
		case answers <- strictjson.Line{Text: text, Err: err}:
		case <-ctx.Done():
			_ = r.Close()
			return
		}
	}
}

// stop ends the process, if it is running, and returns how it ended.
func (h *hookJudge) stop() Outcome {
	if h.process == nil {
		return Missing
	}
	_ = h.in.Close()
	h.cancel()
	for range h.answers { // a reader that waits to hand over ends too
	}
	<-h.ended
	state := h.process.ProcessState
	h.process = nil
	if state != nil && state.Success() {
		return Missing
	}
	return Crashed
}

// A beginningOf is a buffer that keeps the first maxHookOutput bytes and drops the rest.
type beginningOf struct{ bytes.Buffer }

// Write never fails, because an error would stop a chatty program.
func (b *beginningOf) Write(p []byte) (int, error) {
	if room := maxHookOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
