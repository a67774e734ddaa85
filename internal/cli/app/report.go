package app

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// ReportSettled adds to the timeline the changes that a person kept, discarded or undid outside all
// sessions. If it fails, the next process that calls it or opens a gate reports them.
func ReportSettled(ctx context.Context, a *App) {
	due, err := trial.Unreported(a.StateDir())
	if len(due) > 0 {
		ctx = context.WithoutCancel(ctx)
		report := func(g umpire.Gate) error { return ReportTo(ctx, a.StateDir(), g) }
		err = errors.Join(err, a.WithGate(ctx, PersonCredential, report))
	}
	if err != nil {
		a.RemarkError(err)
	}
}

// ReportTo reports to a gate that takes this process for a person.
func ReportTo(ctx context.Context, stateDir string, g umpire.Gate) error {
	return reportTo(ctx, stateDir, g, "")
}

// ReportUndo reports the undo of one record to a gate, which stores the person's name. Other unreported
// records may be other people's.
func ReportUndo(ctx context.Context, stateDir string, g umpire.Gate, id string) error {
	return reportTo(ctx, stateDir, g, id)
}

// reportTo reports the undo of one record, or if id is "", of all unreported records.
func reportTo(ctx context.Context, stateDir string, g umpire.Gate, id string) error {
	due, err := trial.Unreported(stateDir)
	for i := range due {
		if id != "" && due[i].Record.Undoes != id {
			continue
		}
		_, told := g.Trials().Settle(ctx, due[i])
		if told == nil {
			told = trial.MarkReported(stateDir, due[i].Record)
		}
		err = errors.Join(err, told)
	}
	return err
}
