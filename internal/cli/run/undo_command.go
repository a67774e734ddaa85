package run

import (
	"cmp"
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
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// An undoCommand is `umpire undo` with its flags.
type undoCommand struct {
	*app.App

	since  string
	forget string
	only   []string
	list   bool
	json   bool
}

// NewUndoCommand is `umpire undo`.
func NewUndoCommand(a *app.App) *cobra.Command {
	c := undoCommand{App: a}
	cmd := &cobra.Command{
		Use: "undo [ID]", Args: app.WantAtMostOneWord, ValidArgsFunction: completeKept(a),
		Short:   "Undo kept changes",
		Long:    undoLong,
		Example: undoExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.forget != "" && (c.list || c.since != "" || len(c.only) > 0 || len(args) > 0):
				return app.Usage("umpire undo --help", "--forget takes no ID and no other flag")
			case c.forget != "":
				return forget(cmd.Context(), a, c.forget)
			case c.list && len(args) > 0:
				return app.Usage("umpire undo --help", "give an ID or --list, not both")
			case c.list:
				return c.listKept(cmd.Context())
			case c.since != "" && len(args) > 0:
				return app.Usage("umpire undo --help", "give an ID or --since, not both")
			case c.since != "":
				return c.undoSince(cmd.Context())
			}
			return c.undo(cmd.Context(), strings.Join(args, ""))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.since, "since", "", "undo all changes kept since `TIME`: 10m, 2d, 14:30 or RFC 3339")
	flags.StringArrayVar(&c.only, "only", nil, "undo only this `PATH` and everything in it; may be repeated")
	flags.BoolVar(&c.list, "list", false, "list the kept changes that you can undo")
	flags.StringVar(&c.forget, "forget", "", "remove the record `ID` that cannot be undone, with its old files")
	flags.BoolVar(&c.json, "json", false, "write JSON")
	return cmd
}

// undo undoes the last record of this project, or the one with an id.
func (c *undoCommand) undo(ctx context.Context, id string) error {
	spec, err := c.spec(ctx)
	if err != nil {
		return err
	}
	spec.ID = id
	defer app.ReportSettled(ctx, c.App)
	undone, err := trial.Undo(ctx, *spec)
	if err != nil {
		return undoError(c.Text, id, err)
	}
	return c.Show(c.json, undone, func() error { return showUndone(c.App, undone) })
}

// spec describes the undo, except for its id.
func (c *undoCommand) spec(ctx context.Context) (*trial.UndoSpec, error) {
	state, err := prepareState(ctx, c.App)
	if err != nil {
		return nil, err
	}
	if err := trial.Settle(ctx, state); err != nil {
		c.RemarkError(err)
	}
	project, err := c.FindProject(c.Dir)
	if err != nil {
		return nil, err
	}
	return &trial.UndoSpec{
		State: state, Root: project.Root, Vault: app.NewVault(c.App), Only: c.absolutePaths(c.only),
		Approve: approveUndo(ctx, c.App),
	}, nil
}

func (c *undoCommand) absolutePaths(paths []string) []string {
	var all []string
	for _, path := range paths {
		all = append(all, c.Absolute(path))
	}
	return all
}

// undoError adds the next step to the error of a failed undo.
func undoError(text *catalogue.Language, id string, err error) error {
	conflict, isConflict := errors.AsType[*trial.ConflictError](err)
	_, isObstacle := errors.AsType[*trial.ObstacleError](err)
	refused, isRefused := errors.AsType[*app.CommandError](err)
	switch {
	case isRefused:
		return refused
	case errors.Is(err, app.ErrUnconfirmed):
		return app.Refused("", "nothing was undone: %w", err)
	case isConflict && len(conflict.Paths) > 0:
		hint := strings.TrimSpace("umpire undo "+id) + " --only PATH"
		return app.Refused(text.Of(hint), "nothing was undone: %w", err)
	case isObstacle:
		return app.Refused(strings.TrimSpace("umpire undo "+id), "nothing was undone: %w", err)
	case errors.Is(err, trial.ErrNothingKept), errors.Is(err, trial.ErrTakenBack), errors.Is(err, trial.ErrManyKept),
		errors.Is(err, trial.ErrLost):
		return app.Refused("umpire undo --list", "%w", err)
	case errors.Is(err, os.ErrNotExist):
		return app.Refused("umpire undo --list", "nothing was undone: %w", err)
	}
	return app.Failed(umpire.Errorf("nothing was undone: %w", err))
}

// showUndone says what was undone, and how to redo it.
func showUndone(a *app.App, k *trial.Kept) error {
	fmt.Fprintln(a.Stdout, app.UndoneTitle(a.Text, k))
	if len(k.Changes) == 0 {
		return nil
	}
	for _, line := range app.UndoneLines(a, k) {
		fmt.Fprintf(a.Stdout, "  %s\n", line)
	}
	_, err := fmt.Fprintf(a.Stdout, a.Text.Of("To redo it: umpire undo %s\n"), k.ID)
	return err
}

