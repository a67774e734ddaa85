package run

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/llm"
	"github.com/umpirehq/umpire/internal/view"
)

// The demo is a session like any other: real tools and a real store, in a repository
// and a home that are made for it and deleted after it. Only the model plays a script.

//go:embed demo
var demoFiles embed.FS

// demoTask is the task of the demo's model.
const demoTask = "Write the release note and clean up."

// NewDemoCommand is `umpire demo`. ShowRecord shows what is recorded of it.
func NewDemoCommand(a *app.App, showRecord func(context.Context, *app.App) error) *cobra.Command {
	var yes, keep bool
	cmd := &cobra.Command{
		Use: "demo", Args: app.RefuseWords,
		Short:   "Watch an agent's calls being decided, in a throw-away project",
		Long:    DemoLong,
		Example: "  umpire demo\n  umpire demo --yes",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a, yes, keep, showRecord) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "approve what asks, once each, instead of asking you")
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the project and its timeline where they are")
	return cmd
}

// runDemo plays the session and shows its timeline.
func runDemo(ctx context.Context, a *app.App, yes, keep bool, showRecord func(context.Context, *app.App) error) error {
	s := &agentRun{App: a, flags: &runFlags{}}
	if s.attendance(false); yes {
		s.asks, s.headless, s.answer = false, false, s.approveOnce
	}
	if s.headless {
		return app.Refused("umpire demo --yes", "nobody can be asked here")
	}
	if _, err := exec.LookPath("git"); err != nil {
		return &app.CommandError{Code: app.ExitRefused, Hint: "install git, then run umpire demo again",
			Err: umpire.Errorf("umpire demo needs git: %w", exec.ErrNotFound)}
	}
	place, err := os.MkdirTemp("", "umpire-demo-")
	if err != nil {
		return app.Failed(umpire.Errorf("a folder for the demo: %w", err))
	}
	if !keep {
		defer func() {
			if err := os.RemoveAll(place); err != nil {
				a.RemarkError(err)
			}
		}()
	}
	if err := moveToDemo(ctx, a, place); err != nil {
		return app.Failed(err)
	}
	if compiledByGoRun(os.Executable()) {
		fmt.Fprintf(a.Stderr, "%s\n", a.Text.Of(DemoCompiled))
	}
	fmt.Fprintf(a.Stderr, a.Text.Of(DemoIntro)+"\n\n", a.Dir)
	if err := s.playDemo(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of("On the timeline:"))
	if err := showRecord(ctx, a); err != nil {
		return err
	}
	endDemo(a, place, keep)
	return nil
}

// moveToDemo makes the demo's project and home, and moves this process there: none of the
// person's files are read or written.
func moveToDemo(ctx context.Context, a *app.App, place string) error {
	place, err := filepath.EvalSymlinks(place)
	if err != nil {
		return err
	}
	home, project := filepath.Join(place, "home"), filepath.Join(place, "greeter")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	files, err := fs.Sub(demoFiles, "demo/project")
	if err != nil {
		return err
	}
	if err := os.CopyFS(project, files); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "UMPIRE_HOME": filepath.Join(home, ".umpire"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	a.Dir = project
	return makeRepository(ctx, a)
}

func makeRepository(ctx context.Context, a *app.App) error {
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "umpire demo"},
		{"config", "user.email", "demo@localhost"},
		{"add", "."},
		{"commit", "-q", "-m", "begin"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = a.Dir
		if out, err := git.CombinedOutput(); err != nil {
			return umpire.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// playDemo runs the built-in agent with the demo's script.
func (s *agentRun) playDemo(ctx context.Context) error {
	data, err := demoFiles.ReadFile("demo/turns.json")
	if err != nil {
		return app.Failed(err)
	}
	model, err := llm.ParseScript(data)
	if err != nil {
		return app.Failed(err)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	gate, _, done, err := s.ReachGate(ctx, app.AgentCredential, "")
	if err != nil {
		return err
	}
	defer done()
	s.gate = gate
	session, err := s.enterSession(ctx, "")
	if err != nil {
		return err
	}
	if s.asks {
		return s.chatDemo(ctx, session, model)
	}
	err = s.runAgent(ctx, session, model, demoTask)
	exited, ok := errors.AsType[*app.CommandError](err)
	switch {
	case ok && exited.Code == app.ExitDenied && ctx.Err() == nil:
		return nil // a turn that was cancelled ends the demo as well as any
	case ok && ctx.Err() != nil:
		return demoInterrupted()
	}
	return err
}

// chatDemo plays the session in the chat, where the person answers on its cards.
func (s *agentRun) chatDemo(ctx context.Context, session umpire.Session, model llm.Model) error {
	host := &chatHost{agentRun: s, model: model}
	defer host.leave()
	if err := host.prepareTurns(ctx, session); err != nil {
		return err
	}
	conf := s.chatConfig(s.gate, host, demoTask)
	conf.Once, conf.Model = true, "script"
	err := s.showChat(ctx, conf, false)
	if ctx.Err() != nil {
		return demoInterrupted()
	}
	return app.Failed(err)
}

// demoInterrupted says that there is no session to resume: the demo's is thrown away.
func demoInterrupted() error {
	return &app.CommandError{Code: app.ExitError, Hint: "umpire demo",
		Err: errors.New("the demo was interrupted; its project is gone")}
}

// compiledByGoRun reports whether the program with this path was compiled by `go run`,
// which keeps what it starts in a temporary folder for builds.
func compiledByGoRun(program string, err error) bool {
	return err == nil && strings.Contains(filepath.ToSlash(program), "/go-build")
}

// approveOnce answers in place of a person.
func (s *agentRun) approveOnce(ctx context.Context, p umpire.Pending) error {
	fmt.Fprintf(s.Stderr, s.Text.Of("approved by --yes: %s")+"\n",
		app.Clip(view.Visible(p.Tool+" "+subjectOfInput(p.Input))))
	_, err := s.gate.Resolve(ctx, umpire.Answer{
		Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
		Choice: umpire.Approve, Scope: umpire.ScopeOnce, Reason: "--yes",
	})
	return err
}

// endDemo says where to go from here.
func endDemo(a *app.App, place string, keep bool) {
	if keep {
		fmt.Fprintf(a.Stdout, "%s\n",
			fmt.Sprintf(a.Text.Of("It stays in %s; umpire finds it with UMPIRE_HOME=%s."), place,
				filepath.Join(place, "home", ".umpire")))
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of(DemoNext))
}

// DemoLong is the long help of `umpire demo`.
const DemoLong = `Makes a small git repository in a temporary folder, and lets the built-in agent work in it.
Its model plays a script; the tools, the gate and the timeline are the real ones. The first
message has calls that are safe, one that asks and one that would delete your home: all
wait for your answer, then run in their order, and the last one is refused.

Nothing outside the temporary folder is read or written, and it is deleted in the end.`

// DemoIntro is shown before the demo plays.
const DemoIntro = `A model that plays a script works in %s.
While one call of a message asks, all of it waits.`

// DemoCompiled is shown when the demo was compiled just for this start.
const DemoCompiled = "Started with go run: " +
	"the first start compiles for one to four minutes, later ones begin within seconds."

// DemoNext is shown at the end of the demo.
const DemoNext = `Next:
  umpire init claude            put umpire in front of Claude Code
  umpire check -- COMMAND       see how a command is decided
  umpire help order             read why`
