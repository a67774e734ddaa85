package drive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// A Gate is `umpire serve` in a lab.
type Gate struct {
	process *os.Process
	group   *process.Group
}

// Kill kills the gate. It may be called twice.
func (g *Gate) Kill() {
	if g.group == nil {
		return
	}
	_ = g.process.Kill() // it may have ended
	<-g.group.Done       //nolint:errcheck // it was killed
	g.group = nil
}

// serve starts a gate and returns when it is ready.
func (l *Lab) serve(ctx context.Context) (*Gate, error) {
	reader, writer := io.Pipe()
	cmd := l.Command(ctx, l.Umpire, "serve")
	process.Own(cmd)
	setUser(cmd, l.User)
	trouble := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = writer, trouble
	group, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(reader).ReadString('\n') // an empty line means not ready
		ready <- line
		_, _ = io.Copy(io.Discard, reader) // it ends with the gate
	}()
	select {
	case line := <-ready:
		if strings.Contains(line, "ready") {
			return &Gate{cmd.Process, group}, nil
		}
		return nil, umpire.Errorf("umpire serve is not ready: %q", line)
	case err := <-group.Done:
		return nil, umpire.Errorf("umpire serve has ended: %w: %s", err, trouble)
	}
}

// Hold starts a gate, and plays a call of "touch asked". As soon as the gate holds the call, act gets the gate
// and the id of the question. The agent's own questions stay unanswered.
func (l *Lab) Hold(
	ctx context.Context, play func(context.Context) error, act func(context.Context, *Gate, string) error,
) (Outcome, error) {
	if err := l.Write("home/.umpire/config.yaml", "hook.when_asked: hold\nhook.deadline: 10s\n"); err != nil {
		return "", err
	}
	g, err := l.serve(ctx)
	if err != nil {
		return "", err
	}
	defer g.Kill()
	played := make(chan error, 1)
	go func() { played <- play(ctx) }()
	asked, err := l.awaitQuestion(ctx, played)
	if err != nil || asked == "" {
		return l.Became("project/asked"), err
	}
	if l.Exists("project/asked") {
		return Runs, errors.New("the call ran while it was held")
	}
	err = errors.Join(act(ctx, g, asked), <-played)
	if l.Became("project/asked") == Runs {
		return HeldRuns, err
	}
	return HeldBlocked, err
}

// awaitQuestion waits until a call is held, and returns the id of the question, or "" if the agent
// ended without asking.
func (l *Lab) awaitQuestion(ctx context.Context, played <-chan error) (string, error) {
	for {
		out, err := l.Require(ctx, l.Umpire, "pending", "--all", "--json")
		if err != nil {
			return "", err
		}
		var pending []umpire.Pending
		if err := json.Unmarshal([]byte(out), &pending); err != nil {
			return "", err
		}
		if len(pending) > 0 {
			return string(pending[0].Request), nil
		}
		select {
		case err := <-played:
			return "", err
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
