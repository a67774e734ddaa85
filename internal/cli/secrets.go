package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// leaseFlags are the flags of `umpire secrets lease`.
type leaseFlags struct {
	host, session  string
	methods, paths []string
	duration       time.Duration
}

// The length of a lease.
const (
	leaseTime    = time.Hour
	maxLeaseTime = 30 * 24 * time.Hour
)

// newSecretsCommand is `umpire secrets`.
func newSecretsCommand(a *app.App) *cobra.Command {
	asJSON := false
	list := func(*cobra.Command, []string) error { return listLeases(a, asJSON) }
	cmd := &cobra.Command{
		Use: "secrets", Args: app.RefuseWords, RunE: list,
		Short:   "Let commands use a token that they never see",
		Long:    secretsLong,
		Example: secretsExample,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "write JSON")
	var f leaseFlags
	lease := &cobra.Command{
		Use: "lease NAME", Args: app.WantWords("NAME"),
		Short:   "Lease a secret for requests to one host",
		Long:    leaseLong,
		Example: leaseExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return leaseSecret(cmd.Context(), a, &f, args[0])
		},
	}
	flags := lease.Flags()
	flags.StringVar(&f.host, "host", "", "the `HOST` that gets the secret, over HTTPS")
	flags.StringSliceVar(&f.methods, "methods", []string{"GET"}, "the `METHODS` of requests that may carry it")
	flags.StringSliceVar(&f.paths, "paths", nil,
		"the `PATHS` of these requests; * at the end stands for everything below")
	flags.DurationVar(&f.duration, "for", leaseTime, "end the lease after this `TIME`")
	flags.StringVar(&f.session, "session", "", "only for the session `ID` (default: every session of this project)")
	app.CompleteWith(lease, "session", completeSessions(a))
	cmd.AddCommand(lease, &cobra.Command{
		Use: "leases", Args: app.RefuseWords, RunE: list,
		Short: "List the leased secrets of this project", Example: "  umpire secrets leases --json",
	}, &cobra.Command{
		Use: "revoke NAME", Args: app.WantWords("NAME"),
		Short: "End a lease at once", Example: "  umpire secrets revoke GITHUB_TOKEN",
		RunE: func(cmd *cobra.Command, args []string) error {
			return revokeLease(cmd.Context(), a, args[0])
		},
	})
	return cmd
}

// leaseSecret leases a secret to the commands of the project. The lease is on the timeline before it holds.
func leaseSecret(ctx context.Context, a *app.App, f *leaseFlags, name string) error {
	if f.host == "" || len(f.paths) == 0 {
		return app.Usage("umpire secrets lease --help",
			"--host and --paths are needed: which requests may carry the secret")
	}
	request, err := egress.NewLease(name, f.host, f.methods, f.paths)
	if err != nil {
		return app.Usage("umpire secrets lease --help", "%w", err)
	}
	if f.duration <= 0 || f.duration > maxLeaseTime {
		return app.Usage("umpire secrets lease --help", "--for %s: want more than 0 and at most %s",
			view.Duration(f.duration), view.Duration(maxLeaseTime))
	}
	if err := wantHome(a.Home()); err != nil {
		return err
	}
	p, err := a.FindProject(a.Dir)
	if err != nil {
		return err
	}
	if _, err := app.Leases(a).Find(p.ID, name); !errors.Is(err, fs.ErrNotExist) {
		return app.Refused("umpire secrets revoke "+name, "%s: %w", name, cmp.Or(err, secret.ErrLeased))
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		if err := app.RefuseRunner(ctx, a, gate, "secrets lease"); err != nil {
			return err
		}
		session := umpire.SessionID("")
		if f.session != "" {
			if session, err = findSession(ctx, a, gate, f.session); err != nil {
				return err
			}
		}
		value, err := readLeased(ctx, a, name)
		if err != nil {
			return err
		}
		l := secret.Lease{
			Name: name, Host: request.Host, Methods: request.Methods, Paths: request.Paths,
			Project: p.ID, Session: session,
			CreatedAt: a.Now().UTC(), ExpiresAt: a.Now().UTC().Add(f.duration),
		}
		if err := gate.Grants().RecordLease(ctx, recordOf(a.Dir, &l, false)); err != nil {
			return err
		}
		if err := app.Leases(a).Add(&l, value); err != nil {
			return app.Failed(err)
		}
		fmt.Fprintf(a.Stdout, a.Text.Of("leased %s for %s until %s; to end it: umpire secrets revoke %s\n"), name,
			l.Host, l.ExpiresAt.Local().Format(timeLayout), name)
		return nil
	})
}

