package hosts

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/server"
)

// canaryTimeout bounds one canary; a healthy hook takes milliseconds.
const canaryTimeout = 20 * time.Second

// maxCanaryOutput limits the stored output of a hook, in bytes.
const maxCanaryOutput = 64 << 10

// A canary tries the registered hooks with two calls: one that must be denied, and a harmless
// one. The calls are never run.
type canary struct {
	*app.App
	host    *host.Host
	session string // of the canaries
	held    bool   // a gate runs: it must not ask people about a canary
}

// newCanary returns a canary for the hooks of one host. End ends its session if a gate has opened one.
func newCanary(ctx context.Context, a *app.App, h *host.Host) *canary {
	c := &canary{App: a, host: h, session: "umpire-doctor-" + rand.Text()}
	if gate := c.runningGate(ctx); gate != nil {
		c.held = true
		app.GateCloser(gate)()
	}
	return c
}

// A canaryAnswer is the result of a hook.
type canaryAnswer struct {
	Decision string // allow, deny or ask; "" if the hook did not decide
	Denied   bool   // in every way that the host listens to
	Took     time.Duration
	Err      error

	exit int
}

// String describes the answer for people.
func (c canaryAnswer) String() string {
	if c.Decision == "" {
		return fmt.Sprintf("no decision, exit code %d", c.exit)
	}
	return fmt.Sprintf("%s, exit code %d", c.Decision, c.exit)
}

// Ask starts the hook with one call and waits for its answer.
func (c *canary) Ask(ctx context.Context, r setup.Registration, command string) canaryAnswer {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	cmd := c.process(ctx, r)
	cmd.Stdin = bytes.NewReader(c.Payload(command))
	var stdout, stderr limitedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	started := time.Now()
	err := cmd.Run()
	answer := canaryAnswer{Took: time.Since(started), exit: cmd.ProcessState.ExitCode()}
	answer.Decision = c.host.DecisionOf(stdout.Bytes(), answer.exit)
	answer.Denied = c.host.Denies(stdout.Bytes(), stderr.Bytes(), answer.exit)
	if ended := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &ended) || !ended.Exited()) {
		answer.Err = err
	}
	return answer
}

// runningGate dials the gate that would hold questions, or returns nil.
func (c *canary) runningGate(ctx context.Context) *server.Client {
	conf, err := c.ReadUserConfig()
	if err != nil {
		return nil
	}
	running, err := c.DialGate(ctx, conf.Listen, app.AgentCredential)
	if err != nil {
		return nil
	}
	return running
}

// End ends the canaries' session, should a gate have opened one.
func (c *canary) End(ctx context.Context) error {
	gate := c.runningGate(ctx)
	if gate == nil {
		return nil
	}
	defer app.GateCloser(gate)()
	err := gate.Sessions().End(ctx, umpire.SessionID(c.session), "umpire doctor is done")
	if errors.Is(err, umpire.ErrNotFound) {
		return nil
	}
	return err
}

// process returns the registered command. With arguments it is started directly,
// without them by a shell.
func (c *canary) process(ctx context.Context, r setup.Registration) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.Command, r.Args...)
	if r.Shell != "" && runtime.GOOS != "windows" {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-c", r.Shell)
	}
	cmd.Dir = c.Folder()
	cmd.Env = os.Environ()
	if c.host.Project != "" {
		cmd.Env = append(cmd.Env, c.host.Project+"="+cmd.Dir)
	}
	if c.held {
		cmd.Env = append(cmd.Env, "UMPIRE_HEADLESS=1")
	}
	return cmd
}

// Folder is the project's root, or the folder at hand.
func (c *canary) Folder() string {
	if p, err := c.FindProject(c.Dir); err == nil {
		return p.Root
	}
	return c.Dir
}

// Payload is a call as the host announces it.
func (c *canary) Payload(command string) []byte {
	return c.host.Sample(c.session, "umpire-doctor-"+rand.Text(), c.Folder(), command)
}

// A limitedBuffer keeps the first maxCanaryOutput bytes and drops the rest.
type limitedBuffer struct{ bytes.Buffer }

// Write never fails, because an error would stop a chatty program.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxCanaryOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
