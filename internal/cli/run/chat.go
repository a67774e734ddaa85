package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tui"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/task"
)

// Desks returns a function that opens the desk on which tasks of a session of a gate are drafted.
type Desks func(a *app.App, gate umpire.Gate) func(context.Context, *umpire.Session) (task.Desk, error)

// Suggestions returns a function that lists the suggestions for the project of a folder since a time.
type Suggestions func(a *app.App, gate umpire.Gate) func(context.Context, string, time.Time) (string, error)

// NewChatCommand is `umpire chat`.
func NewChatCommand(a *app.App, desks Desks, suggestions Suggestions) *cobra.Command {
	var f runFlags
	var plain bool
	cmd := &cobra.Command{
		Use:     "chat [flags] [TASK]",
		Short:   "Chat with the built-in agent, and answer its questions",
		Long:    chatLong,
		Example: chatExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			return runChat(cmd.Context(), a, &f, strings.Join(words, " "), plain, desks, suggestions)
		},
	}
	f.defineFlags(cmd.Flags())
	cmd.Flags().BoolVar(&plain, "plain", false,
		"line by line, without colours and cursor movements, for screen readers")
	completeAgentFlags(a, cmd)
	return cmd
}

// runChat runs a chat until the person leaves. Only a person may start it: the one at the
// terminal answers the agent's questions.
func runChat(
	ctx context.Context, a *app.App, f *runFlags, first string, plain bool, desks Desks, suggestions Suggestions,
) error {
	if err := f.checkSession("umpire chat --help"); err != nil {
		return err
	}
	s := &agentRun{App: a, flags: f, asks: true}
	if !a.Terminal && !(f.json && s.personAtStreams()) {
		return app.Usage("umpire run --help", "umpire chat needs a terminal; use umpire run without one")
	}
	if err := s.prepare(); err != nil {
		return err
	}
	model, closeLog, err := s.model()
	if err != nil {
		return err
	}
	defer closeLog()
	person, done, err := s.chatGates(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := app.RefuseRunner(ctx, a, person, "chat"); err != nil {
		return err
	}
	session, err := s.enterSession(ctx, "")
	if err != nil {
		return err
	}
	host := &chatHost{agentRun: s, model: model}
	defer host.leave()
	if err := host.prepareTurns(ctx, session); err != nil {
		return err
	}
	conf := s.chatConfig(person, host, first)
	conf.Tasks, conf.TaskCode, conf.Suggest = desks(a, person), app.NewCode, suggestions(a, person)
	return s.runChatSession(ctx, conf, host, plain)
}

// chatGates opens a running gate twice: for the agent, and for the person who answers.
// A gate in this process serves both.
func (s *agentRun) chatGates(ctx context.Context) (person umpire.Gate, done func(), err error) {
	as, err := s.flags.credential(s.App)
	if err != nil {
		return nil, nil, err
	}
	gate, runs, closeGate, err := s.ReachGate(ctx, as, "")
	if err != nil {
		return nil, nil, err
	}
	s.gate = gate
	if !runs {
		return gate, closeGate, nil
	}
	person, closePerson, err := s.OpenGate(ctx, app.PersonCredential)
	if err != nil {
		closeGate()
		return nil, nil, err
	}
	return person, func() { closePerson(); closeGate() }, nil
}

// runChatSession shows the chat until the person leaves it, and says how to resume the session.
func (s *agentRun) runChatSession(
	ctx context.Context, conf tui.Config, host *chatHost, plain bool,
) error {
	conf.Resumed = s.flags.goOn || s.flags.session != "" || s.flags.fork != ""
	if s.flags.json {
		conf.Events = s.Stdout
	}
	err := s.showChat(ctx, conf, plain)
	goOn := "umpire chat --session " + string(host.session.ID)
	switch {
	case ctx.Err() != nil:
		return &app.CommandError{Code: app.ExitError, Hint: goOn,
			Err: umpire.Errorf("interrupted; you can resume session %s", host.session.ID)}
	case err != nil:
		return app.Failed(err)
	}
	s.Remark(fmt.Sprintf(s.Text.Of("to resume session %s: %s"), host.session.ID, goOn))
	return nil
}

// chatConfig describes a chat on this process's terminal.
func (s *agentRun) chatConfig(person umpire.Gate, host *chatHost, first string) tui.Config {
	return tui.Config{
		Gate: person, Host: host, Session: host.session,
		Task: first, Model: host.modelName(), Home: s.UserHome(), Text: s.Text, Now: s.Now,
		Change: DescribeChange(s.App, person),
		Undo:   &chatUndo{App: s.App, gate: person, root: host.session.Root},
		In:     s.Stdin, Out: s.terminalOut(), Env: os.Environ(), NoColour: s.Getenv("NO_COLOR") != "",
	}
}

// DescribeChange returns a function that describes a call's changes for its card, those of a trial or of a preview.
func DescribeChange(a *app.App, g umpire.Gate) func(context.Context, umpire.Pending, umpire.Session) tui.Change {
	return func(ctx context.Context, p umpire.Pending, in umpire.Session) tui.Change {
		return tui.Change(ChangesOf(ctx, a, g, &p, &in))
	}
}

// showChat draws the chat on the whole screen if the terminal can, and otherwise writes
// it line by line.
func (s *agentRun) showChat(ctx context.Context, conf tui.Config, plain bool) error {
	chat := tui.New(conf)
	if plain || s.flags.json || s.IsPoorTerminal() {
		return chat.RunPlain(ctx)
	}
	return chat.Run(ctx)
}

// terminalOut returns the stream that people read: standard output itself, whose
// terminal has a size, or standard error while events go to standard output.
func (s *agentRun) terminalOut() io.Writer {
	if s.flags.json {
		return s.Stderr
	}
	return app.TerminalOut(s.Stdout)
}

// chatLong is the long help of `umpire chat`.
const chatLong = `Chats with the built-in agent on the terminal. It shows the agent's words as they arrive,
and its calls with their results. When a call asks, its card appears in the conversation
and you answer with one key. The bottom line shows the permissions in force.

  y s p g   allow: once, for the session, as a rule of the project, as a rule everywhere
  n c       deny, with an optional reason; cancel: deny and stop the turn
  e v d     explain, raw input, diff
  j k Y     next and previous waiting call; allow all of the same risk once
  Tab       write a message while a call waits: it is queued
  Esc       stop the agent

A key answers a card only after it has been visible for a moment. Words typed at a card
become a message, and Enter never approves. Up recalls earlier messages. /help lists
the commands: /status /mode /resume /sessions /fork /timeline /rules /agents /plan
/exit-plan /help /quit.

With --plain, on a basic terminal (TERM=dumb), or with ACCESSIBLE=1, it
talks line by line, without colours and cursor movements. With --json the events go to
standard output and everything else to standard error. NO_COLOR is honoured.

Only a person can use it: umpire refuses a process that an agent started. Everything is
stored as it happens; --continue resumes a chat that you left or that was killed.`

const chatExample = `  umpire chat --model script:demo.json
  umpire chat --model script:demo.json "fix the tests"
  umpire chat --model script:demo.json --continue`
