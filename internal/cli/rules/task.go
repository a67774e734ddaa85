package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const taskLong = `Approves a task once, in place of each of its calls. You approve a text; its lines then
allow calls of one session until the task ends:

  task: Fix the login test
  for: 2h
  may:
    20x  reversible  Edit(src/**)
     5x  none        Bash(go test:*)

Each line says how many calls it may allow, the worst consequence of each (none,
reversible, outward or lost), and a rule as in "umpire help rules". The task ends after
its time, with its session, or by "umpire task end". Its sub-agents share its uses.

It never answers for deny and ask rules, secrets, guarded places, critical risk, or
calls that umpire cannot judge. Two tasks never allow a call together.

Without a verb it lists the tasks of this project and how often each line was used.`

const draftLong = `Writes a draft for the calls of a session that ask, and for the commands and files that
its plans name, so that you can change it and approve it. A line covers a folder or a
subcommand if these calls do nothing that cannot be undone, and otherwise the call
itself. Remarks name the calls that no line can allow.

--wider ID begins with the lines of a task that you approved before.`

const approveTaskLong = `Shows a task, how many of the session's questions each line would have answered, and
the worst calls that it allows; after you confirm, the session may make its calls. Those
that wait already go on.

FILE is a text as "umpire task draft" writes it, or - for standard input.`

// A taskCommand is `umpire task`, or one of its verbs, with the flags.
type taskCommand struct {
	*app.App

	session, wider, tokenFile string
	json                      bool
}

// NewTaskCommand is `umpire task`.
func NewTaskCommand(a *app.App) *cobra.Command {
	c := taskCommand{App: a}
	cmd := &cobra.Command{
		Use: "task", Args: app.RefuseUnknownCommand,
		Short: "Approve a task once, in place of each of its calls", Long: taskLong,
		Example: "  umpire task draft > task.txt\n  umpire task approve task.txt\n  umpire task end k3f9",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.listTasks(cmd.Context(), "") },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "write JSON")
	draft := &cobra.Command{
		Use: "draft", Args: app.RefuseWords, Short: "Draft a task from the calls that ask", Long: draftLong,
		Example: "  umpire task draft > task.txt\n  umpire task draft --session s4k7m",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.draft(cmd.Context()) },
	}
	draft.Flags().StringVar(&c.wider, "wider", "", "begin with the lines of the task with this `ID`")
	approve := &cobra.Command{
		Use: "approve FILE", Args: app.WantWords("FILE"), Short: "Approve a task for a session", Long: approveTaskLong,
		Example: "  umpire task approve task.txt\n  umpire task draft | umpire task approve -",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.approve(cmd.Context(), args[0]) },
	}
	approve.Flags().StringVar(&c.tokenFile, "token-file", "",
		"approve with the person's credential in `FILE` instead of on a terminal")
	show := &cobra.Command{
		Use: "show ID", Args: app.WantWords("ID"), Short: "Show a task, and how often each line was used",
		Example: "  umpire task show k3f9",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.listTasks(cmd.Context(), args[0]) },
	}
	end := &cobra.Command{
		Use: "end ID", Args: app.WantWords("ID"), Short: "End a task: its calls ask again",
		Example: "  umpire task end k3f9",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.endTask(cmd.Context(), args[0]) },
	}
	for _, verb := range []*cobra.Command{draft, approve} {
		verb.Flags().StringVar(&c.session, "session", "", "the session's `ID` (default: the last one that was active)")
	}
	show.Flags().BoolVar(&c.json, "json", false, "write JSON")
	cmd.AddCommand(draft, approve, show, end)
	return cmd
}

// findSession returns the session with an id or a beginning of it, or the last one that was active in the project.
func findSession(ctx context.Context, a *app.App, gate umpire.Gate, id string) (umpire.Session, error) {
	here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, false)
	if err != nil {
		return umpire.Session{}, err
	}
	all, err := here.Sessions(ctx, 0)
	if err != nil {
		return umpire.Session{}, err
	}
	var found []umpire.Session
	for _, s := range all {
		named := id == "" && s.Parent == "" || id != "" && strings.HasPrefix(string(s.ID), id)
		if named && s.State != umpire.SessionOver {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0 && id == "":
		return umpire.Session{}, app.Usage("umpire sessions", "this project has no open session")
	case len(found) == 0:
		return umpire.Session{}, app.Usage("umpire sessions", "--session %q: this project has no such open session", id)
	case len(found) > 1 && id != "":
		return umpire.Session{}, app.Usage("umpire sessions", "--session %q means %d sessions", id, len(found))
	}
	return found[0], nil
}

