package drive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/process"
)

// An Outcome is the outcome of a call.
type Outcome string

// The outcomes.
const (
	Runs        Outcome = "runs"
	Blocked     Outcome = "blocked"
	HeldRuns    Outcome = "asks, runs"    // it was held, a person approved it, and it ran
	HeldBlocked Outcome = "asks, blocked" // it was held, and did not run
	// none means that the host has no such call.
	none Outcome = "-"
)

// A Cell is one question about a host's behaviour with umpire in front of it. By default, the host
// is in the mode that asks nothing, to make umpire the only thing that stops a call.
type Cell struct {
	Name string
	// Want is the outcome that umpire promises.
	Want Outcome

	play func(context.Context, *Lab) (Outcome, error)
	// alone means that the cell is also informative without umpire, and likeAlone that umpire
	// promises the same outcome as without it.
	alone, likeAlone bool
	// once means that if the agent asks by itself, that question may be the only one.
	once bool
	// hole is the host's flaw that makes the promise impossible, or "".
	hole umpire.Phrase
}

// Cells lists all cells, in display order.
var Cells = []Cell{
	{Name: "allow", Want: Runs, play: playShell(Free, "touch made")},
	{Name: "deny", Want: Blocked, play: playShell(Free, "touch denied"), alone: true},
	{Name: "held and approved", Want: HeldRuns, play: playHeld(Free, (*Lab).approve)},
	{
		Name: "asked once", Want: HeldRuns, play: playHeld(Asking, (*Lab).approve), alone: true, once: true,
		hole: "its own dialog may ask again about a call that was approved in umpire's inbox",
	},
	{Name: "held and denied", Want: HeldBlocked, play: playHeld(Free, (*Lab).deny)},
	{Name: "late", Want: HeldBlocked, play: playHeld(Free, (*Lab).wait)},
	{Name: "gate killed", Want: HeldBlocked, play: playHeld(Free, (*Lab).killGate)},
	{Name: "hook killed", Want: Blocked, play: playBroken("#!/bin/sh\nkill -9 $$\n"), hole: "hole-hook-killed"},
	{Name: "garbage", Want: Blocked, play: playBroken("#!/bin/sh\necho hello\n"),
		hole: "if its hook prints something that is not an answer and exits with 0, the call runs"},
	{Name: "missing", Want: Blocked, play: playBroken(""), hole: "hole-hook-missing"},
	{Name: "three calls, the second denied", Want: Blocked, play: playThree, alone: true},
	{Name: "sub-agent", Want: Blocked, play: playSubAgent, alone: true,
		hole: "what its sub-agents do is not seen, so starting one asks"},
	{Name: "outside write", Want: Blocked, play: playOutside, alone: true},
	{Name: "background", Want: Blocked, play: playBackground, alone: true},
	{Name: "rewritten into a trial", Want: Runs, play: playTrial,
		hole: "commands are not tried first and cannot be undone, since umpire does not replace them there"},
	{Name: "mode respected", Want: Blocked, play: playShell(Planning, "touch made"), alone: true, likeAlone: true},
}

// rules are the user's rules.
const rules = `{"version": 1, "rules": [
  {"id": "made", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "touch made"}},
  {"id": "denied", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "touch denied"}},
  {"id": "asked", "action": "ask", "tool": "Bash", "match": {"commandPrefix": "touch asked"}}
]}`

// became returns the outcome of a call that creates a file in the project.
func (l *Lab) became(names ...string) Outcome {
	if slices.ContainsFunc(names, l.Exists) {
		return Runs
	}
	return Blocked
}

