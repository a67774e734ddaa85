package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/store"
)

// newTimelineHeadCommand is `umpire timeline head`.
func newTimelineHeadCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "head", Args: app.RefuseWords,
		Short:   "Print a signed checkpoint of the timeline",
		Long:    timelineHeadLong,
		Example: "  umpire timeline head\n  umpire timeline head >> /media/usb/umpire-checkpoints",
		RunE:    func(cmd *cobra.Command, _ []string) error { return showHead(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// A headReport is a checkpoint with its signed line.
type headReport struct {
	store.Checkpoint

	Key  string `json:"key"`
	Line string `json:"checkpoint"`
}

// showHead reads the store itself, as verify does.
func showHead(ctx context.Context, a *app.App, asJSON bool) error {
	at, err := app.ConfiguredStore(a)
	if err != nil {
		return err
	}
	if !at.Exists() {
		return app.Failed(errors.New(a.Text.Of("nothing is stored yet")))
	}
	key, err := store.OpenKey(a.KeysDir())
	if err != nil {
		return app.Failed(err)
	}
	report := headReport{Key: key.ID()}
	if report.Checkpoint, err = takeCheckpoint(ctx, at); err != nil {
		return app.Failed(err)
	}
	if report.Line, err = key.Sign(&report.Checkpoint); err != nil {
		return app.Failed(err)
	}
	return a.Show(asJSON, report, func() error {
		_, err := fmt.Fprintln(a.Stdout, report.Line)
		return err
	})
}

// takeCheckpoint returns a checkpoint of a store's current timeline.
func takeCheckpoint(ctx context.Context, s app.StoreAddress) (c store.Checkpoint, err error) {
	opened, err := s.Open(ctx)
	if err != nil {
		return c, err
	}
	err = opened.View(ctx, func(tx *store.Tx) error {
		c, _, err = store.TakeCheckpoint(tx, time.Now())
		return err
	})
	return c, errors.Join(err, opened.Close())
}
