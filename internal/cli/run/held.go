package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
)

// newShowCommand is `umpire try show`.
func newShowCommand(a *app.App) *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use: "show [ID]", Args: app.WantAtMostOneWord, ValidArgsFunction: completeHeld(a),
		Short:   "Show the changes of a waiting trial",
		Long:    showLong,
		Example: "  umpire try show\n  umpire try show trial-1234 --diff",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, h, err := findHeld(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			s := newSheet(a, h)
			if f.json {
				return app.Failed(a.ShowJSON(s.report()))
			}
			s.show(a.Stdout)
			if f.explain {
				showRows(a, a.Stdout, s.decision, s.colourOn(a.Stdout))
			}
			if f.diff {
				s.showDiff(a.Stdout)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.diff, "diff", false, "also show how files changed, line by line")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "also show the rows that decide whether the changes are kept")
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	return cmd
}

// newKeepCommand is `umpire try keep`.
func newKeepCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "keep [ID]", Args: app.WantAtMostOneWord, ValidArgsFunction: completeHeld(a),
		Short:   "Keep the changes of a waiting trial",
		Long:    keepLong,
		Example: "  umpire try keep\n  umpire try keep trial-1234",
		RunE: func(cmd *cobra.Command, args []string) error {
			state, h, err := findHeld(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			defer app.ReportSettled(cmd.Context(), a)
			return keepTrial(cmd.Context(), a, state, h)
		},
	}
}

// newDiscardCommand is `umpire try discard`.
func newDiscardCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "discard [ID]", Args: app.WantAtMostOneWord, ValidArgsFunction: completeHeld(a),
		Short:   "Discard a waiting trial",
		Long:    discardLong,
		Example: "  umpire try discard\n  umpire try discard trial-1234",
		RunE: func(cmd *cobra.Command, args []string) error {
			state, h, err := findHeld(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			defer app.ReportSettled(cmd.Context(), a)
			if err := discardTrial(cmd.Context(), a, state, h); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Stdout, a.Text.Of("Discarded. Nothing has changed."))
			return app.Failed(err)
		},
	}
}

// findHeld finds the trial of an id or its beginning, or without an id, the only waiting
// trial of this project.
func findHeld(ctx context.Context, a *app.App, args []string) (string, *trial.Held, error) {
	state, err := prepareState(ctx, a)
	if err != nil {
		return "", nil, err
	}
	all, err := trial.HeldTrials(state)
	if err != nil {
		return "", nil, app.Failed(err)
	}
	root := ""
	if len(args) == 0 {
		project, err := a.FindProject(a.Dir)
		if err != nil {
			return "", nil, err
		}
		root = project.Root
	}
	var found []*trial.Held
	for i := range all {
		h := &all[i]
		if len(args) == 1 && h.ID == args[0] {
			return state, h, nil
		}
		if len(args) == 0 && h.Root == root || len(args) == 1 && args[0] != "" && strings.HasPrefix(h.ID, args[0]) {
			found = append(found, h)
		}
	}
	switch {
	case len(found) == 1:
		return state, found[0], nil
	case len(found) > 1:
		return "", nil, app.Usage("umpire try --list", "%d trials wait: name one of them", len(found))
	case len(args) == 1:
		return "", nil, app.Refused("umpire try --list", "no trial %q waits", args[0])
	}
	return "", nil, app.Refused("umpire try --list", "no trial of this project waits")
}

// completeHeld completes the ids of trials that wait.
func completeHeld(a *app.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || a.Home() == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := trial.HeldTrials(a.StateDir())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []cobra.Completion
		for i := range all {
			ids = append(ids, cobra.CompletionWithDesc(all[i].ID, app.Clip(view.Visible(all[i].Command))))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// A heldLine is a trial that waits, in a list.
type heldLine struct {
	ID      string `json:"id"`
	Time    string `json:"time"`
	Command string `json:"command"`
	Root    string `json:"root"`
	Exit    int    `json:"exit"`
	Changes int    `json:"changes"`
}

// listHeld lists the trials that wait, of all projects.
func listHeld(a *app.App, asJSON bool) error {
	all, err := trial.HeldTrials(a.StateDir())
	if err != nil {
		return app.Failed(err)
	}
	list := []heldLine{}
	for i := range all {
		h := &all[i]
		list = append(list, heldLine{
			h.ID, h.Time.Format(timeFormat), h.Command, h.Root, h.Exit, len(h.Effects.List),
		})
	}
	return a.Show(asJSON, list, func() error {
		if len(list) == 0 {
			_, err := fmt.Fprintln(a.Stdout, a.Text.Of("no trial waits"))
			return err
		}
		table := app.NewTable(a.Stdout)
		table.Head(a.Text, "ID", "AGE", "CHANGES", "FOLDER", "COMMAND")
		for i := range all {
			h := &all[i]
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", h.ID, view.Age(a.Now().Sub(h.Time)), len(h.Effects.List),
				view.Visible(h.Root), app.Clip(view.Visible(cmp.Or(h.Command, "-"))))
		}
		return table.Flush()
	})
}

// timeFormat is how JSON has times.
const timeFormat = "2006-01-02T15:04:05Z"