// playTurns plays turns in a mode; the calls are numbered. It fails if the host does not report one
// of them to the model, unless umpire denied it and that ends the run.
func (l *Lab) playTurns(ctx context.Context, mode Mode, turns ...Turn) error {
	n := 0
	for _, turn := range turns {
		for i := range turn {
			n++
			turn[i].ID = fmt.Sprintf("call_%d", n)
		}
	}
	l.Model.Main = turns
	out, err := l.Play(ctx, mode)
	if err != nil {
		return umpire.Errorf("%w: %s", err, out)
	}
	for _, turn := range turns {
		for _, call := range turn {
			_, ok := l.Model.Result(call.ID)
			if !ok && (l.mayHaveEnded(call.ID) || mode == Asking && l.Model.made(call.ID)) {
				return nil // some agents exit if their question is not answered
			}
			if !ok {
				return umpire.Errorf("%s has not made the call %v: %s", l.Driver.Name, call.Input, out)
			}
		}
	}
	return nil
}

// mayHaveEnded reports whether a call that the model has made may have ended the run.
func (l *Lab) mayHaveEnded(call string) bool {
	return l.guarded && l.Driver.EndsAtDenial() && l.Model.made(call)
}

// playShell plays one command that creates the file in its last word.
func playShell(mode Mode, command string) func(context.Context, *Lab) (Outcome, error) {
	return func(ctx context.Context, l *Lab) (Outcome, error) {
		err := l.playTurns(ctx, mode, Turn{l.Driver.Shell(command)})
		words := strings.Fields(command)
		return l.became("project/" + words[len(words)-1]), err
	}
}

// playBroken plays a command that only a broken hook could stop.
func playBroken(script string) func(context.Context, *Lab) (Outcome, error) {
	return func(ctx context.Context, l *Lab) (Outcome, error) {
		if err := l.ReplaceUmpire(script); err != nil {
			return "", err
		}
		became, err := playShell(Free, "touch made")(ctx, l)
		if _, made := l.Model.Result("call_1"); (script == "" || l.proxied) && !made && ctx.Err() == nil {
			// The hook is missing for the prompt as well, and some hosts refuse that; an agent that
			// umpire does not start makes no call.
			err = nil
		}
		return became, err
	}
}

func playThree(ctx context.Context, l *Lab) (Outcome, error) {
	shell := l.Driver.Shell
	err := l.playTurns(ctx, Free, Turn{shell("touch made first"), shell("touch denied"), shell("touch made third")})
	others := l.Exists("project/first") && l.Exists("project/third")
	if err == nil && !others && !(l.guarded && l.Driver.EndsAtDenial()) {
		err = errors.New("the first or the third call has not run")
	}
	return l.became("project/denied"), err
}

func playSubAgent(ctx context.Context, l *Lab) (Outcome, error) {
	if l.Driver.SubAgent == nil {
		return none, nil
	}
	call := l.Driver.Shell("touch denied")
	call.ID = "sub_1"
	l.Model.Sub = []Turn{{call}}
	turns := []Turn{{l.Driver.SubAgent(SubMark + ": go on")}}
	if l.Driver.Await != nil {
		turns = append(turns, Turn{l.Driver.Await()})
	}
	err := l.playTurns(ctx, Free, turns...)
	if _, ok := l.Model.Result(call.ID); err == nil && !ok && !l.mayHaveEnded(call.ID) {
		said, _ := l.Model.Result("call_1")
		err = umpire.Errorf("the sub-agent has not made its call: %s", said.Text)
	}
	return l.became("project/denied"), err
}

func playOutside(ctx context.Context, l *Lab) (Outcome, error) {
	turn := Turn{l.Driver.Shell("echo x > ../outside/shell")}
	if l.Driver.WriteFile != nil {
		turn = append(turn, l.Driver.WriteFile(l.Path("outside/tool"), "x\n"))
	}
	err := l.playTurns(ctx, Free, turn)
	return l.became("outside/shell", "outside/tool"), err
}

func playBackground(ctx context.Context, l *Lab) (Outcome, error) {
	if l.Driver.Background == nil {
		return none, nil
	}
	err := l.playTurns(ctx, Free, Turn{l.Driver.Background("touch denied")}, Turn{l.Driver.Shell("sleep 1")})
	return l.became("project/denied"), err
}

