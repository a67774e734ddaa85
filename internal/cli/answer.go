package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/run"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// Only people may answer. A person first sees the whole card, and then proves to be present:
// on the process's terminal, by typing back the word that the card asks for. A script proves
// it by naming the person's credential.

// An answerCommand answers one question, with the flags of the command.
type answerCommand struct {
	*app.App

	scope, rule string
	width       string
	expires     string
	tokenFile   string
	try, json   bool
}

// newApproveCommand is `umpire approve`.
func newApproveCommand(a *app.App) *cobra.Command {
	cmd, c := newAnswerCommand(a, umpire.Approve, &cobra.Command{
		Use: "approve ID", Args: app.WantWords("ID"),
		Short: "Approve a waiting call", Long: approveLong, Example: approveExample,
	})
	flags := cmd.Flags()
	flags.StringVar(&c.scope, "scope", "once", "how far the approval reaches, `SCOPE`: once, session, project or "+
		"global")
	flags.StringVar(&c.rule, "rule", "",
		"the `RULE` to add for a wider scope, in short form (default: the narrowest)")
	flags.StringVar(&c.width, "width", "",
		"how much a wider scope covers, `WIDTH`: exact, subcommand, folder, parent or tool (default: the narrowest)")
	flags.StringVar(&c.expires, "expires", "", "`WHEN` it ends: 2027-01-01, an RFC 3339 time, or a duration such as 8h")
	flags.BoolVar(&c.try, "try", false, "run the call in a trial first and show its changes")
	app.CompleteWords(cmd, "width", "exact", "subcommand", "folder", "parent", "tool")
	app.CompleteWords(cmd, "scope", "once", "session", "project", "global")
	return cmd
}

// newDenyCommand is `umpire deny`.
func newDenyCommand(a *app.App) *cobra.Command {
	cmd, _ := newAnswerCommand(a, umpire.Refuse, &cobra.Command{
		Use: "deny ID [REASON]", Args: app.WantWordsFrom("ID"),
		Short: "Deny a waiting call; the agent gets your reason", Long: denyLong, Example: denyExample,
	})
	return cmd
}

// newCancelCommand is `umpire cancel`.
func newCancelCommand(a *app.App) *cobra.Command {
	cmd, _ := newAnswerCommand(a, umpire.Cancel, &cobra.Command{
		Use: "cancel ID", Args: app.WantWords("ID"),
		Short: "Deny a waiting call, and stop the agent's turn", Long: cancelLong, Example: "  umpire cancel 4k7m",
	})
	return cmd
}

// newAnswerCommand makes a command answer a question, with the flags that all answers have.
// Words after the question's id are the reason.
func newAnswerCommand(a *app.App, choice umpire.Choice, cmd *cobra.Command) (*cobra.Command, *answerCommand) {
	c := &answerCommand{App: a}
	cmd.ValidArgsFunction = completePending(a)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer := umpire.Answer{Choice: choice, Reason: strings.Join(args[1:], " ")}
		return c.answerQuestion(cmd.Context(), answer, args[0])
	}
	cmd.Flags().StringVar(&c.tokenFile, "token-file", "",
		"answer with the person's credential in `FILE` instead of on a terminal")
	cmd.Flags().BoolVar(&c.json, "json", false, "write the batch as JSON")
	return cmd, c
}

// verbs are the choices as commands.
var verbs = map[umpire.Choice]string{
	umpire.Approve: "approve", umpire.Refuse: "deny", umpire.Cancel: "cancel", umpire.Try: "approve",
}

// answerQuestion answers one question.
func (c *answerCommand) answerQuestion(ctx context.Context, answer umpire.Answer, id string) error {
	if err := c.fillAnswer(&answer, c.Now()); err != nil {
		return err
	}
	gate, done, err := openPersonsGate(ctx, c.App, c.tokenFile)
	if err != nil {
		return err
	}
	defer done()
	p, err := findPending(ctx, c.Text, gate, id)
	if err != nil {
		return err
	}
	session, err := gate.Sessions().Get(ctx, p.Session)
	if err != nil {
		return app.GateError(err)
	}
	if err := app.RefuseRunner(ctx, c.App, gate, verbs[answer.Choice]); err != nil {
		return err
	}
	if answer.Choice == umpire.Approve && answer.Scope != umpire.ScopeOnce {
		if p.Coverage, err = view.LoadCoverage(ctx, gate, &p); err != nil {
			return app.GateError(err)
		}
	}
	if err := c.confirm(ctx, gate, &answer, p, session); err != nil {
		return err
	}
	return c.resolve(ctx, gate, answer, p)
}

