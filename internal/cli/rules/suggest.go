package rules

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const suggestLong = `Finds the few rules that would have saved the most questions of this project's timeline,
and the next level of autonomy if it would have saved some. For each it shows the command
that applies it, the questions it saves beyond those listed before it, some of their calls,
the worst of these calls, and the worst call that it could allow, of all options known.

umpire suggests only rules that the card of a question also offers, and counts a question
only if its call would run with the rule. It never suggests a rule that would also allow a
critical call, or one that leaves the machine, loses data, or concerns a secret or a control
file, unless umpire offers such a rule for that call.

--accept N applies suggestion N, as its command would. Give it the flags of the list.

The limits are those of umpire replay: umpire decides the calls against the files and
settings of today, and approvals for a session do not count.`

type suggestFlags struct {
	pastFlags

	json   bool
	accept int
}

// NewSuggestCommand is `umpire suggest`. setLevel sets the level of autonomy.
func NewSuggestCommand(a *app.App, setLevel func(level string) error) *cobra.Command {
	var f suggestFlags
	cmd := &cobra.Command{
		Use: "suggest", Args: app.RefuseUnknownCommand,
		Short: "Suggest the rules that would have saved the most questions", Long: suggestLong,
		Example: "  umpire suggest --since 30d\n  umpire suggest --since 30d --accept 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("accept") && f.accept < 1 {
				return app.Usage("umpire suggest", "--accept %d: want the number of a suggestion", f.accept)
			}
			return runSuggest(cmd.Context(), a, &f, setLevel)
		},
	}
	f.pastFlags.defineFlags(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	cmd.Flags().IntVar(&f.accept, "accept", 0, "apply suggestion `N`")
	return cmd
}

// A suggested is the result of `umpire suggest`.
type suggested struct {
	From      time.Time `json:"from,omitzero"` // of the first call that counts
	Calls     int       `json:"calls"`
	Questions int       `json:"questions"`
	Saved     int       `json:"questions_saved"` // by all suggestions together
	LeftOut   int       `json:"left_out"`        // calls that cannot be decided again
	List      []savings `json:"suggestions"`

	since time.Time // of the flag, or zero
}

// savings are permissions that save questions together.
type savings struct {
	history.Saving

	permissions []*permission
}

func runSuggest(ctx context.Context, a *app.App, f *suggestFlags, setLevel func(string) error) error {
	if _, err := a.LoadConfig(a.Dir); err != nil {
		return err
	}
	var found *suggested
	err := f.withCalls(ctx, a, "umpire suggest --help", func(past *pastCalls, batches *batchCache) error {
		s := newSuggester(a, f.all)
		if err := s.decideCalls(ctx, past, batches); err != nil {
			return err
		}
		var err error
		found, err = s.suggest(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if f.accept > 0 {
		return found.accept(ctx, a, f.accept, setLevel)
	}
	return a.Show(f.json, found, func() error { return found.tell(a) })
}

// accept puts a suggestion in force, by the code of the command that it shows.
func (s *suggested) accept(ctx context.Context, a *app.App, n int, setLevel func(string) error) error {
	if n > len(s.List) {
		return app.Usage("umpire suggest", "--accept %d: the list has %s", n,
			app.NewCount(len(s.List), "%d suggestion", "%d suggestions"))
	}
	here, err := a.FindProject(a.Dir)
	if err != nil {
		return err
	}
	for _, p := range s.List[n-1].permissions {
		if p.root != "" && p.root != here.Root {
			return app.Usage(p.commandLine(), "--accept %d: it is a rule of the project in %s", n, p.root)
		}
	}
	for _, p := range s.List[n-1].permissions {
		fmt.Fprintln(a.Stdout, view.Visible(p.commandLine()))
		if p.level != "" {
			err = setLevel(string(p.level))
		} else {
			rule := p.rule.Rule()
			said := a.Text.Of("suggested by umpire, accepted on %s")
			rule.Description = fmt.Sprintf(said, a.Now().Format(time.DateOnly))
			err = addSuggested(ctx, a, p.scope, rule)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *suggested) tell(a *app.App) error {
	if s.Calls == 0 && s.LeftOut == 0 {
		return tellNoCalls(a.Stdout, a.Text, s.since)
	}
	say := func(format string, args ...any) { fmt.Fprintf(a.Stdout, a.Text.Of(format)+"\n", args...) }
	say("%s since %s: %d questions, of which the suggestions would have saved %d",
		a.Text.Count(s.Calls, "%d call", "%d calls"), s.From.Local().Format(time.DateTime), s.Questions, s.Saved)
	if s.LeftOut > 0 {
		say("%s left out: not kept on the timeline, or the session or folder is gone",
			a.Text.Count(s.LeftOut, "%d call", "%d calls"))
	}
	if len(s.List) == 0 {
		say("No rule would have saved two questions or more.")
		return nil
	}
	for i := range s.List {
		s.List[i].tell(a.Stdout, a.Text, i+1)
	}
	fmt.Fprintln(a.Stdout)
	say("To apply one: umpire suggest --accept N, with the same flags")
	say(replayLimits)
	return nil
}

func (s *savings) tell(out io.Writer, lang *catalogue.Language, n int) {
	fmt.Fprintf(out, "\n%d. %s\n", n, lang.Count(s.Saves, "saves %d question", "saves %d questions"))
	for _, command := range s.Commands {
		fmt.Fprintf(out, "     %s\n", view.Visible(command))
	}
	line := func(title, text string) {
		fmt.Fprintf(out, "   %s\n", view.Joined(lang.Of(title), ": ", text))
	}
	word := func(c umpire.Consequence) string { return lang.Word("consequence", c.String()) }
	var calls []string
	for _, call := range s.Calls {
		calls = append(calls, view.Clip(view.Visible(call), maxShownSubject))
	}
	shown := view.List(calls, ", ")
	if more := s.Kinds - len(s.Calls); more > 0 {
		shown = view.Joined(shown, ", ", lang.Count(more, "and %d more", "and %d more"))
	}
	line("of calls such as", shown)
	named := func(c umpire.Consequence, call, headline string) string {
		if call == "" {
			return word(c)
		}
		call = view.Clip(view.Visible(call), maxShownSubject)
		if headline != "" {
			call = view.Bracketed(call, app.Clip(headline))
		}
		return view.Joined(word(c), ": ", call)
	}
	line("the worst of them", named(s.Worst, s.Call, s.Headline))
	line("the worst it could allow", named(s.Most, s.Could, s.CouldSay))
}