// readLeased reads a secret from the terminal, which does not show it, or from standard input.
func readLeased(ctx context.Context, a *app.App, name string) (value string, err error) {
	if a.Terminal {
		value, err = app.AskSecret(ctx, a, fmt.Sprintf(a.Text.Of("Value of %s (it is not shown): "), name))
	} else {
		value, err = bufio.NewReader(io.LimitReader(a.Stdin, secret.MaxLeased+2)).ReadString('\n')
		value = strings.TrimRight(value, "\r\n")
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return "", app.Failed(err)
	}
	if err := secret.CheckValue(value); err != nil {
		return "", app.Usage("umpire secrets lease "+name+" ... < FILE", "%w", err)
	}
	return value, nil
}

// recordOf returns a lease as the timeline has it.
func recordOf(dir string, l *secret.Lease, revoked bool) umpire.SecretLease {
	return umpire.SecretLease{
		Dir: dir, Name: l.Name, Host: l.Host, Methods: l.Methods, Paths: l.Paths, Session: l.Session,
		ExpiresAt: l.ExpiresAt, Revoked: revoked,
	}
}

// revokeLease ends a lease at once, also for commands that run.
func revokeLease(ctx context.Context, a *app.App, name string) error {
	p, err := a.FindProject(a.Dir)
	if err != nil {
		return err
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		if err := app.RefuseRunner(ctx, a, gate, "secrets revoke"); err != nil {
			return err
		}
		l, err := app.Leases(a).Remove(p.ID, name)
		if errors.Is(err, fs.ErrNotExist) {
			err = umpire.Errorf("%q is not leased in this project", name)
			return &app.CommandError{Code: app.ExitError, Hint: "umpire secrets leases", Err: err}
		}
		if err != nil {
			return app.Failed(err)
		}
		fmt.Fprintf(a.Stdout, a.Text.Of("revoked %s\n"), view.Visible(l.Name))
		return gate.Grants().RecordLease(ctx, recordOf(a.Dir, &l, true))
	})
}

// listLeases shows the leases of the project.
func listLeases(a *app.App, asJSON bool) error {
	p, err := a.FindProject(a.Dir)
	if err != nil {
		return err
	}
	leases, err := app.Leases(a).List(p.ID)
	if err != nil {
		return app.Failed(err)
	}
	if leases == nil {
		leases = []secret.Lease{}
	}
	return a.Show(asJSON, leases, func() error { return showLeases(a.Stdout, a.Text, leases) })
}

func showLeases(out io.Writer, text *catalogue.Language, leases []secret.Lease) error {
	if len(leases) == 0 {
		_, err := fmt.Fprintln(out, text.Of("no secret is leased"))
		return err
	}
	table := app.NewTable(out)
	table.Head(text, "SECRET", "HOST", "METHODS", "PATHS", "ENDS", "SESSION")
	for _, l := range leases {
		words := []string{
			l.Name, l.Host, strings.Join(l.Methods, ","), strings.Join(l.Paths, ","),
			l.ExpiresAt.Local().Format(timeLayout), cmp.Or(string(l.Session), "-"),
		}
		for i := range words {
			words[i] = view.Visible(words[i])
		}
		table.Row(words...)
	}
	return table.Flush()
}

const secretsLong = `Leases a token to the commands that umpire tries: they get a placeholder in its place, and
umpire puts the token into their requests. Only requests to one host get it, by the methods
and for the paths that you lease it for. What a command prints, stores or sends elsewhere
is the placeholder, which is worth nothing. Lists the leases of this project.

A leased host needs no entry in autonomy.destinations for these requests. Deny and ask
rules about it still win. Every use is on the timeline, without the token.

Only a person can lease a secret, or end a lease. Trials with a network of their own need
Linux.`

const secretsExample = `  umpire secrets lease GITHUB_TOKEN --host api.github.com --methods GET,POST \
    --paths '/repos/me/*'
  umpire secrets leases
  umpire secrets revoke GITHUB_TOKEN`

const leaseLong = `Leases a secret to the commands of this project, or of one session. umpire asks for the
secret and doesn't show it, or reads a line of standard input. It is stored encrypted in
~/.umpire.

Commands find the placeholder in the environment variable NAME. Requests may carry it in a
header, such as Authorization: Bearer $NAME, or as the user or password of Basic
authentication, as git does. A path may have one * in each segment; at the end, * stands for
everything that follows. GET covers HEAD.`

const leaseExample = `  umpire secrets lease GITHUB_TOKEN --host api.github.com --methods GET,POST \
    --paths '/repos/me/*'
  umpire secrets lease NPM_TOKEN --host npm.example.com --paths '/@me/*,/@me%2f*' --for 8h < token`
