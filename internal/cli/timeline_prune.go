package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// pruneFlags are the flags of `umpire timeline prune`.
type pruneFlags struct {
	json, dryRun bool
	olderThan    string
}

// newTimelinePruneCommand is `umpire timeline prune`.
func newTimelinePruneCommand(a *app.App) *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use: "prune", Args: app.RefuseWords,
		Short:   "Remove old sessions with their events",
		Long:    timelinePruneLong,
		Example: "  umpire timeline prune --dry-run --older-than 90d\n  umpire timeline prune",
		RunE:    func(cmd *cobra.Command, _ []string) error { return pruneTimeline(cmd.Context(), a, &f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "write JSON")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only list what would be removed")
	flags.StringVar(&f.olderThan, "older-than", "",
		"remove sessions inactive for this `TIME` (default: the key retention)")
	return cmd
}

// A pruneReport lists the removed sessions, or in a dry run those that would be removed.
type pruneReport struct {
	DryRun   bool           `json:"dry_run"`
	Sessions int64          `json:"sessions"`
	Events   int64          `json:"events"`
	Removed  []store.Pruned `json:"removed"`
}

func (r *pruneReport) include(p *store.Pruned) {
	r.Sessions, r.Events, r.Removed = r.Sessions+1, r.Events+p.Events, append(r.Removed, *p)
}

// pruneTimeline works on the store itself; a running gate is not disturbed.
func pruneTimeline(ctx context.Context, a *app.App, f *pruneFlags) error {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return err
	}
	age := app.Retention(conf)
	if f.olderThan != "" {
		var ok bool
		if age, ok = config.ParseDuration(f.olderThan); !ok || age <= 0 {
			return app.Usage("umpire timeline prune --older-than 90d",
				"--older-than %q: want a duration such as 90s, 10m, 720h or 7d", f.olderThan)
		}
	}
	if age == 0 {
		return app.Usage("umpire timeline prune --older-than 90d", "no retention is set: pass --older-than")
	}
	at, err := app.ConfiguredStore(a)
	if err != nil {
		return err
	}
	report := pruneReport{DryRun: f.dryRun, Removed: []store.Pruned{}}
	if at.Exists() {
		err = pruneStore(ctx, a, at, age, &report)
	}
	shown := a.Show(f.json, report, func() error { return showPruned(a.Stdout, a.Text, &report) })
	return errors.Join(shown, app.Failed(err))
}

func pruneStore(ctx context.Context, a *app.App, at app.StoreAddress, age time.Duration, report *pruneReport) error {
	s, err := at.Open(ctx)
	if err != nil {
		return err
	}
	if report.DryRun {
		err = s.View(ctx, func(tx *store.Tx) error {
			over, err := tx.Prunings.ListOver(a.Now().Add(-age), 0, 0)
			for i := range over {
				report.include(&over[i])
			}
			return err
		})
		return errors.Join(err, s.Close())
	}
	p, err := app.NewPruner(a, s, "person")
	if err == nil {
		p.Each = report.include
		_, _, err = p.Prune(ctx, age)
	}
	return errors.Join(err, s.Close())
}

// showPruned writes a line for each session, and one for all of them.
func showPruned(out io.Writer, text *catalogue.Language, r *pruneReport) error {
	for i := range r.Removed {
		p := &r.Removed[i]
		fmt.Fprintf(out, "%s  %s  %s\n", p.LastAt.Local().Format(time.DateOnly), view.Visible(string(p.Session)),
			formatEvents(text, p.Events))
	}
	said := text.Of("removed %s with %s\n")
	switch {
	case r.DryRun && r.Sessions == 0:
		said = text.Of("would remove %s with %s\n")
	case r.DryRun:
		said = text.Of("would remove %s with %s, then their parent sessions if nothing else needs them\n")
	}
	_, err := fmt.Fprintf(out, said, formatSessionCount(text, r.Sessions), formatEvents(text, r.Events))
	return err
}

func formatSessionCount(text *catalogue.Language, n int64) string {
	return text.Count(int(n), "%d session", "%d sessions")
}

func formatEvents(text *catalogue.Language, n int64) string {
	return text.Count(int(n), "%d event", "%d events")
}
