//go:build unix

package crash

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
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// A conversation is one folder with a scripted model, and the runners that continue it
// one after the other.
type conversation struct {
	*script

	home    *home
	name    string
	dir     string
	session umpire.SessionID // "" before it is known
	again   bool             // send a new message: the turn was stopped

	mu     sync.Mutex
	runner *exec.Cmd // that lives, or nil
	killed bool
	runs   int // number of runners so far
}

// newConversation makes the folder.
func newConversation(h *home, parent, name string, s *script) (*conversation, error) {
	c := &conversation{script: s, home: h, name: name, dir: filepath.Join(parent, name)}
	err := errors.Join(
		os.Mkdir(c.dir, 0o755),
		os.WriteFile(filepath.Join(c.dir, "mark"), []byte(mark), 0o755),
		os.WriteFile(filepath.Join(c.dir, "notes.txt"), []byte(notes), 0o644),
		os.WriteFile(c.scriptFile(), s.text, 0o644),
	)
	return c, err
}

// umpire's files are next to its working folder.
func (c *conversation) scriptFile() string { return c.dir + ".script.json" }

func (c *conversation) modelLog() string { return c.dir + ".model.jsonl" }

// play continues the conversation until the model's last reply.
func (c *conversation) play(ctx context.Context) error {
	for {
		over, err := c.look(ctx)
		if over || err != nil {
			return err
		}
		if err := c.run(ctx); err != nil {
			return fmt.Errorf("conversation %s: %w", c.name, err)
		}
	}
}

// look asks the gate how far the conversation is.
func (c *conversation) look(ctx context.Context) (over bool, err error) {
	sessions, err := c.home.sessionsIn(ctx, c.dir)
	if err != nil || len(sessions) == 0 {
		return false, err
	}
	s := sessions[0]
	c.session = s.ID
	events, err := c.events(ctx)
	replies := 0
	c.again = true // until the model has heard of the task
	for i := range events {
		switch events[i].Kind {
		case umpire.EventModelRequested:
			c.again = c.again && replies > 0 // the stopped turn ends only with the next reply
		case umpire.EventModelReplied:
			replies++
			c.again = false
		case umpire.EventBatchCancelled:
			c.again = true
		}
	}
	return replies > c.turns && s.State == umpire.SessionIdle, err
}

func (c *conversation) events(ctx context.Context) (events []umpire.Event, err error) {
	err = c.home.do(ctx, func(ctx context.Context, g *server.Client) error {
		events, err = g.Events(ctx, umpire.Filter{Session: c.session})
		return err
	})
	return events, err
}

// args are those with which the next runner is started.
func (c *conversation) args() []string {
	args := []string{"run", "--model", "script:" + c.scriptFile(), "--model-log", c.modelLog()}
	switch {
	case c.session == "":
		return append(args, "do what is to be done")
	case len(c.session)%2 == 0:
		args = append(args, "--continue")
	default:
		args = append(args, "--session", string(c.session))
	}
	if c.again {
		args = append(args, "go on")
	}
	return args
}

// run starts a runner and waits for its end.
func (c *conversation) run(ctx context.Context) error {
	g, err := c.home.ready(ctx)
	if err != nil {
		return err
	}
	cmd := c.home.command(ctx, c.dir, c.args()...)
	cmd.WaitDelay = patience
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	c.mu.Lock()
	c.runs++
	cmd.Env = append(cmd.Env, c.runnerMark()+strconv.Itoa(c.runs))
	err = cmd.Start()
	c.runner, c.killed = cmd, false
	c.mu.Unlock()
	if err != nil {
		return err
	}
	err = cmd.Wait()
	c.mu.Lock()
	killed := c.killed
	c.runner = nil
	c.mu.Unlock()
	if killed || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.ended(ctx, g, err, said.String())
}

// ended judges the end of a runner that was not killed: the script was finished, a
// person stopped the turn, or the gate was away.
func (c *conversation) ended(ctx context.Context, g *gate, err error, said string) error {
	if err == nil || over(g.gone) {
		return nil
	}
	for _, reason := range []string{"the turn was cancelled", "has no open calls"} {
		if strings.Contains(said, reason) {
			return nil
		}
	}
	if c.home.forgives(said) {
		pause(ctx, g)
		return nil
	}
	return fmt.Errorf("umpire %s: %w\n%s", strings.Join(c.args(), " "), err, said)
}

// kill sends SIGKILL to the runner, and reports whether there was one.
func (c *conversation) kill() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runner == nil || c.killed {
		return false
	}
	c.killed = c.runner.Process.Signal(syscall.SIGKILL) == nil
	return c.killed
}

// runnerMark is set for a runner and all its processes, with its number. It is a variable that
// umpire ignores, but that the sandbox's helper keeps.
func (c *conversation) runnerMark() string { return "GOCOVERDIR=" + c.dir + "." }

// awaitEnds waits until no commands of ended runners are left. A command dies with its runner, but on
// a busy machine a moment later.
func (c *conversation) awaitEnds(ctx context.Context, g *gate) error {
	c.mu.Lock()
	last := c.runs
	if c.runner != nil && !c.killed {
		last--
	}
	c.mu.Unlock()
	for c.hasRunning(last) {
		pause(ctx, g)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// hasRunning reports whether a process of the first runners still runs. A process that is exiting
// no longer has an environment.
func (c *conversation) hasRunning(runners int) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	return slices.ContainsFunc(all, func(name string) bool {
		text, _ := os.ReadFile(name) // the process may be gone, or another user's
		_, after, _ := strings.Cut("\x00"+string(text), "\x00"+c.runnerMark())
		number, _, _ := strings.Cut(after, "\x00")
		n, err := strconv.Atoi(number)
		return err == nil && n <= runners
	})
}

// marked are the ids of the calls that marked, in the order in which they did.
func (c *conversation) marked() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, "effects"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// effectsOf counts the effects of a call.
func (c *conversation) effectsOf(p *planned) (int, error) {
	if p.file != "" {
		text, err := os.ReadFile(p.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0, nil
		case err == nil && string(text) != string(p.id):
			err = fmt.Errorf("%s holds %q", p.file, text)
		}
		return 1, err
	}
	n := 0
	all, err := c.marked()
	for _, id := range all {
		if id == string(p.id) {
			n++
		}
	}
	return n, err
}
