package run

import (
	"context"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tui"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// NewUndoer returns an undoer for the calls of every project, for a person at a terminal.
func NewUndoer(a *app.App, gate umpire.Gate) tui.Undoer { return &chatUndo{App: a, gate: gate} }

// A chatUndo undoes the changes of calls in a chat's project, or in every project if it has no root.
type chatUndo struct {
	*app.App

	gate umpire.Gate // for the person
	root string
}

// Undoable lists the undoable calls.
func (u *chatUndo) Undoable(context.Context) ([]tui.Undo, error) {
	kept, err := trial.Undoable(u.StateDir(), u.root)
	var all []tui.Undo
	for i := range kept {
		k := &kept[i]
		one := tui.Undo{ID: k.ID, Call: k.Call, Session: k.Session, At: k.Time, Command: k.Command}
		for j := range k.Changes {
			one.Paths = append(one.Paths, u.shorten(k.Changes[j].Path))
		}
		all = append(all, one)
	}
	return all, err
}

func (u *chatUndo) shorten(path string) string {
	if u.root == "" {
		return path
	}
	return strings.TrimPrefix(path, u.root+"/")
}

// Undo undoes one call. A person confirms a change of a guarded place at another terminal,
// with nothing else on the screen.
func (u *chatUndo) Undo(ctx context.Context, id string) (again string, said []string, err error) {
	undone, err := trial.Undo(ctx, trial.UndoSpec{
		State: u.StateDir(), ID: id, Vault: app.NewVault(u.App),
		Approve: func(k *trial.Kept) error {
			guarded, err := judgeUndo(u.App, k)
			if err == nil && len(guarded) > 0 {
				err = refuseGuarded("umpire undo "+id, guarded[0])
			}
			return err
		},
	})
	if err != nil {
		return "", nil, err
	}
	said = append([]string{app.UndoneTitle(u.Text, undone)}, app.UndoneLines(u.App, undone)...)
	if err := app.ReportTo(ctx, u.StateDir(), u.gate); err != nil {
		said = append(said, u.Text.Error(err))
	}
	return undone.ID, said, nil
}