// fillAnswer takes the flags into the answer.
func (c *answerCommand) fillAnswer(answer *umpire.Answer, now time.Time) error {
	if answer.Choice != umpire.Approve {
		return nil
	}
	if err := answer.Scope.UnmarshalText([]byte(c.scope)); err != nil {
		return app.Usage("umpire approve --help", "--%w", err)
	}
	if c.try {
		answer.Choice = umpire.Try
		if c.scope != umpire.ScopeOnce.String() || c.rule != "" || c.width != "" || c.expires != "" {
			return app.Usage("umpire approve --help", "--try cannot be used with an approval: it does not answer yet")
		}
		return nil
	}
	for flag, value := range map[string]string{"rule": c.rule, "width": c.width, "expires": c.expires} {
		if value != "" && answer.Scope == umpire.ScopeOnce {
			return app.Usage("umpire approve --help", "--%s needs --scope session, project or global", flag)
		}
	}
	if c.rule != "" && c.width != "" {
		return app.Usage("umpire approve --help", "--width cannot be used with --rule, which sets its own width")
	}
	if err := answer.Width.UnmarshalText([]byte(c.width)); err != nil {
		return app.Usage("umpire approve --help", "--%w", err)
	}
	if c.expires != "" {
		at, err := app.Expiry(c.expires, now)
		if err != nil {
			return err
		}
		answer.ExpiresAt = at
	}
	if c.rule == "" {
		return nil
	}
	rule, err := policy.ParseShort(c.rule)
	if err != nil {
		return app.Usage("umpire help rules", "--rule: %w", err)
	}
	answer.Rule = policy.FormatShort(rule)
	return nil
}

// openPersonsGate opens the gate as a person. A credential that is named is used
// instead of the one in umpire's own folder.
func openPersonsGate(ctx context.Context, a *app.App, tokenFile string) (umpire.Gate, func(), error) {
	if tokenFile != "" {
		tokenFile = a.Absolute(tokenFile)
	}
	gate, _, done, err := a.ReachGate(ctx, app.PersonCredential, tokenFile)
	return gate, done, err
}

// findPending finds the question that an id means: a request's id or a beginning
// of it, or a call's id.
func findPending(ctx context.Context, text *catalogue.Language, gate umpire.Gate, id string) (umpire.Pending, error) {
	all, err := gate.Pending(ctx, umpire.PendingQuery{})
	if err != nil {
		return umpire.Pending{}, app.GateError(err)
	}
	found := matching(all, id)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return umpire.Pending{}, explainMissing(ctx, text, gate, id)
	}
	var ids []string
	for i := range found {
		ids = append(ids, string(found[i].Request))
	}
	return umpire.Pending{},
		app.Usage("umpire pending --all-projects", "%q matches %d questions: "+
			"%s", id, len(found), strings.Join(ids, ", "))
}

// matching returns the questions that an id may mean. A complete id matches only
// itself, even if other ids begin like it.
func matching(all []umpire.Pending, id string) []umpire.Pending {
	keep := func(is func(p *umpire.Pending) bool) []umpire.Pending {
		var kept []umpire.Pending
		for i := range all {
			if is(&all[i]) {
				kept = append(kept, all[i])
			}
		}
		return kept
	}
	for _, is := range []func(p *umpire.Pending) bool{
		func(p *umpire.Pending) bool { return string(p.Request) == id },
		func(p *umpire.Pending) bool { return string(p.Call) == id },
		func(p *umpire.Pending) bool { return id != "" && strings.HasPrefix(string(p.Request), id) },
	} {
		if found := keep(is); len(found) > 0 {
			return found
		}
	}
	return nil
}

// searchedEvents is how many of the last events are searched for an answer.
const searchedEvents = 5000

