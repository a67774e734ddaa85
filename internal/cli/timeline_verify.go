package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/store"
)

// timelineVerifyCommand is `umpire timeline verify`.
func (a *app) timelineVerifyCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "verify", Args: noWords,
		Short:   a.text.of("Prove that the timeline was not changed"),
		Long:    a.text.of(timelineVerifyLong),
		Example: "  umpire timeline verify",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.verifyTimeline(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, a.text.of("write JSON"))
	return cmd
}

// A verification is what `umpire timeline verify` found.
type verification struct {
	OK     bool          `json:"ok"`
	Breaks []store.Break `json:"breaks"`
}

// verifyTimeline reads the store itself, not what a gate says of it: the gate may
// be what is in doubt.
func (a *app) verifyTimeline(ctx context.Context, asJSON bool) error {
	conf, err := a.config(a.dir)
	if err != nil {
		return err
	}
	at, err := a.storeAt(conf.Store)
	if err != nil {
		return err
	}
	breaks, err := at.verify(ctx)
	if err != nil {
		return failed(fmt.Errorf("verify the timeline: %w", err))
	}
	v := verification{OK: len(breaks) == 0, Breaks: append([]store.Break{}, breaks...)}
	if asJSON {
		err = a.showJSON(v)
	} else {
		err = a.showVerification(&v)
	}
	if err == nil && !v.OK {
		return &exit{code: exitError}
	}
	return failed(err)
}

// verify finds the breaks. Where nothing was ever stored there are none.
func (s storeAddress) verify(ctx context.Context) ([]store.Break, error) {
	if !s.exists() {
		return nil, nil
	}
	opened, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	breaks, err := opened.Verify(ctx)
	return breaks, errors.Join(err, opened.Close())
}

// showVerification writes one line for each break.
func (a *app) showVerification(v *verification) error {
	if v.OK {
		_, err := fmt.Fprintln(a.stdout, a.text.of("nothing on the timeline was changed"))
		return err
	}
	for _, b := range v.Breaks {
		line := fmt.Sprintf("%d  %s  %s", b.Seq, cmp.Or(string(b.Session), "-"), b.Problem)
		if _, err := fmt.Fprintln(a.stdout, visible(line)); err != nil {
			return err
		}
	}
	return nil
}
