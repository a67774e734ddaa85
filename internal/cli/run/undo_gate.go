package run

import (
	"context"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// UndoInGate undoes the record of an id in the gate's process, reports it to the gate, and
// describes the result. It rejects changes of guarded places, which need a person at a terminal.
func UndoInGate(ctx context.Context, a *app.App, gate umpire.Gate, id string) (string, error) {
	state, err := prepareState(ctx, a)
	if err != nil {
		return "", err
	}
	if err := trial.Settle(ctx, state); err != nil {
		a.RemarkError(err)
	}
	all, err := trial.Records(state)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(k trial.Kept) bool { return k.ID == id })
	if i < 0 {
		return "", trial.ErrNothingKept
	}
	undone, err := trial.Undo(ctx, trial.UndoSpec{
		State: state, Root: all[i].Root, Vault: app.NewVault(a), ID: id,
		Approve: func(k *trial.Kept) error {
			guarded, err := judgeUndo(a, k)
			if err == nil && len(guarded) > 0 {
				return refuseGuarded("", guarded[0])
			}
			return err
		},
	})
	if err != nil {
		return "", umpire.Errorf("nothing was undone: %w", err)
	}
	if err := app.ReportUndo(ctx, a.StateDir(), gate, id); err != nil {
		a.RemarkError(err)
	}
	return app.UndoneTitle(a.Text, undone), nil
}
