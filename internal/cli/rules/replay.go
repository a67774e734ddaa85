package rules

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

const replayLong = `Decides the calls of this project's timeline again. Without a change it counts the questions
and the blocked calls, and the questions that would be left at medium autonomy and with
the suggested rules.

With a change it decides them twice. It shows how many questions the change saves, and
lists the calls whose verdict changes: calls no longer denied, questions that would go
away, and calls that would be held back, each list with the worst consequence first.
Nothing runs, and nothing is written.

--rules adds the rules of a permissions.json as rules of the project; the rules in force
stay. --autonomy decides as at that level. --task decides as if a task were approved, and
does not count its calls. --calls takes the calls from a file instead, or from standard
input for "-", in the format of "umpire check --stdin" with an optional "count".

With --fail-on-widen it prints a Markdown table for a pull request, and exits with 7 if
the change permits more of any call.

The limits: umpire decides a call against the files and settings of today, not those of
its time, in the folder of its session and the configured mode. Secrets in it are masked.
Approvals for a session do not count. umpire leaves out, and counts, calls that an agent's
host let through without a question, and calls of deleted sessions and folders.`

const replayExample = `  umpire replay
  umpire replay --autonomy medium
  umpire replay --rules new.json --since 30d
  umpire replay --task task.txt
  umpire replay --rules .umpire/permissions.json --calls calls.jsonl --fail-on-widen`

type replayFlags struct {
	pastFlags

	rules, autonomy   string
	task              string
	json, failOnWiden bool
}

// NewReplayCommand is `umpire replay`.
func NewReplayCommand(a *app.App) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay", Args: app.RefuseUnknownCommand,
		Short: "Decide past calls again with other rules or another level of autonomy", Long: replayLong,
		Example: replayExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.Context(), a, &f) },
	}
	f.defineFlags(cmd.Flags())
	app.CompleteWords(cmd, "autonomy", config.LevelNames()...)
	return cmd
}

func (f *replayFlags) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.rules, "rules", "", "add the rules in `FILE` as rules of the project")
	flags.StringVar(&f.autonomy, "autonomy", "", "decide as at this `LEVEL`: low, medium or high")
	flags.StringVar(&f.task, "task", "", "decide as if the task in `FILE` were approved, for any number of calls")
	f.pastFlags.defineFlags(flags)
	flags.StringVar(&f.calls, "calls", "", "decide the calls in `FILE`, or - for standard input")
	flags.BoolVar(&f.json, "json", false, "write JSON")
	flags.BoolVar(&f.failOnWiden, "fail-on-widen", false,
		"write Markdown, and end with 7 if the change permits more of any call")
}

func (f *replayFlags) validate() error {
	switch {
	case !f.changes() && f.failOnWiden:
		return app.Usage("umpire replay --autonomy medium",
			"no change to compare with: give --rules, --autonomy or --task")
	case f.autonomy != "" && !slices.Contains(config.LevelNames(), f.autonomy):
		return app.Usage("umpire replay --autonomy medium", "--autonomy: want one of %s, got %q",
			strings.Join(config.LevelNames(), ", "), f.autonomy)
	case f.calls != "" && f.since != "":
		return app.Usage("umpire replay --help", "--since is for the timeline: it cannot be used with --calls")
	case f.calls != "" && f.all:
		return app.Usage("umpire replay --help", "--all-projects is for the timeline: it cannot be used with --calls")
	}
	return nil
}

// changes reports whether the flags describe a change to compare with.
func (f *replayFlags) changes() bool { return f.rules != "" || f.autonomy != "" || f.task != "" }

// A replay is the result of `umpire replay`.
type replay struct {
	From time.Time `json:"from,omitzero"` // of the first call that counts
	history.Comparison
	// LeftOut counts the calls that cannot be decided again.
	LeftOut int `json:"left_out"`

	markdown bool
}

