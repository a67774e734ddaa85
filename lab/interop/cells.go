package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// none is the outcome in a host without such a call.
const none drive.Outcome = "-"

// A cell is one question about a host's behaviour with umpire in front of it. By default, the host
// is in the mode that asks nothing, to make umpire the only thing that stops a call.
type cell struct {
	Name string
	// Want is the outcome that umpire promises.
	Want drive.Outcome

	play func(context.Context, *Lab) (drive.Outcome, error)
	// alone means that the cell is also informative without umpire, and likeAlone that umpire
	// promises the same outcome as without it.
	alone, likeAlone bool
	// once means that if the agent asks by itself, that question may be the only one.
	once bool
	// hole is the host's flaw that makes the promise impossible, or "".
	hole umpire.Phrase
}

// cells lists all cells, in display order.
var cells = []cell{
	{Name: "allow", Want: drive.Runs, play: playShell(freeMode, "touch made")},
	{Name: "deny", Want: drive.Blocked, play: playShell(freeMode, "touch denied"), alone: true},
	{Name: "held and approved", Want: drive.HeldRuns, play: playHeld(freeMode, (*Lab).approve)},
	{
		Name: "asked once", Want: drive.HeldRuns, play: playHeld(askingMode, (*Lab).approve), alone: true, once: true,
		hole: "its own dialog may ask again about a call that was approved in umpire's inbox",
	},
	{Name: "held and denied", Want: drive.HeldBlocked, play: playHeld(freeMode, (*Lab).deny)},
	{Name: "late", Want: drive.HeldBlocked, play: playHeld(freeMode, (*Lab).wait)},
	{Name: "gate killed", Want: drive.HeldBlocked, play: playHeld(freeMode, (*Lab).killGate)},
	{Name: "hook killed", Want: drive.Blocked, play: playBroken("#!/bin/sh\nkill -9 $$\n")},
	{Name: "garbage", Want: drive.Blocked, play: playBroken("#!/bin/sh\necho hello\n"),
		hole: "if its hook prints something that is not an answer and exits with 0, the call runs"},
	{Name: "missing", Want: drive.Blocked, play: playBroken("")},
	{Name: "three calls, the second denied", Want: drive.Blocked, play: playThree, alone: true},
	{Name: "sub-agent", Want: drive.Blocked, play: playSubAgent, alone: true,
		hole: "what its sub-agents do is not seen, so starting one asks"},
	{Name: "outside write", Want: drive.Blocked, play: playOutside, alone: true},
	{Name: "background", Want: drive.Blocked, play: playBackground, alone: true},
	{Name: "rewritten into a trial", Want: drive.Runs, play: playTrial,
		hole: "commands are not tried first and cannot be undone, since umpire does not replace them there"},
	{
		Name: "mode respected", Want: drive.Blocked, play: playShell(planningMode, "touch made"), alone: true,
		likeAlone: true,
	},
}

// playShell plays one command that creates the file in its last word.
func playShell(mode agentMode, command string) func(context.Context, *Lab) (drive.Outcome, error) {
	return func(ctx context.Context, l *Lab) (drive.Outcome, error) {
		err := l.playTurns(ctx, mode, drive.Turn{l.Driver.Shell(command)})
		words := strings.Fields(command)
		return l.Became("project/" + words[len(words)-1]), err
	}
}

// playBroken plays a command that only a broken hook could stop.
func playBroken(script string) func(context.Context, *Lab) (drive.Outcome, error) {
	return func(ctx context.Context, l *Lab) (drive.Outcome, error) {
		if err := l.ReplaceUmpire(script); err != nil {
			return "", err
		}
		became, err := playShell(freeMode, "touch made")(ctx, l)
		if _, made := l.Model.Result("call_1"); (script == "" || l.proxied) && !made && ctx.Err() == nil {
			// The hook is missing for the prompt as well, and some hosts refuse that; an agent that
			// umpire does not start makes no call.
			err = nil
		}
		return became, err
	}
}

func playThree(ctx context.Context, l *Lab) (drive.Outcome, error) {
	shell := l.Driver.Shell
	err := l.playTurns(ctx, freeMode,
		drive.Turn{shell("touch made first"), shell("touch denied"), shell("touch made third")})
	others := l.Exists("project/first") && l.Exists("project/third")
	if err == nil && !others && !l.MayHaveEnded("call_2") {
		err = errors.New("the first or the third call has not run")
	}
	return l.Became("project/denied"), err
}

