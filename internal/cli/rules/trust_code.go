package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// trustCode records that the code of this clone may run where no sandbox holds it.
func trustCode(ctx context.Context, a *app.App, p *app.OpenedProject) error {
	if err := a.NeedPerson("trusting code"); err != nil {
		return err
	}
	ledger := app.CodeLedger(a)
	changes, _, err := ledger.Changes(&p.Bounds)
	if err != nil {
		a.RemarkError(err)
	}
	showChanges(a.Stdout, changes)
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		names, err := gate.Rules().Trust(ctx, umpire.TrustChange{Dir: a.Dir, Code: true})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, a.Text.Of("trusted the code of %s as it is now (%s)\n"), view.Visible(p.Root),
			a.Text.Count(len(names), "%d file that names code", "%d files that name code"))
		return app.Failed(err)
	})
}

// forgetCode takes that back.
func forgetCode(ctx context.Context, a *app.App, p *app.OpenedProject) error {
	if err := a.NeedPerson("taking trust away"); err != nil {
		return err
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		text := "the code of %s is no longer trusted\n"
		_, err := gate.Rules().Trust(ctx, umpire.TrustChange{Dir: a.Dir, Code: true, Revoke: true})
		if errors.Is(err, umpire.ErrNotFound) {
			text, err = "the code of %s was not trusted\n", nil
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, a.Text.Of(text), view.Visible(p.Root))
		return app.Failed(err)
	})
}

// showCode says whether the code of this clone is trusted, which files have changed
// since, and which files name code.
func showCode(a *app.App, p *app.OpenedProject) error {
	ledger := app.CodeLedger(a)
	changes, trusted, err := ledger.Changes(&p.Bounds)
	if err != nil {
		return err
	}
	switch {
	case !trusted:
		fmt.Fprintf(a.Stdout, a.Text.Of("the code of %s is not trusted\n"), view.Visible(p.Root))
	case len(changes) > 0:
		fmt.Fprintf(a.Stdout, a.Text.Of("the code of %s is no longer trusted:\n"), view.Visible(p.Root))
		showChanges(a.Stdout, changes)
	default:
		fmt.Fprintf(a.Stdout, a.Text.Of("the code of %s is trusted\n"), view.Visible(p.Root))
	}
	names, err := ledger.Names(&p.Bounds)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(a.Stdout, "  %s\n", view.Visible(name))
	}
	return nil
}

func showChanges(out io.Writer, changes []string) {
	for _, change := range changes {
		fmt.Fprintf(out, "  %s\n", view.Visible(change))
	}
}
