package cli

import (
	"context"
	"errors"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// forge FILE rewrite | remove WHERE: changes the timeline in a store, but keeps it consistent.
// It sets another actor and a low risk in every event, or removes events.
func scriptForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("forge takes no !")
	}
	ctx, f := context.Background(), storetest.Forger{File: ts.MkAbs(args[0])}
	if args[1] == "remove" {
		ts.Check(f.Remove(ctx, args[2]))
		return
	}
	s, err := sqlite.Open(ctx, f.File)
	ts.Check(err)
	var events []umpire.Event
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		events, err = tx.Events.List(umpire.Filter{})
		return err
	})
	ts.Check(errors.Join(err, s.Close()))
	ts.Check(f.Rewrite(ctx, events, func(e *umpire.Event) { e.Actor, e.Risk = "tui", "low" }))
}
