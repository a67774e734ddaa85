package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// newSessionsCommand is `umpire sessions`.
func newSessionsCommand(a *app.App) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "sessions", Args: app.RefuseUnknownCommand,
		Short:   "List the sessions of this project, and end them",
		Long:    sessionsLong,
		Example: "  umpire sessions\n  umpire sessions --all-projects --json\n  umpire sessions end s4k7m",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listSessions(cmd.Context(), a, &f) },
	}
	f.addTo(cmd)
	cmd.AddCommand(newSessionsEndCommand(a), newSessionsDeleteCommand(a))
	return cmd
}

// listSessions lists them, the latest activity first.
func listSessions(ctx context.Context, a *app.App, f *listFlags) error {
	if err := f.checkLimit("umpire sessions"); err != nil {
		return err
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, f.all)
		if err != nil {
			return err
		}
		list, err := here.Sessions(ctx, f.limit)
		if err != nil {
			return err
		}
		return a.Show(f.json, append([]umpire.Session{}, list...), func() error { return showSessions(a, list, f.all) })
	})
}

// showSessions writes one line for each session.
func showSessions(a *app.App, list []umpire.Session, all bool) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.Stdout, a.Text.Of("no sessions"))
		return err
	}
	table := app.NewTable(a.Stdout)
	heads := []string{"ID", "AGENT", "STATE", "MODE", "WAITING", "ACTIVE"}
	if all {
		heads = append(heads, "PROJECT")
	}
	table.Head(a.Text, append(heads, "FOLDER")...)
	for i := range list {
		s := &list[i]
		cells := []string{
			view.Visible(string(s.ID)), view.Visible(cmp.Or(s.Agent, "-")),
			a.Text.Word("session state", string(s.State)), s.Mode.String(), fmt.Sprint(s.Pending),
			fmt.Sprintf(a.Text.Of("%s ago"), view.Age(a.Now().Sub(s.ActiveAt))),
		}
		if all {
			cells = append(cells, cmp.Or(s.Project.Short(), "-"))
		}
		table.Row(append(cells, view.Visible(s.Dir))...)
	}
	return table.Flush()
}

// newSessionsEndCommand is `umpire sessions end`.
func newSessionsEndCommand(a *app.App) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "end ID", Args: app.WantWords("ID"), ValidArgsFunction: completeSessions(a),
		Short:   "End a session, and deny its waiting calls",
		Long:    sessionsEndLong,
		Example: "  umpire sessions end s4k7m --reason 'wrong branch'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSession(cmd.Context(), a, args[0],
				func(gate umpire.Gate, id umpire.SessionID) (string, error) {
					s, err := gate.Sessions().Get(cmd.Context(), id)
					if err == nil && s.State == umpire.SessionOver {
						return "%s has already ended\n", nil
					}
					return "ended %s\n", gate.Sessions().End(cmd.Context(), id, reason)
				})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` to record on the timeline as the reason")
	return cmd
}

// newSessionsDeleteCommand is `umpire sessions delete`.
func newSessionsDeleteCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Args: app.WantWords("ID"), ValidArgsFunction: completeSessions(a),
		Short:   "Delete a session; its timeline stays",
		Long:    sessionsDeleteLong,
		Example: "  umpire sessions delete s4k7m",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSession(cmd.Context(), a, args[0],
				func(gate umpire.Gate, id umpire.SessionID) (string, error) {
					return "deleted %s\n", gate.Sessions().Delete(cmd.Context(), id)
				})
		},
	}
}

// changeSession changes the session that an id names, and reports what change returns.
func changeSession(
	ctx context.Context, a *app.App, id string, change func(umpire.Gate, umpire.SessionID) (done string, err error),
) error {
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		found, err := findSession(ctx, a, gate, id)
		if err != nil {
			return err
		}
		done, err := change(gate, found)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, a.Text.Of(done), view.Visible(string(found)))
		return app.Failed(err)
	})
}

// findSession finds the session of an id or its beginning. A session of another project
// needs its complete id.
func findSession(ctx context.Context, a *app.App, gate umpire.Gate, id string) (umpire.SessionID, error) {
	if err := umpire.CheckID("session ID", id); err != nil {
		return "", app.Usage("umpire sessions", "%w", err)
	}
	s, err := gate.Sessions().Get(ctx, umpire.SessionID(id))
	if err == nil {
		return s.ID, nil
	}
	if !errors.Is(err, umpire.ErrNotFound) {
		return "", app.GateError(err)
	}
	here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, false)
	if err != nil {
		return "", app.GateError(err)
	}
	all, err := here.Sessions(ctx, 0)
	if err != nil {
		return "", app.GateError(err)
	}
	var found []string
	for i := range all {
		if s := string(all[i].ID); id != "" && strings.HasPrefix(s, id) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return umpire.SessionID(found[0]), nil
	case 0:
		return "", &app.CommandError{Code: app.ExitError, Err: umpire.Errorf("no session %q", id),
			Hint: "umpire sessions --all-projects"}
	}
	return "", app.Usage("umpire sessions", "%q matches %d sessions: %s", id, len(found), strings.Join(found, ", "))
}
