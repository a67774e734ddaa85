package run

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/view"
)

// The demo is a session like any other: real tools and a real store, in a repository
// and a home that are made for it and deleted after it. Only the model plays a script.

//go:embed demo
var demoFiles embed.FS

// demoTask is the task of the demo's model.
const demoTask = "Write the release note and clean up."

// A Demo has the functions of other commands that `umpire demo` needs.
type Demo struct {
	// ShowRecord shows the record of the demo.
	ShowRecord func(context.Context, *app.App) error
	// NewConsole returns a console of a gate.
	NewConsole func(*app.App, *gate.Gate) *console.Console

	yes, keep, console bool // the flags
}

// NewDemoCommand is `umpire demo`.
func NewDemoCommand(a *app.App, d Demo) *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Args: app.RefuseWords,
		Short:   "Watch an agent's calls being decided, in a throw-away project",
		Long:    demoLong,
		Example: "  umpire demo\n  umpire demo --yes\n  umpire demo --console",
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.play(cmd.Context(), a) },
	}
	cmd.Flags().BoolVar(&d.yes, "yes", false, "approve each call that asks once, instead of asking you")
	cmd.Flags().BoolVar(&d.keep, "keep", false, "keep the project and its timeline")
	cmd.Flags().BoolVar(&d.console, "console", false, "have three agents work at once, and answer them in a browser")
	return cmd
}

// play makes a place for the demo, plays it there and removes the place.
func (d *Demo) play(ctx context.Context, a *app.App) error {
	if d.yes && d.console {
		return app.Usage("umpire demo --console", "--yes and --console cannot be combined: --yes answers for you")
	}
	if _, err := exec.LookPath("git"); err != nil {
		return &app.CommandError{Code: app.ExitRefused, Hint: "install git, then run umpire demo again",
			Err: umpire.Errorf("umpire demo needs git: %w", exec.ErrNotFound)}
	}
	perform := d.playAgent
	if d.console {
		perform = d.playConsole
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // the place goes when the terminal is closed, too
	defer stop()
	place, err := os.MkdirTemp("", "umpire-demo-")
	if err != nil {
		return app.Failed(umpire.Errorf("a folder for the demo: %w", err))
	}
	if !d.keep {
		defer func() {
			if err := os.RemoveAll(place); err != nil {
				a.RemarkError(err)
			}
		}()
	}
	plain, err := filepath.EvalSymlinks(place)
	if err != nil {
		return app.Failed(err)
	}
	if err := perform(ctx, a, plain); err != nil {
		return err
	}
	if d.keep {
		fmt.Fprintf(a.Stdout, "%s\n",
			fmt.Sprintf(a.Text.Of("It stays in %s; umpire finds it with UMPIRE_HOME=%s."), place,
				filepath.Join(place, "home", ".umpire")))
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of(demoNext))
	return nil
}

// playAgent has one agent work at the person's terminal, and shows its timeline.
func (d *Demo) playAgent(ctx context.Context, a *app.App, place string) error {
	s := &agentRun{App: a, flags: &runFlags{}}
	if s.attendance(false); d.yes {
		s.asks, s.headless, s.answer = false, false, s.approveOnce
	}
	if s.headless {
		return app.Refused("umpire demo --yes", "no person can be asked here")
	}
	a.Dir = filepath.Join(place, "greeter")
	if err := errors.Join(moveHome(place), makeProject(ctx, "demo/project", a.Dir)); err != nil {
		return app.Failed(err)
	}
	if compiledByGoRun(os.Executable()) {
		fmt.Fprintf(a.Stderr, "%s\n", a.Text.Of(demoCompiled))
	}
	fmt.Fprintf(a.Stderr, a.Text.Of(demoIntro)+"\n\n", a.Dir)
	model, err := readTurns("demo/turns.json")
	if err != nil {
		return err
	}
	if err := s.playDemo(ctx, model); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of("On the timeline:"))
	return d.ShowRecord(ctx, a)
}

// moveHome gives this process a new home for the demo: it does not read or write the person's files.
func moveHome(place string) error {
	home := filepath.Join(place, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
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
	return nil
}

// makeProject creates a repository from embedded files.
func makeProject(ctx context.Context, from, dir string) error {
	files, err := fs.Sub(demoFiles, from)
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "umpire demo"},
		{"config", "user.email", "demo@localhost"},
		{"add", "."},
		{"commit", "-q", "-m", "begin"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			return umpire.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// readTurns reads the script of a model.
func readTurns(name string) (llm.Model, error) {
	data, err := demoFiles.ReadFile(name)
	if err != nil {
		return nil, app.Failed(err)
	}
	model, err := llm.ParseScript(data)
	return model, app.Failed(err)
}

// playDemo runs the built-in agent with the demo's script.
func (s *agentRun) playDemo(ctx context.Context, model llm.Model) error {
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

// chatDemo plays the session in the chat, where the person answers the cards.
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

// demoInterrupted says that there is no session to resume, because the demo's is deleted.
func demoInterrupted() error {
	return &app.CommandError{Code: app.ExitError, Hint: "umpire demo",
		Err: errors.New("the demo was interrupted; its project is gone")}
}

// compiledByGoRun reports whether `go run` compiled the program with this path, in a
// temporary build folder.
func compiledByGoRun(program string, err error) bool {
	return err == nil && strings.Contains(filepath.ToSlash(program), "/go-build")
}

// approveOnce answers in place of a person.
func (s *agentRun) approveOnce(ctx context.Context, p umpire.Pending) error {
	fmt.Fprintf(s.Stderr, s.Text.Of("approved by --yes: %s")+"\n",
		app.Clip(view.Visible(p.Tool+" "+view.SubjectOf(p.Input))))
	_, err := s.gate.Resolve(ctx, umpire.Answer{
		Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
		Choice: umpire.Approve, Scope: umpire.ScopeOnce, Reason: "--yes",
	})
	return err
}

// demoLong is the long help of `umpire demo`.
const demoLong = `Creates a small git repository in a temporary folder, and lets the built-in agent work in
it. Its model plays a script; the tools, the gate and the timeline are real. The first
message has some safe calls, one that asks and one that would delete your home: all of them
wait for your answer, then run in order, and umpire denies the last one.

With --console three agents work at once, each in its own repository, and you answer them in
a browser: the terminal shows the link and the codes. Ctrl-C ends it.

Nothing outside the temporary folder is read or written, and it is deleted at the end.`

// demoIntro is shown before the demo plays.
const demoIntro = `A model that plays a script works in %s.
While one call of a message asks, all of it waits.`

// demoCompiled is shown when the demo was compiled just for this start.
const demoCompiled = "Started with go run: " +
	"the first start compiles for one to four minutes, later ones begin within seconds."

// demoNext is shown at the end of the demo.
const demoNext = `Next:
  umpire setup claude           put umpire in front of Claude Code
  umpire check -- COMMAND       see how a command is decided
  umpire help order             read why`