// A keptLine is a kept or undone record in a list.
type keptLine struct {
	ID      string `json:"id"`
	Time    string `json:"time"`
	Root    string `json:"root"`
	Command string `json:"command,omitempty"`
	Call    string `json:"call,omitempty"`
	Changes int    `json:"changes"`
	// Lost lists the paths that cannot be undone.
	Lost   []trial.Loss `json:"lost,omitempty"`
	Undoes string       `json:"undoes,omitempty"`
	Undone string       `json:"undone,omitempty"`
	// Expires is when it goes at the latest. From Protected on it may go before, when space is needed.
	Expires   string `json:"expires_at,omitempty"`
	Protected string `json:"protected_until,omitempty"`
	// Problem says why the record cannot be finished.
	Problem string `json:"problem,omitempty"`
}

// listKept lists the kept records, the latest first.
func (c *undoCommand) listKept(ctx context.Context) error {
	if err := trial.Settle(ctx, c.StateDir()); err != nil {
		c.RemarkError(err)
	}
	all, err := trial.Records(c.StateDir())
	if err != nil {
		return app.Failed(err)
	}
	if c.since != "" {
		from, err := app.ParseSince(c.since, c.Now(), "umpire undo --help")
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(k trial.Kept) bool { return k.Time.Before(from) })
	}
	if only := c.absolutePaths(c.only); len(only) > 0 {
		all = slices.DeleteFunc(all, func(k trial.Kept) bool { return !k.Touches(only) })
	}
	conf, err := c.LoadConfig(c.Dir)
	if err != nil {
		return err
	}
	limits := app.UndoLimits(conf)
	list := []keptLine{}
	for i := range all {
		k := &all[i]
		early, late := k.Expires(limits)
		list = append(list, keptLine{
			k.ID, k.Time.Format(timeFormat), k.Root, k.Command, string(k.Call), len(k.Changes), k.Lost,
			k.Undoes, k.Undone, late.Format(timeFormat), early.Format(timeFormat), "",
		})
	}
	unfinished, err := trial.FindUnfinished(ctx, c.StateDir(), app.NewVault(c.App))
	if err != nil {
		return app.Failed(err)
	}
	for _, u := range unfinished {
		list = append(list, keptLine{ID: u.ID, Root: u.Root, Problem: u.Err.Error()})
	}
	return c.Show(c.json, list, func() error {
		defer showUnfinished(c.Stdout, c.Text, unfinished)
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.Stdout, c.Text.Of("nothing was kept yet"))
			return err
		}
		table := app.NewTable(c.Stdout)
		table.Head(c.Text, "ID", "AGE", "CHANGES", "EXPIRES", "STATE", "FOLDER", "COMMAND")
		for i := range all {
			k := &all[i]
			state := c.Text.Of("kept")
			switch {
			case k.Undone != "":
				state = fmt.Sprintf(c.Text.Of("undone by %s"), k.Undone)
			case len(k.Lost) > 0:
				state = c.Text.Count(len(k.Lost), "kept, but for %d path", "kept, but for %d paths")
			case k.Undoes != "":
				state = fmt.Sprintf(c.Text.Of("undid %s"), k.Undoes)
			}
			_, late := k.Expires(limits)
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", k.ID, view.Age(c.Now().Sub(k.Time)), len(k.Changes),
				view.Age(max(late.Sub(c.Now()), 0)), state, view.Visible(k.Root), app.Clip(view.Visible(k.Command)))
		}
		return table.Flush()
	})
}

// showUnfinished lists the records that cannot be finished, and how to remove each.
func showUnfinished(out io.Writer, text *catalogue.Language, all []trial.Unfinished) {
	for _, u := range all {
		fmt.Fprintln(out, fmt.Sprintf(text.Of(app.UnfinishedText), view.Visible(cmp.Or(u.Root, u.ID)),
			view.Visible(text.Error(u.Err))))
		fmt.Fprintln(out, "  "+app.ForgetCommand(&u))
	}
}

// forget removes a record that cannot be finished.
func forget(ctx context.Context, a *app.App, id string) error {
	all, err := trial.FindUnfinished(ctx, a.StateDir(), app.NewVault(a))
	if err != nil {
		return app.Failed(err)
	}
	if !slices.ContainsFunc(all, func(u trial.Unfinished) bool { return u.ID == id }) {
		return app.Refused("umpire undo --list", "no unfinished record %q", id)
	}
	if err := trial.Forget(a.StateDir(), id); err != nil {
		return app.Failed(umpire.Errorf("forget record %q: %w", id, err))
	}
	_, err = fmt.Fprintf(a.Stdout, a.Text.Of("forgotten: %s")+"\n", view.Visible(id))
	return err
}

// completeKept completes the ids of records that can be undone.
func completeKept(a *app.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || a.Home() == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := trial.Records(a.StateDir())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []cobra.Completion
		for i := range all {
			if all[i].Undone == "" {
				ids = append(ids, cobra.CompletionWithDesc(all[i].ID, app.Clip(view.Visible(all[i].Command))))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