// atDesk opens the desk of a session, and works at it.
func (c *taskCommand) atDesk(
	ctx context.Context, id string, work func(umpire.Gate, *umpire.Session, *Desk) error,
) error {
	if _, err := c.LoadConfig(c.Dir); err != nil {
		return err
	}
	return c.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		session, err := findSession(ctx, c.App, gate, id)
		if err != nil {
			return err
		}
		desk, err := openDesk(ctx, c.App, gate, &session)
		if err != nil {
			return err
		}
		return work(gate, &session, desk)
	})
}

func (c *taskCommand) draft(ctx context.Context) error {
	return c.atDesk(ctx, c.session, func(gate umpire.Gate, session *umpire.Session, desk *Desk) error {
		var old *task.Task
		if c.wider != "" {
			found, err := findTask(ctx, c.Dir, gate, c.wider)
			if err != nil {
				return err
			}
			old = &found.task
		}
		made, left := desk.Draft(old)
		switch {
		case len(made.Lines) > 0:
		case desk.lost > 0:
			return &app.CommandError{Code: app.ExitError, Hint: "umpire task --help", Err: umpire.Errorf(
				"the timeline lacks the calls that session %s asked in its own prompt: write the task by hand",
				session.ID)}
		default:
			return &app.CommandError{Code: app.ExitError, Hint: "umpire pending", Err: umpire.Errorf(
				"session %s has no question that a task could answer", session.ID)}
		}
		remark := func(text string) { fmt.Fprintf(c.Stdout, "# %s\n", view.Visible(text)) }
		remark(fmt.Sprintf(c.Text.Of("Drafted from %s of session %s. To approve it: umpire task approve FILE"),
			c.Text.Count(len(desk.questions), "%d question", "%d questions"), session.ID))
		for _, call := range left {
			remark(view.Joined(c.Text.Of("always asks"), ": ", call))
		}
		_, err := io.WriteString(c.Stdout, made.String())
		return app.Failed(err)
	})
}

func (c *taskCommand) approve(ctx context.Context, name string) error {
	t, err := readTask(c.App, name)
	if err != nil {
		return err
	}
	return c.atDesk(ctx, c.session, func(gate umpire.Gate, session *umpire.Session, desk *Desk) error {
		if err := app.RefuseRunner(ctx, c.App, gate, "task approve"); err != nil {
			return err
		}
		card, err := desk.Describe(ctx, &t)
		if err != nil {
			return err
		}
		if err := c.confirm(ctx, card, tellCard(c.Text, card, session.ID)); err != nil {
			return err
		}
		approved, err := gate.Grants().ApproveTask(ctx, umpire.TaskApproval{
			Session: session.ID, Text: t.String(), Digest: t.Digest(),
		})
		if err != nil {
			return app.GateError(err)
		}
		fmt.Fprintf(c.Stdout, c.Text.Of("approved %s; to end it: umpire task end %s\n"), approved[0].ID, approved[0].ID)
		return tellWaiting(ctx, c.Stdout, c.Text, gate, session)
	})
}

func readTask(a *app.App, name string) (task.Task, error) {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(io.LimitReader(a.Stdin, task.MaxText+1))
	} else {
		text, err = os.ReadFile(a.Absolute(name))
	}
	if err != nil {
		return task.Task{}, app.Usage("umpire task draft", "%w", err)
	}
	t, err := task.Parse(string(text))
	if err != nil {
		return task.Task{}, app.Usage("umpire help task", "%s: %w", name, err)
	}
	return t, nil
}

// confirm has a person confirm the card of a task.
func (c *taskCommand) confirm(ctx context.Context, card *task.Card, text string) error {
	if c.tokenFile != "" {
		_, err := io.WriteString(c.Stderr, text)
		return app.Failed(err)
	}
	tty, err := c.OpenTerminal()
	if err != nil {
		_, _ = io.WriteString(c.Stderr, text)
		return app.Refused("umpire task approve FILE "+c.Text.Of("in a terminal"),
			"an answer needs a person at a terminal: %w", err)
	}
	defer tty.Close()
	word := "y"
	if card.Risky || card.Task.Most().AtLeast(umpire.Outward) {
		word = app.NewCode()
	}
	err = c.Confirm(ctx, tty, text, word)
	if errors.Is(err, app.ErrUnconfirmed) {
		return &app.CommandError{Code: app.ExitAsks, Hint: "umpire pending",
			Err: umpire.Errorf("%w: nothing is approved", err)}
	}
	return err
}

