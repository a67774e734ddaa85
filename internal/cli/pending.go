package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// A listFlags has the flags that every list has: all projects, the limit and the form.
type listFlags struct {
	json, all bool
	limit     int
}

// addTo adds the flags that every list has.
func (f *listFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	app.AddAllProjects(cmd.Flags(), &f.all)
	cmd.Flags().IntVar(&f.limit, "limit", 0, "only the first `N` of them")
}

// checkLimit refuses a negative limit.
func (f *listFlags) checkLimit(command string) error {
	if f.limit < 0 {
		return app.Usage(command+" --help", "--limit %d: want 0 or more", f.limit)
	}
	return nil
}

// newPendingCommand is `umpire pending`.
func newPendingCommand(a *app.App) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "pending", Args: app.RefuseWords,
		Short:   "List the calls that wait for you",
		Long:    pendingLong,
		Example: "  umpire pending\n  umpire pending --all-projects --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listPending(cmd.Context(), a, &f) },
	}
	f.addTo(cmd)
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "all" { // its former name
			name = "all-projects"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

// listPending lists the open questions, in this project or in all.
func listPending(ctx context.Context, a *app.App, f *listFlags) error {
	if err := f.checkLimit("umpire pending"); err != nil {
		return err
	}
	as := app.PersonCredential
	if a.NeedPerson("umpire pending --all-projects") != nil {
		as = app.AgentCredential // an agent sees only its sessions' questions
	}
	return a.WithGate(ctx, as, func(gate umpire.Gate) error {
		here, err := app.ViewProject(ctx, a, gate, as, f.all)
		if err != nil {
			return err
		}
		list, err := here.Pending(ctx, f.limit)
		if err != nil {
			return err
		}
		return a.Show(f.json, append([]umpire.Pending{}, list...), func() error {
			return showPending(a, list, here.Folders(a.UserHome()), f.all)
		})
	})
}

// showPending writes the consequence of each question below its line.
func showPending(a *app.App, list []umpire.Pending, in view.Folders, all bool) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.Stdout, a.Text.Of("nothing waits"))
		return err
	}
	var lines strings.Builder
	table := app.NewTable(&lines)
	heads := []string{"ID", "AGE", "AGENT", "SESSION"}
	if all {
		heads = append(heads, "PROJECT")
	}
	table.Head(a.Text, append(heads, "CALL")...)
	for i := range list {
		table.Row(pendingCells(a.Now(), &list[i], all)...)
	}
	_ = table.Flush() // into memory
	for i, line := range strings.Split(strings.TrimRight(lines.String(), "\n"), "\n") {
		fmt.Fprintln(a.Stdout, line)
		if i > 0 {
			said := view.New(list[i-1], umpire.Session{Root: in.Root}, in.Home, a.Text, a.Now(), false).Headline()
			fmt.Fprintf(a.Stdout, "    %s\n", said)
		}
	}
	_, err := fmt.Fprintf(a.Stdout, "\n%s\n",
		view.Joined(a.Text.Of("next"), ": ",
			fmt.Sprintf("umpire approve %s, umpire deny %s", list[0].Request, list[0].Request)))
	return err
}

// pendingCells is a question as the cells of a table.
func pendingCells(now time.Time, p *umpire.Pending, all bool) []string {
	cells := []string{
		view.Visible(string(p.Request)), view.Age(now.Sub(p.AskedAt)),
		view.Visible(cmp.Or(p.Agent, "-")), clipID(string(p.Session)),
	}
	if all {
		cells = append(cells, p.Project.Short())
	}
	what := app.Clip(view.Visible(subjectOf(p)))
	if p.Total > 1 {
		what += fmt.Sprintf(" (%d/%d)", p.Position, p.Total)
	}
	return append(cells, what)
}

// clipID shortens an id that is longer than people compare.
func clipID(id string) string { return view.Clip(view.Visible(id), 20) }

// completePending completes a word with the questions that wait.
func completePending(a *app.App) cobra.CompletionFunc {
	return completeFromGate(a, func(ctx context.Context, gate umpire.Gate) (all []cobra.Completion, err error) {
		list, err := gate.Pending(ctx, umpire.PendingQuery{})
		for i := range list {
			p := &list[i]
			all = append(all,
				cobra.CompletionWithDesc(string(p.Request), app.Clip(view.Visible(p.Risk+" "+subjectOf(p)))))
		}
		return all, err
	})
}

// completeSessions completes a word with the sessions of this project.
func completeSessions(a *app.App) cobra.CompletionFunc {
	return completeFromGate(a, func(ctx context.Context, gate umpire.Gate) (all []cobra.Completion, err error) {
		here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, false)
		if err != nil {
			return nil, err
		}
		list, err := here.Sessions(ctx, 0)
		for i := range list {
			s := &list[i]
			state := a.Text.Word("session state", string(s.State))
			about := fmt.Sprintf("%s %s, %s", cmp.Or(s.Agent, "-"), state, view.Age(a.Now().Sub(s.ActiveAt)))
			all = append(all, cobra.CompletionWithDesc(string(s.ID), view.Visible(about)))
		}
		return all, err
	})
}

// completeFromGate completes the first word from the gate's lists. Completion never
// creates a store; without one there is nothing to offer.
func completeFromGate(
	a *app.App, list func(context.Context, umpire.Gate) ([]cobra.Completion, error),
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		gate, done, err := a.FindGate(cmd.Context())
		if err != nil || gate == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer done()
		all, err := list(cmd.Context(), gate)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}
