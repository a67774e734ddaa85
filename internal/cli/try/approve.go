package try

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/check"
	"github.com/umpirehq/umpire/internal/trial"
	"github.com/umpirehq/umpire/internal/view"
)

// approveUndo judges what an undo would change as writes are judged: it refuses what a rule
// denies, and a person at a terminal confirms changes of guarded places.
func approveUndo(ctx context.Context, a *app.App) func(*trial.Kept) error {
	return func(k *trial.Kept) error {
		var paths []string
		for i := range k.Changes {
			paths = append(paths, k.Changes[i].Path)
		}
		decisions, err := check.DecideWrites(a, k.Root, paths)
		if err != nil {
			return err
		}
		var guarded []string
		for i := range decisions {
			d := &decisions[i]
			if d.Verdict == umpire.Deny {
				return app.Refused("umpire undo --only PATH",
					"nothing was taken back, since a rule denies writing %s", paths[i])
			}
			if slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeControlFile }) {
				guarded = append(guarded, paths[i])
			}
		}
		if len(guarded) == 0 {
			return nil
		}
		return confirmGuarded(ctx, a, guarded)
	}
}

// confirmGuarded has a person confirm that guarded places change.
func confirmGuarded(ctx context.Context, a *app.App, paths []string) error {
	tty, err := a.OpenTerminal()
	if err != nil {
		return app.Refused(a.Text.Of("run it in a terminal, or leave the file out with --only"),
			"nothing was taken back: %s decides what runs here, so a person at a terminal confirms that", paths[0])
	}
	defer tty.Close()
	var text strings.Builder
	fmt.Fprintln(&text, a.Text.Of("This changes files that decide what runs here:"))
	for _, path := range paths {
		fmt.Fprintf(&text, "  %s\n", view.Visible(path))
	}
	return a.Confirm(ctx, tty, text.String(), "yes")
}