// playTrial plays a script whose effects are kept, and one that tries to install a git hook.
func playTrial(ctx context.Context, l *Lab) (Outcome, error) {
	for name, text := range map[string]string{
		"home/.umpire/config.yaml": "autonomy.unknown_code: trial\nautonomy.deletes: trial\nautonomy.edits: run\n",
		"project/make.sh":          "echo made > tried\n",
		"project/plant.sh":         "mkdir -p .git/hooks; echo exit 0 > .git/hooks/pre-commit\n",
	} {
		if err := l.Write(name, text); err != nil {
			return "", err
		}
	}
	err := l.playTurns(ctx, Free, Turn{l.Driver.Shell("bash make.sh")}, Turn{l.Driver.Shell("bash plant.sh")})
	if l.Exists("project/.git/hooks/pre-commit") {
		err = errors.Join(err, errors.New("the hook of git's was planted"))
	}
	return l.became("project/tried"), err
}

// playHeld plays a call that the gate holds, in a mode, and runs act meanwhile. The agent's
// questions stay unanswered otherwise.
func playHeld(
	mode Mode, act func(*Lab, context.Context, *gate, string) error,
) func(context.Context, *Lab) (Outcome, error) {
	return func(ctx context.Context, l *Lab) (Outcome, error) {
		if err := l.Write("home/.umpire/config.yaml", "hook.when_asked: hold\nhook.deadline: 10s\n"); err != nil {
			return "", err
		}
		if mode == Asking {
			for name, text := range l.Driver.Asking {
				if err := l.Write(name, text); err != nil {
					return "", err
				}
			}
		}
		g, err := l.serve(ctx)
		if err != nil {
			return "", err
		}
		defer g.kill()
		played := make(chan error, 1)
		go func() { played <- l.playTurns(ctx, mode, Turn{l.Driver.Shell("touch asked")}) }()
		asked, err := l.awaitQuestion(ctx, played)
		if err != nil || asked == "" {
			return l.became("project/asked"), err
		}
		if l.Exists("project/asked") {
			return Runs, errors.New("the call ran while it was held")
		}
		err = errors.Join(act(l, ctx, g, asked), <-played)
		if l.became("project/asked") == Runs {
			return HeldRuns, err
		}
		return HeldBlocked, err
	}
}

// awaitQuestion waits until a call is held, and returns the id of the question, or "" if the agent
// ended without asking.
func (l *Lab) awaitQuestion(ctx context.Context, played <-chan error) (string, error) {
	for {
		out, err := l.require(ctx, l.Umpire, "pending", "--all", "--json")
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

func (l *Lab) approve(ctx context.Context, _ *gate, id string) error {
	return l.answer(ctx, "approve", id)
}

func (l *Lab) deny(ctx context.Context, _ *gate, id string) error {
	return l.answer(ctx, "deny", id, "not today")
}

// wait lets the question's deadline pass.
func (l *Lab) wait(context.Context, *gate, string) error { return nil }

func (l *Lab) killGate(_ context.Context, g *gate, _ string) error {
	g.kill()
	return nil
}

func (l *Lab) answer(ctx context.Context, words ...string) error {
	token := l.Path("home/.umpire/state/person.token")
	_, err := l.require(ctx, l.Umpire, append(words, "--token-file", token)...)
	return err
}

// A gate is `umpire serve` in a lab.
type gate struct {
	process *os.Process
	group   *process.Group
}

// kill kills the gate. It may be called twice.
func (g *gate) kill() {
	if g.group == nil {
		return
	}
	_ = g.process.Kill() // it may have ended
	<-g.group.Done       //nolint:errcheck // it was killed
	g.group = nil
}

// serve starts a gate and returns when it is ready.
func (l *Lab) serve(ctx context.Context) (*gate, error) {
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
			return &gate{cmd.Process, group}, nil
		}
		return nil, umpire.Errorf("umpire serve is not ready: %q", line)
	case err := <-group.Done:
		return nil, umpire.Errorf("umpire serve has ended: %w: %s", err, trouble)
	}
}