func playSubAgent(ctx context.Context, l *Lab) (drive.Outcome, error) {
	if l.Driver.SubAgent == nil {
		return none, nil
	}
	call := l.Driver.Shell("touch denied")
	call.ID = "sub_1"
	l.Model.Sub = []drive.Turn{{call}}
	turns := []drive.Turn{{l.Driver.SubAgent(subMark + ": go on")}}
	if l.Driver.Await != nil {
		turns = append(turns, drive.Turn{l.Driver.Await()})
	}
	err := l.playTurns(ctx, freeMode, turns...)
	if _, ok := l.Model.Result(call.ID); err == nil && !ok && !l.MayHaveEnded(call.ID) {
		said, _ := l.Model.Result("call_1")
		err = fmt.Errorf("the sub-agent has not made its call: %s", said.Text)
	}
	return l.Became("project/denied"), err
}

func playOutside(ctx context.Context, l *Lab) (drive.Outcome, error) {
	turn := drive.Turn{l.Driver.Shell("echo x > ../outside/shell")}
	if l.Driver.WriteFile != nil {
		turn = append(turn, l.Driver.WriteFile(l.Path("outside/tool"), "x\n"))
	}
	err := l.playTurns(ctx, freeMode, turn)
	return l.Became("outside/shell", "outside/tool"), err
}

func playBackground(ctx context.Context, l *Lab) (drive.Outcome, error) {
	if l.Driver.Background == nil {
		return none, nil
	}
	err := l.playTurns(ctx, freeMode,
		drive.Turn{l.Driver.Background("touch denied")}, drive.Turn{l.Driver.Shell("sleep 1")})
	return l.Became("project/denied"), err
}

// playTrial plays a script whose effects are kept, and one that tries to install a git hook.
func playTrial(ctx context.Context, l *Lab) (drive.Outcome, error) {
	for name, text := range map[string]string{
		"home/.umpire/config.yaml": "autonomy.unknown_code: trial\nautonomy.deletes: trial\nautonomy.edits: run\n",
		"project/make.sh":          "echo made > tried\n",
		"project/plant.sh":         "mkdir -p .git/hooks; echo exit 0 > .git/hooks/pre-commit\n",
	} {
		if err := l.Write(name, text); err != nil {
			return "", err
		}
	}
	err := l.playTurns(ctx, freeMode,
		drive.Turn{l.Driver.Shell("bash make.sh")}, drive.Turn{l.Driver.Shell("bash plant.sh")})
	if l.Exists("project/.git/hooks/pre-commit") {
		err = errors.Join(err, errors.New("the hook of git's was planted"))
	}
	return l.Became("project/tried"), err
}

// playHeld plays a call that the gate holds, in a mode, and runs act meanwhile. The agent's
// questions stay unanswered otherwise.
func playHeld(
	mode agentMode, act func(*Lab, context.Context, *drive.Gate, string) error,
) func(context.Context, *Lab) (drive.Outcome, error) {
	return func(ctx context.Context, l *Lab) (drive.Outcome, error) {
		if mode == askingMode {
			for name, text := range l.Driver.Asking {
				if err := l.Write(name, text); err != nil {
					return "", err
				}
			}
		}
		return l.Hold(ctx, func(ctx context.Context) error {
			return l.playTurns(ctx, mode, drive.Turn{l.Driver.Shell("touch asked")})
		}, func(ctx context.Context, g *drive.Gate, id string) error {
			return act(l, ctx, g, id)
		})
	}
}

func (l *Lab) approve(ctx context.Context, _ *drive.Gate, id string) error {
	return l.answerQuestion(ctx, "approve", id)
}

func (l *Lab) deny(ctx context.Context, _ *drive.Gate, id string) error {
	return l.answerQuestion(ctx, "deny", id, "not today")
}

// wait lets the question's deadline pass.
func (l *Lab) wait(context.Context, *drive.Gate, string) error { return nil }

func (l *Lab) killGate(_ context.Context, g *drive.Gate, _ string) error {
	g.Kill()
	return nil
}

func (l *Lab) answerQuestion(ctx context.Context, words ...string) error {
	token := l.Path("home/.umpire/state/person.token")
	_, err := l.Require(ctx, l.Umpire, append(words, "--token-file", token)...)
	return err
}