// tellWaiting names the calls that still wait: a person approves each of them by its own card.
func tellWaiting(
	ctx context.Context, out io.Writer, text *catalogue.Language, gate umpire.Gate, session *umpire.Session,
) error {
	waiting, err := gate.Pending(ctx, umpire.PendingQuery{Session: session.ID})
	if err != nil {
		return app.GateError(err)
	}
	if len(waiting) > 0 {
		fmt.Fprintln(out, text.Count(len(waiting), "%d call still waits for its own answer: umpire pending",
			"%d calls still wait for their own answers: umpire pending"))
	}
	return nil
}

func (c *taskCommand) endTask(ctx context.Context, id string) error {
	return c.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		t, err := findTask(ctx, c.Dir, gate, id)
		if err != nil {
			return err
		}
		if _, err := gate.Grants().Revoke(ctx, umpire.Revocation{Dir: c.Dir, ID: t.ID}); err != nil {
			return app.GateError(err)
		}
		_, err = fmt.Fprintf(c.Stdout, c.Text.Of("ended %s: its calls ask again\n"), t.ID)
		return app.Failed(err)
	})
}

// A standingTask is a task in force.
type standingTask struct {
	ID      string               `json:"task_id"`
	Session umpire.SessionID     `json:"session_id"`
	Text    string               `json:"text"`
	Digest  string               `json:"digest"`
	Lines   []umpire.GrantStatus `json:"lines"`
	Head    umpire.GrantStatus   `json:"-"`

	task task.Task
}

func readTasks(ctx context.Context, dir string, gate umpire.Gate) ([]standingTask, error) {
	grants, err := gate.Grants().List(ctx, dir)
	if err != nil {
		return nil, app.GateError(err)
	}
	all := []standingTask{}
	for _, g := range grants {
		if g.Kind != umpire.GrantTask {
			continue
		}
		t, err := task.Parse(g.TaskText)
		if err != nil {
			continue // it allows nothing
		}
		has := standingTask{ID: g.ID, Session: g.Session, Text: g.TaskText, Digest: t.Digest(), Head: g, task: t}
		for _, line := range grants {
			if line.Task == g.ID && line.ID != g.ID {
				has.Lines = append(has.Lines, line)
			}
		}
		all = append(all, has)
	}
	return all, nil
}

// findTask returns the task with an id or a beginning of it.
func findTask(ctx context.Context, dir string, gate umpire.Gate, id string) (standingTask, error) {
	all, err := readTasks(ctx, dir, gate)
	if err != nil {
		return standingTask{}, err
	}
	all = slices.DeleteFunc(all, func(t standingTask) bool { return id == "" || !strings.HasPrefix(t.ID, id) })
	if len(all) != 1 {
		return standingTask{}, &app.CommandError{Code: app.ExitError, Hint: "umpire task", Err: umpire.Errorf(
			"%d tasks in force begin with %q", len(all), app.Clip(id))}
	}
	return all[0], nil
}

func (c *taskCommand) listTasks(ctx context.Context, id string) error {
	return c.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		if id != "" {
			t, err := findTask(ctx, c.Dir, gate, id)
			if err != nil {
				return err
			}
			return c.Show(c.json, t, func() error { return t.tell(c.App) })
		}
		all, err := readTasks(ctx, c.Dir, gate)
		if err != nil {
			return err
		}
		return c.Show(c.json, all, func() error {
			if len(all) == 0 {
				_, err := fmt.Fprintln(c.Stdout, c.Text.Of("no task is approved"))
				return err
			}
			for i := range all {
				if err := all[i].tell(c.App); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// tell shows a task with the uses of its lines.
func (t *standingTask) tell(a *app.App) error {
	fmt.Fprintf(a.Stdout, "%s  %s\n", t.ID, view.Visible(t.task.Title))
	fmt.Fprintf(a.Stdout, "  "+a.Text.Of("session %s, by %s, ends in %s")+"\n", view.Visible(string(t.Session)),
		view.Visible(t.Head.Source), view.Age(t.Head.ExpiresAt.Sub(a.Now())))
	var never []string
	for i := range t.Lines {
		g := &t.Lines[i]
		line := task.Line{Tool: g.Tool, Match: g.Match}
		if g.Uses == 0 {
			never = append(never, line.Rule())
		}
		used := fmt.Sprintf(a.Text.Of("used %d of %d"), g.Uses, g.MaxUses)
		fmt.Fprintf(a.Stdout, "  %-16s  %-10s  %s\n", used, g.MaxConsequence, view.Visible(line.Rule()))
	}
	if len(never) > 0 {
		fmt.Fprintf(a.Stdout, "  %s\n",
			view.Joined(a.Text.Of("never used"), ": ", view.Visible(strings.Join(never, ", "))))
	}
	return nil
}
