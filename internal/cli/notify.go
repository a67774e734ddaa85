package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/view"
)

// newNotifyCommand is `umpire console notify`.
func newNotifyCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Args: app.RefuseUnknownCommand,
		Short:   "Send a test notice about waiting calls",
		Long:    notifyLong,
		Example: "  umpire console notify test",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "test", Args: app.RefuseWords,
		Short: "Send a test notice to every target, and show the result",
		RunE:  func(cmd *cobra.Command, _ []string) error { return testNotices(cmd.Context(), a) },
	})
	return cmd
}

// startNotices starts sending notices, if there are any targets. It reports an error in the
// settings, which does not stop the gate.
func startNotices(a *app.App, g *gate.Gate, c notice.Config) (stop func()) {
	if !c.On() {
		return func() {}
	}
	c.Gate = g // it signs replies itself
	notices, err := notice.Start(c)
	if err != nil {
		a.RemarkError(err)
		return func() {}
	}
	return func() { _ = notices.Close() } // never fails
}

// testNotices sends a notice to every target.
func testNotices(ctx context.Context, a *app.App) error {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return err
	}
	a.RemarkAll(conf.Notices)
	results, err := notice.Test(ctx, app.NoticeConfig(a, conf))
	if err != nil {
		return app.Failed(err)
	}
	if len(results) == 0 {
		return app.Refused("umpire console notify --help",
			"no notices are sent: set the key notify, or turn notices on in a browser")
	}
	failed := false
	for _, r := range results {
		said := a.Text.Of("sent")
		if r.Err != nil {
			failed, said = true, a.Text.Error(r.Err)
		}
		fmt.Fprintln(a.Stdout, view.Visible(view.Joined(r.Name, ": ", said)))
	}
	if failed {
		return app.Failed(errors.New("some notices could not be sent"))
	}
	return nil
}
