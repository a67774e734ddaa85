package run

import (
	"context"
	"fmt"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// An undoneSince is the result of `umpire undo --since`, as JSON.
type undoneSince struct {
	Undone []*trial.Kept `json:"undone"`
	// Left lists the ids that were not undone: the first one failed, and the others are
	// older.
	Left []string `json:"left"`
}

// undoSince undoes all records of this project since a time, the latest first, each as a
// whole. It stops at the first failure, because older changes lie below it.
func (c *undoCommand) undoSince(ctx context.Context) error {
	from, err := app.ParseSince(c.since, c.Now(), "umpire undo --help")
	if err != nil {
		return err
	}
	spec, err := c.spec(ctx)
	if err != nil {
		return err
	}
	all, err := trial.Undoable(spec.State, spec.Root)
	if err != nil {
		return app.Failed(err)
	}
	defer app.ReportSettled(ctx, c.App)
	r := undoneSince{Undone: []*trial.Kept{}, Left: []string{}}
	for i := range all {
		if all[i].Time.Before(from) || len(spec.Only) > 0 && !all[i].Touches(spec.Only) {
			continue
		}
		if err != nil {
			r.Left = append(r.Left, all[i].ID)
			continue
		}
		spec.ID = all[i].ID
		var undone *trial.Kept
		if undone, err = trial.Undo(ctx, *spec); err != nil {
			r.Left = append(r.Left, all[i].ID)
			err = undoError(c.Text, all[i].ID, err)
			continue
		}
		r.Undone = append(r.Undone, undone)
	}
	if err == nil && len(r.Undone) == 0 {
		return undoError(c.Text, "", trial.ErrNothingKept)
	}
	if err := c.Show(c.json, r, func() error { return r.show(c.App) }); err != nil {
		return err
	}
	return err
}

// show lists the undone records and the remaining ones.
func (r *undoneSince) show(a *app.App) error {
	for _, k := range r.Undone {
		if err := showUndone(a, k); err != nil {
			return err
		}
	}
	for _, id := range r.Left {
		if _, err := fmt.Fprintf(a.Stdout, a.Text.Of("not undone: %s\n"), id); err != nil {
			return err
		}
	}
	return nil
}
