package try

import (
	"context"
	"fmt"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
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
func undoSince(ctx context.Context, a *app.App, f *undoFlags) error {
	from, err := parseSince(f.since, a.Now())
	if err != nil {
		return err
	}
	spec, err := undoSpec(ctx, a, f)
	if err != nil {
		return err
	}
	all, err := trial.Undoable(spec.State, spec.Root)
	if err != nil {
		return app.Failed(err)
	}
	defer app.ReportSettled(ctx, a)
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
			err = undoError(a, all[i].ID, err)
			continue
		}
		r.Undone = append(r.Undone, undone)
	}
	if err == nil && len(r.Undone) == 0 {
		return undoError(a, "", trial.ErrNothingKept)
	}
	if err := a.Show(f.json, r, func() error { return r.show(a) }); err != nil {
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
		if _, err := fmt.Fprintf(a.Stdout, a.Text.Of("not taken back: %s\n"), id); err != nil {
			return err
		}
	}
	return nil
}

// parseSince reads a time: a duration before now, a time of the last 24 hours, or RFC 3339.
func parseSince(text string, now time.Time) (time.Time, error) {
	if d, ok := config.ParseDuration(text); ok && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		year, month, today := now.Date()
		at := time.Date(year, month, today, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, app.Usage("umpire undo --help",
			"--since %q: want a time such as 10m, 2d, 14:30 or 2026-01-31T14:30:00Z", text)
	}
	return at, nil
}
