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
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// newGrantsCommand is `umpire rules grants`.
func newGrantsCommand(a *app.App) *cobra.Command {
	asJSON := false
	list := func(cmd *cobra.Command, _ []string) error { return listGrants(cmd.Context(), a, asJSON) }
	cmd := &cobra.Command{
		Use: "grants", Args: app.RefuseWords, RunE: list,
		Short:   "List your approvals, and revoke them",
		Long:    grantsLong,
		Example: grantsExample,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.AddCommand(&cobra.Command{
		Use: "list", Args: app.RefuseWords, RunE: list,
		Short: "List the grants of this project", Example: "  umpire rules grants list --json",
	})
	all := false
	revoke := &cobra.Command{
		Use: "revoke [ID]", Args: app.WantAtMostOneWord,
		Short:   "Revoke a grant, or all of them",
		Example: "  umpire rules grants revoke 4k7m\n  umpire rules grants revoke --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			r := umpire.Revocation{All: all}
			if len(args) > 0 {
				r.ID = args[0]
			}
			if (r.ID == "") == !r.All {
				return app.Usage("umpire rules grants list", "want the ID of one grant, or --all")
			}
			return revokeGrants(cmd.Context(), a, r, asJSON)
		},
	}
	revoke.Flags().BoolVar(&all, "all", false, "revoke every grant of this project")
	cmd.AddCommand(revoke)
	return cmd
}

// listGrants shows the grants of the project.
func listGrants(ctx context.Context, a *app.App, asJSON bool) error {
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		grants, err := gate.Grants().List(ctx, a.Dir)
		if err != nil {
			return err
		}
		return a.Show(asJSON, addAges(a.Now(), grants), func() error { return showGrants(a, grants) })
	})
}

// revokeGrants takes grants back.
func revokeGrants(ctx context.Context, a *app.App, r umpire.Revocation, asJSON bool) error {
	r.Dir = a.Dir
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		revoked, err := gate.Grants().Revoke(ctx, r)
		if errors.Is(err, umpire.ErrNotFound) {
			return &app.CommandError{Code: app.ExitError, Hint: "umpire rules grants", Err: err}
		}
		if err != nil {
			return err
		}
		return a.Show(asJSON, addAges(a.Now(), revoked), func() error { return showRevoked(a.Stdout, a.Text, revoked) })
	})
}

func showRevoked(out io.Writer, text *catalogue.Language, revoked []umpire.GrantStatus) error {
	if len(revoked) == 0 {
		return showNoGrants(out, text)
	}
	for i := range revoked {
		fmt.Fprintf(out, text.Of("revoked %s: %s\n"), view.Visible(revoked[i].ID),
			app.Clip(view.DescribeGrant(&revoked[i], text)))
	}
	return nil
}

func showNoGrants(out io.Writer, text *catalogue.Language) error {
	_, err := fmt.Fprintln(out, text.Of("no grants"))
	return err
}

// An agedGrant is a grant with its age in seconds.
type agedGrant struct {
	umpire.GrantStatus
	Age int64 `json:"age_seconds"`
}

func addAges(now time.Time, grants []umpire.GrantStatus) []agedGrant {
	list := []agedGrant{}
	for _, g := range grants {
		age := int64(0)
		if !g.CreatedAt.IsZero() {
			age = int64(now.Sub(g.CreatedAt).Seconds())
		}
		list = append(list, agedGrant{g, age})
	}
	return list
}

func showGrants(a *app.App, grants []umpire.GrantStatus) error {
	if len(grants) == 0 {
		return showNoGrants(a.Stdout, a.Text)
	}
	table := app.NewTable(a.Stdout)
	table.Head(a.Text, "GRANT", "KIND", "COVERS", "AGE", "ENDS", "USES", "GIVEN BY")
	for i := range grants {
		g := &grants[i]
		age, ends := "-", "-"
		if !g.CreatedAt.IsZero() {
			age = view.Age(a.Now().Sub(g.CreatedAt))
		}
		if !g.ExpiresAt.IsZero() {
			ends = g.ExpiresAt.Local().Format(timeLayout)
		}
		uses := fmt.Sprint(g.Uses)
		if g.MaxUses > 0 {
			uses += fmt.Sprintf("/%d", g.MaxUses)
		}
		table.Row(view.Visible(g.ID), a.Text.Word("grant", string(g.Kind)),
			app.Clip(view.DescribeGrant(g, a.Text)), age, ends, uses, view.Visible(cmp.Or(g.Source, "-")))
	}
	return table.Flush()
}

// formatGrantCount returns the number of grants, or says that everything is granted.
func formatGrantCount(lang *catalogue.Language, s *status) string {
	text := lang.Count(s.Grants, "%d grant", "%d grants")
	if s.AllowAll {
		text += ", " + lang.Of("ALLOW ALL is on")
	}
	return text
}
