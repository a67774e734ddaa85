package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
)

// approveUndo has an undo judged, and a person at a terminal confirm changes of guarded places.
func approveUndo(ctx context.Context, a *app.App) func(*trial.Kept) error {
	return func(k *trial.Kept) error {
		guarded, err := judgeUndo(a, k)
		if err != nil || len(guarded) == 0 {
			return err
		}
		return confirmGuarded(ctx, a, guarded)
	}
}

// confirmGuarded has a person confirm that guarded places change.
func confirmGuarded(ctx context.Context, a *app.App, paths []string) error {
	tty, err := a.OpenTerminal()
	if err != nil {
		return refuseGuarded(a.Text.Of("run it in a terminal, or leave the file out with --only"), paths[0])
	}
	defer tty.Close()
	var text strings.Builder
	fmt.Fprintln(&text, a.Text.Of("This changes files that decide what runs here:"))
	for _, path := range paths {
		fmt.Fprintf(&text, "  %s\n", view.Visible(path))
	}
	return a.Confirm(ctx, tty, text.String(), "yes")
}