// explainMissing says why no question has an id: it was answered, or never asked.
func explainMissing(ctx context.Context, text *catalogue.Language, gate umpire.Gate, id string) error {
	events, err := gate.Events(ctx, umpire.Filter{Last: searchedEvents})
	if err != nil {
		return app.GateError(err)
	}
	for _, e := range slices.Backward(events) {
		about := id != "" &&
			(string(e.Request) == id || string(e.Call) == id || len(id) >= shortestID &&
				strings.HasPrefix(string(e.Request), id))
		if about && (e.Kind == umpire.EventPermissionApproved || e.Kind == umpire.EventPermissionRejected) {
			return app.Refused("umpire timeline --session "+string(e.Session), "%s",
				view.DescribeStanding(view.StandingOf(&e), text))
		}
	}
	return &app.CommandError{Code: app.ExitError, Err: umpire.Errorf("no waiting call has the ID %q", app.Clip(id)),
		Hint: "umpire pending --all-projects"}
}

// shortestID is how many letters of an id are enough to look for an old one.
const shortestID = 4

// timeLayout is how people are shown a moment.
const timeLayout = "2006-01-02 15:04:05"

// confirm shows the card and has a person confirm the answer.
func (c *answerCommand) confirm(
	ctx context.Context, gate umpire.Gate, answer *umpire.Answer, p umpire.Pending, s umpire.Session,
) error {
	changes := run.ChangesOf(ctx, c.App, gate, &p, &s)
	if c.tokenFile != "" {
		text, err := c.renderCard(answer, p, s, changes, false)
		if err != nil {
			return err
		}
		_, err = c.Stderr.Write(text)
		return app.Failed(err)
	}
	tty, err := c.OpenTerminal()
	if err != nil {
		text, cardErr := c.renderCard(answer, p, s, changes, c.Colour())
		if _, err := c.Stderr.Write(text); err != nil {
			return app.Failed(err)
		}
		if cardErr != nil {
			return cardErr
		}
		return app.Refused("umpire "+verbs[answer.Choice]+" "+string(p.Request)+" "+c.Text.Of("in a terminal"),
			"an answer needs a person at a terminal: %w", err)
	}
	defer tty.Close()
	return c.confirmOnTerminal(ctx, tty, answer, p, s, changes)
}

func (c *answerCommand) confirmOnTerminal(ctx context.Context, tty *os.File, answer *umpire.Answer, p umpire.Pending,
	s umpire.Session, changes run.Changes) error {
	text, err := c.renderCard(answer, p, s, changes, c.Getenv("NO_COLOR") == "")
	if err != nil {
		tty.Write(text) //nolint:errcheck // the following refusal says it as well
		return err
	}
	// A y approves a call with small effects. A call with large effects, a lasting answer, and an incomplete card
	// need a code.
	word, left := "y", ""
	if view.Approves(answer, &p) {
		left = changes.LeftOut(c.Text, view.New(p, s, c.UserHome(), c.Text, c.Now(), false))
	}
	if left != "" || view.NeedsCode(answer, &p) {
		word = app.NewCode()
	}
	if left != "" {
		text = fmt.Appendln(text, left)
	}
	err = c.Confirm(ctx, tty, string(text), word)
	if errors.Is(err, app.ErrUnconfirmed) {
		return &app.CommandError{Code: app.ExitAsks, Err: umpire.Errorf("%w: the call still waits", err),
			Hint: "umpire pending"}
	}
	return err
}