func runReplay(ctx context.Context, a *app.App, f *replayFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	if !f.changes() {
		return runReport(ctx, a, f)
	}
	if _, err := a.LoadConfig(a.Dir); err != nil {
		return err
	}
	change, err := f.readChange(a)
	if err != nil {
		return err
	}
	r := replay{markdown: f.failOnWiden}
	err = f.withCalls(ctx, a, "umpire replay --help", func(past *pastCalls, batches *batchCache) error {
		return r.compare(ctx, a, past, batches, change)
	})
	if err != nil {
		return err
	}
	if err := a.Show(f.json, &r, func() error { return r.tell(a) }); err != nil {
		return err
	}
	if n := r.Opened(); f.failOnWiden && n > 0 {
		return &app.CommandError{Code: app.ExitWidens, Hint: "umpire replay --help",
			Err: umpire.Errorf("the change permits more of %s", app.NewCount(n, "%d call", "%d calls"))}
	}
	return nil
}

// readChange returns the change of the settings that the flags describe.
func (f *replayFlags) readChange(a *app.App) (func(string, *gate.Config), error) {
	var rules []umpire.Rule
	if f.rules != "" {
		p, err := a.FindProject(a.Dir)
		if err != nil {
			return nil, err
		}
		if rules, err = app.ReadRuleFile(a.UserHome(), a.Absolute(f.rules), p.Root); err != nil {
			return nil, err
		}
		for i := range rules {
			rules[i].Source = umpire.SourceProject
		}
	}
	if f.task != "" {
		t, err := readTask(a, f.task)
		if err != nil {
			return nil, err
		}
		rules = append(rules, taskRules(&t)...)
	}
	return func(_ string, c *gate.Config) {
		c.Rules = append(c.Rules, rules...)
		if f.autonomy != "" {
			c.Settings.Autonomy = policy.Level(f.autonomy).Autonomy()
		}
	}, nil
}

