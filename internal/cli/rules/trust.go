package rules

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// NewTrustCommand is `umpire rules trust`.
func NewTrustCommand(a *app.App) *cobra.Command {
	show, revoke, code, forget := false, false, false, false
	cmd := &cobra.Command{
		Use: "trust", Args: app.RefuseWords,
		Short: "Trust the allow rules and hooks in this project's files",
		Long:  trustLong,
		Example: "  umpire rules trust --show\n  umpire rules trust\n" +
			"  umpire rules trust --revoke\n  umpire rules trust --code",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			p, err := a.OpenProject()
			if err != nil {
				return err
			}
			switch {
			case show && revoke, show && forget, revoke && forget:
				return app.Usage("", "--show, --revoke and --forget cannot be combined")
			case forget && !code:
				return app.Usage("umpire rules trust --code --forget", "--forget can be used only with --code")
			case code && show:
				return app.Failed(showCode(a, p))
			case code && forget:
				return forgetCode(ctx, a, p)
			case code && revoke:
				return app.Usage("umpire rules trust --code --forget", "--revoke is for rules")
			case code:
				return trustCode(ctx, a, p)
			case show:
				_, err := showSleeping(a.Stdout, a.Text, p)
				return app.Failed(err)
			case revoke:
				return revokeTrust(ctx, a)
			}
			return grantTrust(ctx, a, p)
		},
	}
	cmd.Flags().BoolVar(&show, "show", false, "only show the rules that would take effect")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "stop trusting them")
	cmd.Flags().BoolVar(&code, "code", false, "trust the code of this clone: its tests, scripts and tool settings")
	cmd.Flags().BoolVar(&forget, "forget", false, "with --code: stop trusting the code")
	return cmd
}

// showSleeping lists the allow rules that trust would wake, by file, and returns
// the files.
func showSleeping(out io.Writer, text *catalogue.Language, p *app.OpenedProject) ([]rulefile.File, error) {
	var files []rulefile.File
	for _, f := range p.Rules().Files {
		if f.Source != umpire.SourceProject || !f.Untrusted() {
			continue
		}
		files = append(files, f)
		if err := showSleepingFile(out, text, &f); err != nil {
			return nil, err
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	_, err := fmt.Fprintln(out,
		text.Of("nothing to trust: no allow rule or hook in this project's files is inactive"))
	return nil, err
}

// showSleepingFile lists the allow rules and programs of one file that is not trusted.
func showSleepingFile(out io.Writer, lang *catalogue.Language, f *rulefile.File) error {
	var text strings.Builder
	if len(f.Asleep()) > 0 {
		fmt.Fprintf(&text, lang.Of("%s would allow:\n"), view.Visible(f.Path))
	}
	for _, r := range f.Asleep() {
		fmt.Fprintf(&text, "  %s\n", view.Visible(sleepingText(r)))
	}
	if len(f.AsleepHooks()) > 0 {
		fmt.Fprintf(&text, lang.Of("%s would run, as you:\n"), view.Visible(f.Path))
	}
	for _, h := range f.AsleepHooks() {
		fmt.Fprintf(&text, "  %s %s: %s\n", h.Event, view.Visible(strings.Join(h.Tools(), "|")),
			view.Visible(cmp.Or(h.Command, h.Fault)))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func sleepingText(r umpire.Rule) string {
	text := policy.FormatShort(r)
	if r.Description != "" {
		text += "  (" + r.Description + ")"
	}
	return text
}

// grantTrust records the hash of the content that was shown, even if the file has changed
// since.
func grantTrust(ctx context.Context, a *app.App, p *app.OpenedProject) error {
	files, err := showSleeping(a.Stdout, a.Text, p)
	if err != nil || len(files) == 0 {
		return app.Failed(err)
	}
	shown := umpire.TrustChange{Dir: a.Dir}
	for _, f := range files {
		shown.Files = append(shown.Files, umpire.TrustedFile{Path: f.Path, Hash: f.Hash})
	}
	return changeTrust(ctx, a, shown, "trusted %s as it is now\n")
}

func revokeTrust(ctx context.Context, a *app.App) error {
	return changeTrust(ctx, a, umpire.TrustChange{Dir: a.Dir, Revoke: true}, "%s is no longer trusted\n")
}

// changeTrust has the gate change the trust in rule files, and reports each.
func changeTrust(ctx context.Context, a *app.App, c umpire.TrustChange, said string) error {
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		files, err := gate.Rules().Trust(ctx, c)
		for _, file := range files {
			fmt.Fprintf(a.Stdout, a.Text.Of(said), view.Visible(file))
		}
		return err
	})
}

// trustLong is the long help of `umpire rules trust`.
const trustLong = `A clone brings its own rule files. Their deny and ask rules apply at once; their allow
rules and hooks apply only after you trust the file. umpire records the trusted content
outside the project. When the file changes, these rules and hooks become inactive again.
Rules that umpire itself writes there stay trusted.

Shows what the rules would allow and which programs would run, and trusts them. Only a
person can do this.

With --code you trust the code of the clone: tests, builds, scripts and checkers run code
from the project. In umpire's own sandbox they run unasked. An agent that runs its
commands itself must ask about them until you trust the code. You trust the commit and
every file that names code, as it is now. The trust ends when such a file changes or
appears, or when HEAD moves other than by a commit made here.`
