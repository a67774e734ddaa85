package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A verifyFlags holds the flags of `umpire timeline verify`.
type verifyFlags struct {
	json  bool
	since string
	keys  []string
}

// newTimelineVerifyCommand is `umpire timeline verify`.
func newTimelineVerifyCommand(a *app.App) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use: "verify", Args: app.RefuseWords,
		Short: "Check the timeline for changes",
		Long:  timelineVerifyLong,
		Example: "  umpire timeline verify\n" +
			"  umpire timeline verify --since \"$(tail -n 1 /media/usb/umpire-checkpoints)\"",
		RunE: func(cmd *cobra.Command, _ []string) error { return verifyTimeline(cmd.Context(), a, &f) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	cmd.Flags().StringSliceVar(&f.keys, "key", nil,
		"also accept removals signed with the key `ID`, of another machine or an earlier one")
	cmd.Flags().StringVar(&f.since, "since", "", "compare with the `CHECKPOINT` that umpire timeline head printed")
	return cmd
}

// A verification is the result of `umpire timeline verify`.
type verification struct {
	OK     bool                    `json:"ok"`
	Breaks []store.Break           `json:"breaks"`
	Pruned *store.AcceptedPrunings `json:"pruned"`
}

// verifyTimeline reads the store itself instead of asking a gate, because the gate may
// be in doubt.
func verifyTimeline(ctx context.Context, a *app.App, f *verifyFlags) error {
	at, err := app.ConfiguredStore(a)
	if err != nil {
		return err
	}
	key, err := app.ReadCheckpointKey(a.KeysDir())
	if err != nil {
		return app.Failed(err)
	}
	e := evidence{
		record: app.CheckpointRecord(a.Home(), at, key),
		pruned: &store.AcceptedPrunings{Keys: append([]string{key.ID()}, f.keys...)},
	}
	var breaks []store.Break
	if f.since != "" {
		if e.since, err = store.ParseCheckpoint(f.since); err != nil {
			return app.Usage("umpire timeline head", "--since: %v", err)
		}
		breaks = doubtSigner(e.since, key)
	}
	found, err := verifyStore(ctx, at, &e)
	if err != nil {
		return app.Failed(umpire.Errorf("verify the timeline: %w", err))
	}
	breaks = append(breaks, found...)
	v := verification{OK: len(breaks) == 0, Breaks: append([]store.Break{}, breaks...), Pruned: e.pruned}
	err = a.Show(f.json, v, func() error { return showVerification(a.Stdout, a.Text, &v) })
	if err == nil && !v.OK {
		return &app.CommandError{Code: app.ExitError}
	}
	return err
}

// doubtSigner reports that a checkpoint was not made here. The timeline is compared with it anyway.
func doubtSigner(c *store.SignedCheckpoint, key *store.SigningKey) []store.Break {
	if c.KeyID() == key.ID() {
		return nil
	}
	return []store.Break{{Seq: c.Seq, Problem: fmt.Sprintf(
		"the checkpoint was signed by the key %s, and the one here is %s: "+
			"it was made on another machine, or a key was replaced",
		c.KeyID(), cmp.Or(key.ID(), "missing"))}}
}

// evidence is the data outside the store that the store is compared with.
type evidence struct {
	record *store.CheckpointRecord
	since  *store.SignedCheckpoint // nil if not given
	pruned *store.AcceptedPrunings
}

// compare returns the facts in the evidence that the store lacks. A nil transaction
// means that the store does not exist.
func (e *evidence) compare(tx *store.Tx) ([]store.Break, error) {
	breaks, err := e.record.Compare(tx)
	if err != nil || e.since == nil {
		return breaks, err
	}
	found, err := e.since.Compare(tx)
	return append(breaks, found...), err
}

// verifyStore returns the breaks. An empty store does not have any.
func verifyStore(ctx context.Context, s app.StoreAddress, e *evidence) ([]store.Break, error) {
	if !s.Exists() {
		breaks, err := e.compare(nil)
		if len(breaks) > 0 {
			breaks = append([]store.Break{{Problem: "there is no store any more at " + s.Public()}}, breaks...)
		}
		return breaks, err
	}
	opened, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	breaks, err := opened.Verify(ctx, e.pruned.Accept)
	if err == nil {
		err = opened.View(ctx, func(tx *store.Tx) error {
			found, err := e.compare(tx)
			breaks = append(breaks, found...)
			return err
		})
	}
	return breaks, errors.Join(err, opened.Close())
}

// showVerification writes one line for each break.
func showVerification(out io.Writer, text *catalogue.Language, v *verification) error {
	if p := v.Pruned; p.Sessions > 0 {
		_, err := fmt.Fprintf(out, text.Of("pruned: %s with %s, the last on %s\n"),
			formatSessionCount(text, p.Sessions), formatEvents(text, p.Events), p.Last.Local().Format(time.DateOnly))
		if err != nil {
			return err
		}
	}
	if v.OK {
		_, err := fmt.Fprintln(out, text.Of("nothing on the timeline was changed"))
		return err
	}
	for _, b := range v.Breaks {
		line := fmt.Sprintf("%d  %s  %s", b.Seq, cmp.Or(string(b.Session), "-"), b.Problem)
		if _, err := fmt.Fprintln(out, view.Visible(line)); err != nil {
			return err
		}
	}
	return nil
}