// compare decides the calls by the settings in force, and by the changed ones.
func (r *replay) compare(
	ctx context.Context, a *app.App, past *pastCalls, batches *batchCache, change func(root string, c *gate.Config),
) error {
	before, after := app.NewDecider(a, nil), app.NewDecider(a, change)
	defer before.Close()
	defer after.Close()
	r.From, r.LeftOut = past.first, past.lost
	calls := past.calls
	changes := make([]*history.Change, len(calls)) // nil for a call that is gone
	err := eachCall(ctx, len(calls), func(ctx context.Context, at int) error {
		p := calls[at]
		call, err := p.loadCall(ctx, batches)
		if call == nil || err != nil {
			return err
		}
		was, err := before.Decide(p.root, *call, p.own)
		if err != nil {
			return err
		}
		is, err := after.Decide(p.root, *call, p.own)
		if err != nil {
			return err
		}
		changes[at] = p.change(a, call, &was, &is)
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range changes {
		if c == nil {
			r.LeftOut += calls[i].times
			continue
		}
		r.Add(*c)
	}
	r.Sort()
	return nil
}

// change returns the outcomes of the call. Only a call whose outcome changes is described.
func (p *pastCall) change(a *app.App, call *umpire.Call, was, is *umpire.Decision) *history.Change {
	c := history.Change{Times: p.times, Before: history.OutcomeOf(was), After: history.OutcomeOf(is)}
	if c.Before == c.After {
		return &c
	}
	asking := was // the stricter decision tells why the call needs a person
	if c.After < c.Before {
		asking = is
	}
	c.Session, c.Call, c.Root, c.Tool = p.session, p.id, p.root, call.Tool
	c.Subject = view.Clip(view.SubjectOf(call.Input), maxSubject)
	c.Consequence = umpire.WorseConsequence(was.Consequence, is.Consequence)
	c.Headline = view.Headline(asking, view.Folders{Root: p.root, Home: a.UserHome()}, a.Text)
	return &c
}

// maxSubject bounds the length of a command in the results.
const maxSubject = 500

// maxChanges is the greatest number of changes of a kind that are shown.
const maxChanges = 20

func (r *replay) tell(a *app.App) error {
	if r.markdown {
		return r.tellMarkdown(a.Stdout, a.Text)
	}
	r.tellCounts(a.Stdout, a.Text)
	refusals, questions, held := r.Split()
	if err := tellChanges(a.Stdout, a.Text, "calls no longer denied", refusals); err != nil {
		return err
	}
	if err := tellChanges(a.Stdout, a.Text, "questions that would go away", questions); err != nil {
		return err
	}
	if err := tellChanges(a.Stdout, a.Text, "calls that would be held back", held); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of(replayLimits))
	return err
}

// replayLimits says how far to trust the result.
const replayLimits = "Decided against the files and settings of today, not those of the time of each call."

func (r *replay) tellCounts(out io.Writer, text *catalogue.Language) {
	say := func(format string, args ...any) { fmt.Fprintf(out, text.Of(format)+"\n", args...) }
	calls := text.Count(r.Calls, "%d call", "%d calls")
	if r.From.IsZero() {
		say("%s: %d questions before, %d after", calls, r.Before, r.After)
	} else {
		from := r.From.Local().Format(time.DateTime)
		say("%s since %s: %d questions before, %d after", calls, from, r.Before, r.After)
	}
	say("questions saved: %d", r.Saved)
	if r.LeftOut > 0 {
		say("%s left out: not kept on the timeline, or the session or folder is gone",
			text.Count(r.LeftOut, "%d call", "%d calls"))
	}
}

// tellChanges writes the changes of a kind as a table.
func tellChanges(out io.Writer, text *catalogue.Language, title string, changes []history.Change) error {
	if len(changes) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", text.Of(title))
	t := app.NewTable(out)
	for i := range changes[:min(len(changes), maxChanges)] {
		c := &changes[i]
		fmt.Fprintf(t, "  %d×\t%s → %s\t%s\t%s\t%s\n", c.Times, outcomeWord(text, c.Before), outcomeWord(text, c.After),
			text.Word("consequence", c.Consequence.String()), view.Clip(view.Visible(c.Subject), maxShownSubject),
			app.Clip(c.Headline))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(changes) - maxChanges; more > 0 {
		fmt.Fprintf(out, "  "+text.Of("and %d more; --json has them all")+"\n", more)
	}
	return nil
}

// maxShownSubject bounds the length of a command in a table.
const maxShownSubject = 60

func outcomeWord(text *catalogue.Language, o history.Outcome) string {
	return text.Word("verdict", o.String())
}

// tellMarkdown writes the changes as a table for a pull request.
func (r *replay) tellMarkdown(out io.Writer, text *catalogue.Language) error {
	say := func(format string, args ...any) { fmt.Fprintf(out, text.Of(format)+"\n", args...) }
	r.tellCounts(out, text)
	if len(r.Changes) == 0 {
		fmt.Fprintln(out)
		say("No verdict changes.")
	} else {
		fmt.Fprintln(out)
		say("| times | before | after | consequence | call | it would do |")
		fmt.Fprintln(out, "|---:|---|---|---|---|---|")
	}
	for i := range r.Changes[:min(len(r.Changes), 3*maxChanges)] {
		c := &r.Changes[i]
		fmt.Fprintf(out, "| %d | %s | %s | %s | %s | %s |\n", c.Times, outcomeWord(text, c.Before),
			outcomeWord(text, c.After), text.Word("consequence", c.Consequence.String()), codeCell(c.Subject),
			codeCell(c.Headline))
	}
	if more := len(r.Changes) - 3*maxChanges; more > 0 {
		fmt.Fprintln(out)
		say("and %d more; --json has them all", more)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", text.Of(replayLimits))
	return err
}

// codeCell shows a text as code in a cell of a Markdown table: nothing in it is formatting or a mention.
func codeCell(text string) string {
	text = strings.ReplaceAll(view.Visible(text), "|", `\|`)
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}