// renderCard writes the card and the answer's effect. The error means that the answer
// cannot be given; it returns the card anyway.
func (c *answerCommand) renderCard(answer *umpire.Answer, p umpire.Pending, s umpire.Session, changes run.Changes,
	colour bool) ([]byte, error) {
	var b bytes.Buffer
	shown := view.New(p, s, c.UserHome(), c.Text, c.Now(), colour, host.MeanwhileIn(&s)...)
	fmt.Fprintln(&b, shown.Whole())
	b.WriteString(changes.Text(c.Text))
	row := func(name, value string) { b.WriteString(view.Row(name, value)) }
	switch answer.Choice {
	case umpire.Refuse:
		denial := c.Text.Of("deny")
		if answer.Reason != "" {
			denial = view.Joined(denial, ": ", view.Visible(answer.Reason))
		}
		row(c.Text.Of("answer"), denial)
	case umpire.Cancel:
		row(c.Text.Of("answer"), c.Text.Of("cancel, and stop the turn"))
	case umpire.Try:
		if p.TrialOffer == umpire.NoTrial {
			return b.Bytes(), app.Refused("umpire approve "+string(p.Request), "this call cannot be tried first")
		}
		row(c.Text.Of("answer"), view.DescribeOffer(p.TrialOffer, c.Text))
	case umpire.Approve:
		reach := shown.Reach(*answer)
		if err := view.CheckReach(shown, answer); err != nil {
			return b.Bytes(), app.Refused("umpire approve "+string(p.Request), "%w", err)
		}
		if len(reach) == 0 {
			if widths := shown.Widths(answer.Scope); len(widths) > 0 && answer.Width != widths[0] {
				return b.Bytes(),
					app.Refused(fmt.Sprintf("umpire approve %s --scope %s --width %s", p.Request, answer.Scope,
						widths[0]),
						"no rule of this width can cover this call, but a wider one can")
			}
			return b.Bytes(),
				app.Refused("umpire approve "+string(p.Request),
					"no rule can cover this call: approve it once, or for the session")
		}
		row(c.Text.Of("answer"), fmt.Sprintf(c.Text.Of("approve (%s)"), c.Text.Of(answer.Scope.String())))
		for _, line := range append(reach, view.DescribeCoverage(shown, *answer)...) {
			row("", line)
		}
		for _, width := range shown.Widths(answer.Scope) {
			if width != answer.Width && answer.Rule == "" {
				wider := umpire.Answer{Scope: answer.Scope, Width: width}
				covers := append(shown.Reach(wider), view.DescribeCoverage(shown, wider)...)
				row("--width "+string(width), view.List(covers, "; "))
			}
		}
		if said := view.DescribeOffer(p.TrialOffer, c.Text); said != "" {
			row("--try", said)
		}
		if (shown.Hidden() || view.Hides(answer.Rule)) && answer.Scope != umpire.ScopeOnce {
			return b.Bytes(),
				app.Refused("umpire approve "+string(p.Request),
					"the call contains hidden characters: it can be approved once only")
		}
	}
	fmt.Fprintln(&b)
	return b.Bytes(), nil
}

// resolve submits the answer, bound to the shown card.
func (c *answerCommand) resolve(ctx context.Context, gate umpire.Gate, answer umpire.Answer, p umpire.Pending) error {
	answer.Request, answer.ArgsHash, answer.Version, answer.ShownDigest = p.Request, p.ArgsHash, p.Version,
		p.ShownDigest
	b, err := gate.Resolve(ctx, answer)
	if err != nil {
		return explainLateAnswer(c.Text, err, &p)
	}
	if b.Total > 0 {
		if b, err = gate.Batch(ctx, p.Session, p.Batch); err != nil {
			return app.GateError(err)
		}
	}
	if c.json {
		return app.Failed(c.ShowJSON(b))
	}
	line := fmt.Sprintf("%s %s: %s", c.Text.Of(view.Answered(answer.Choice)), p.Request,
		app.Clip(view.Visible(subjectOf(&p))))
	if waiting := b.Waiting(); waiting > 0 {
		line += fmt.Sprintf(" (%s)", c.Text.Count(waiting, "%d of this message still waits",
			"%d of this message still wait"))
	}
	_, err = fmt.Fprintln(c.Stdout, line)
	return app.Failed(err)
}

// explainLateAnswer names the standing answer if this one came late.
func explainLateAnswer(text *catalogue.Language, err error, p *umpire.Pending) error {
	if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
		return app.Refused("umpire timeline --session "+string(p.Session), "%s",
			view.DescribeStanding(late.Standing, text))
	}
	return app.GateError(err)
}

// subjectOf describes a call in one line.
func subjectOf(p *umpire.Pending) string {
	switch {
	case p.CommandInfo != nil && p.CommandInfo.Command != "":
		return p.CommandInfo.Command
	case len(p.Paths) > 0:
		return p.Tool + " " + strings.Join(p.Paths, " ")
	}
	return p.Tool + " " + string(p.Input)
}
