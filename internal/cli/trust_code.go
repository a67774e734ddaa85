package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// trustCode records that the code of this clone may run where no sandbox holds it.
func trustCode(ctx context.Context, a *App, p *openedProject) error {
	if err := a.needPerson("trusting code"); err != nil {
		return err
	}
	ledger := codeLedger(a)
	changes, _, err := ledger.Changes(&p.Bounds)
	if err != nil {
		a.remark(err.Error())
	}
	showChanges(a, changes)
	return a.withGate(ctx, personCredential, func(gate umpire.Gate) error {
		names, err := gate.Trust(ctx, umpire.TrustChange{Dir: a.dir, Code: true})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, a.text.Of("trusted the code of %s as it is now (%s)\n"), view.Visible(p.Root),
			a.formatCount(len(names), "%d file that names code", "%d files that name code"))
		return failed(err)
	})
}

// forgetCode takes that back.
func forgetCode(ctx context.Context, a *App, p *openedProject) error {
	if err := a.needPerson("taking trust away"); err != nil {
		return err
	}
	return a.withGate(ctx, personCredential, func(gate umpire.Gate) error {
		text := "the code of %s is not trusted any more\n"
		_, err := gate.Trust(ctx, umpire.TrustChange{Dir: a.dir, Code: true, Revoke: true})
		if errors.Is(err, umpire.ErrNotFound) {
			text, err = "the code of %s was not trusted\n", nil
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, a.text.Of(text), view.Visible(p.Root))
		return failed(err)
	})
}

// showCode tells whether the code of this clone is trusted, what has changed since,
// and which files name code.
func showCode(a *App, p *openedProject) error {
	ledger := codeLedger(a)
	changes, trusted, err := ledger.Changes(&p.Bounds)
	if err != nil {
		return err
	}
	switch {
	case !trusted:
		fmt.Fprintf(a.stdout, a.text.Of("the code of %s is not trusted\n"), view.Visible(p.Root))
	case len(changes) > 0:
		fmt.Fprintf(a.stdout, a.text.Of("the trust in the code of %s has ended:\n"), view.Visible(p.Root))
		showChanges(a, changes)
	default:
		fmt.Fprintf(a.stdout, a.text.Of("the code of %s is trusted\n"), view.Visible(p.Root))
	}
	names, err := ledger.Names(&p.Bounds)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(a.stdout, "  %s\n", view.Visible(name))
	}
	return nil
}

func showChanges(a *App, changes []string) {
	for _, change := range changes {
		fmt.Fprintf(a.stdout, "  %s\n", view.Visible(change))
	}
}
