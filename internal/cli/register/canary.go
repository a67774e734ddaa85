package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hook"
	"github.com/umpirehq/umpire/internal/client"
	"github.com/umpirehq/umpire/internal/host"
)

// canaryTimeout bounds one canary; a healthy hook takes milliseconds.
const canaryTimeout = 20 * time.Second

// slowCanary is when people begin to feel the hook at every call.
const slowCanary = 500 * time.Millisecond

// maxCanaryOutput bounds what is kept of a hook's output.
const maxCanaryOutput = 64 << 10

// A canaryAnswer is what a hook left behind.
type canaryAnswer struct {
	decision       string
	stdout, stderr []byte
	exit           int
	took           time.Duration
	err            error
}

// canary starts the registered hook as Claude Code would.
func (d *doctor) canary(ctx context.Context, r registered) {
	gate := d.runningGate(ctx)
	d.session, d.held = "umpire-doctor-"+rand.Text(), gate != nil
	if gate != nil {
		app.GateCloser(gate)()
	}
	defer d.endCanary(ctx)
	denied := d.askHook(ctx, r, "rm -rf /")
	switch {
	case denied.err != nil:
		d.fail("canary", "umpire init claude", "%s: the hook does not answer: %v", r.where(), denied.err)
		return
	case denied.decision != "deny" || denied.exit != app.ExitDenied || len(bytes.TrimSpace(denied.stderr)) == 0:
		d.fail("canary", "umpire init claude", "%s: `rm -rf /` is not denied: %s", r.where(), denied)
		return
	}
	d.ok("canary", "`rm -rf /` is denied (%s)", roundMilli(denied.took))
	allowed := d.askHook(ctx, r, "ls")
	switch {
	case allowed.err != nil:
		d.fail("canary", "umpire init claude", "%s: the hook does not answer: %v", r.where(), allowed.err)
	case allowed.decision == "allow" && allowed.took > slowCanary:
		d.warn("canary", "umpire status", "`ls` is allowed, but slowly (%s)", roundMilli(allowed.took))
	case allowed.decision == "allow":
		d.ok("canary", "`ls` is allowed (%s)", roundMilli(allowed.took))
	case d.strict(ctx):
		d.ok("canary", "`ls`: %s, as the mode or a rule wants it (%s)", allowed, roundMilli(allowed.took))
	default:
		d.fail("canary", "umpire check ls", "%s: `ls` is not allowed: %s", r.where(), allowed)
	}
}

// strict reports whether this umpire too would not let `ls` pass.
func (d *doctor) strict(ctx context.Context) bool {
	out, err := hook.NewResponder(d.App).Answer(ctx, host.Question{
		Agent: "claude", Payload: canaryPayload(d.canaryDir(), d.session, "ls"), Dir: d.canaryDir(),
		Deadline: canaryTimeout,
	})
	return err == nil && DecisionOf(out.Stdout) != "allow"
}

// askHook starts the hook with one call and waits for its answer.
func (d *doctor) askHook(ctx context.Context, r registered, command string) canaryAnswer {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	cmd := d.hookProcess(ctx, r)
	cmd.Stdin = bytes.NewReader(canaryPayload(cmd.Dir, d.session, command))
	var stdout, stderr limitedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	started := time.Now()
	err := cmd.Run()
	answer := canaryAnswer{
		stdout: stdout.Bytes(), stderr: stderr.Bytes(), took: time.Since(started),
		decision: DecisionOf(stdout.Bytes()), exit: cmd.ProcessState.ExitCode(),
	}
	if ended := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &ended) || !ended.Exited()) {
		answer.err = err
	}
	return answer
}

// runningGate dials the gate that would hold questions, or returns nil.
func (d *doctor) runningGate(ctx context.Context) *client.Client {
	c, err := d.ReadUserConfig()
	if err != nil {
		return nil
	}
	running, err := d.App.DialGate(ctx, c.Listen, app.AgentCredential)
	if err != nil {
		return nil
	}
	return running
}

// endCanary ends the canaries' session, should a gate have opened one.
func (d *doctor) endCanary(ctx context.Context) {
	gate := d.runningGate(ctx)
	if gate == nil {
		return
	}
	defer app.GateCloser(gate)()
	err := gate.End(ctx, umpire.SessionID(d.session), "umpire doctor is done")
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		d.warn("canary", "umpire sessions", "the canaries' session could not be ended: %v", err)
	}
}

// hookProcess is the command as it is registered: with arguments it is started
// as it stands, without them a shell starts it.
func (d *doctor) hookProcess(ctx context.Context, r registered) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.Command, r.Args...)
	if r.Shell != "" && runtime.GOOS != "windows" {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-c", r.Shell)
	}
	cmd.Dir = d.canaryDir()
	cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+cmd.Dir)
	if d.held {
		cmd.Env = append(cmd.Env, "UMPIRE_HEADLESS=1")
	}
	return cmd
}

// canaryDir is the project's root, or the folder at hand.
func (d *doctor) canaryDir() string {
	if p, err := d.FindProject(d.Dir); err == nil {
		return p.Root
	}
	return d.Dir
}

// canaryPayload is a call as Claude Code announces it.
func canaryPayload(dir, session, command string) []byte {
	payload, err := json.Marshal(map[string]any{
		"session_id": session, "cwd": dir, "permission_mode": "default",
		"hook_event_name": host.BeforeTool.String(), "tool_name": "Bash",
		"tool_use_id": "umpire-doctor-" + rand.Text(),
		"tool_input":  map[string]string{"command": command},
	})
	if err != nil {
		return nil // strings always marshal
	}
	return payload
}

// DecisionOf reads the word in an answer; "" when there is none. Claude Code takes only one
// line of JSON for an answer.
func DecisionOf(stdout []byte) string {
	var answer struct {
		Output struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(stdout, &answer) != nil || answer.Output.Event != host.BeforeTool.String() {
		return ""
	}
	return answer.Output.Decision
}

// String says it to people.
func (c canaryAnswer) String() string {
	if c.decision == "" {
		return fmt.Sprintf("no decision, exit code %d", c.exit)
	}
	return fmt.Sprintf("%s, exit code %d", c.decision, c.exit)
}

// A limitedBuffer keeps the beginning of what is written and drops the rest.
type limitedBuffer struct{ bytes.Buffer }

// Write never fails, so a chatty program is not stopped by us.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxCanaryOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
