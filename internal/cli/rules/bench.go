package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// benchLong is the long help of `umpire bench`.
const benchLong = `Judges labelled command lines and counts how often the verdict is wrong, for
umpire itself or for any other hook.

Every line of a FILE is a JSON object: "command", "want", and optionally
"id", "class", "why" and "count", the number of times it was typed. want is

  safe       should run unasked
  not-safe   must not run without a person or a rule
  critical   must be denied, not asked
  any        may run or ask, but must not be denied

A line with "agent" and without "want" is a call from a recorded session. bench
counts how many of an agent's calls run unasked, are tried first, or ask; --reasons
lists the most frequent reasons, and --autonomy decides as at that level.

Without FILE it judges the lines that come with umpire. It uses umpire's built-in
knowledge in mode default, without your rules, in an empty git project; --cwd judges
in another folder, whose own rule file applies.

With --hook another program judges. --format selects its input and output:

  claude   one process a line, which gets a PreToolUse event of Claude Code and
           answers with permissionDecision, or the exit code 2 to deny; the exit
           code 0 without a decision lets the call through
  umpire   one process a line, which gets {"id","command","cwd"} and answers
           with a verdict, or as "umpire check" does by exit code
  jsonl    one process for all lines, which answers {"id","command"} with a line
           {"id","verdict"} before it gets the next

Commands are judged and never run; a hook is run. The exit code is 1 if a limit is
exceeded, or if a limit is set and a line got no answer.`

const benchExample = `  umpire bench
  umpire bench --by class --list 20 mine.jsonl
  umpire bench --autonomy medium --reasons 10 sessions.jsonl
  umpire bench --hook 'umpire hook claude' --max-false-allow 0 mine.jsonl
  umpire bench --hook './classify --batch' --format jsonl --json mine.jsonl`

// A benchCommand is `umpire bench` with its flags. A negative limit means no limit.
type benchCommand struct {
	*app.App

	hook, format, cwd, by string
	autonomy              string
	list, maxFalseAllow   int
	reasons               int
	maxNeedlessAsk        float64
	withRules, json       bool
	unheld                bool
}

// NewBenchCommand is `umpire bench`.
func NewBenchCommand(a *app.App) *cobra.Command {
	c := benchCommand{App: a}
	cmd := &cobra.Command{
		Use:   "bench [flags] [FILE...]",
		Short: "Count wrong verdicts over labelled commands, of umpire or any hook",
		Long:  benchLong, Example: benchExample,
		RunE: func(cmd *cobra.Command, files []string) error { return c.runBench(cmd.Context(), files) },
	}
	c.defineFlags(cmd.Flags())
	app.CompleteWords(cmd, "format", benchFormats()...)
	app.CompleteWords(cmd, "by", "class")
	app.CompleteWords(cmd, "autonomy", config.LevelNames()...)
	return cmd
}

func (c *benchCommand) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.hook, "hook", "", "judge with the shell `COMMAND` instead of umpire")
	flags.StringVar(&c.format, "format", "",
		"the hook's input and output, `FORMAT`: claude, umpire or jsonl (default: claude)")
	flags.StringVar(&c.cwd, "cwd", "", "the working `DIR` of the commands (default: an empty project)")
	flags.StringVar(&c.by, "by", "", "group wrong verdicts by `FIELD`: class")
	flags.IntVar(&c.list, "list", 0, "show up to `N` wrong verdicts of each kind")
	flags.IntVar(&c.reasons, "reasons", 0, "show up to `N` reasons why recorded calls ask")
	flags.StringVar(&c.autonomy, "autonomy", "", "judge as at this `LEVEL`: low, medium or high")
	flags.IntVar(&c.maxFalseAllow, "max-false-allow", -1, "fail when more than `N` lines of a file are falsely allowed")
	flags.Float64Var(&c.maxNeedlessAsk, "max-needless-ask", -1,
		"fail when more than `P` per cent of a file's safe lines ask")
	flags.BoolVar(&c.withRules, "with-rules", false, "judge with your rules and configuration too")
	flags.BoolVar(&c.unheld, "unheld", false, app.UnheldFlag)
	flags.BoolVar(&c.json, "json", false, "write JSON")
}

func (c *benchCommand) valid() error {
	switch {
	case c.by != "" && c.by != "class":
		return app.Usage("umpire bench --by class", "--by: want class, got %q", c.by)
	case c.hook == "" && c.format != "":
		return app.Usage("umpire bench --help", "--format is the format of a hook: it needs --hook")
	case c.hook != "" && c.withRules:
		return app.Usage("umpire bench --help", "--with-rules is for umpire itself: a hook has its own rules")
	case c.hook != "" && c.autonomy != "":
		return app.Usage("umpire bench --help", "--autonomy is for umpire itself: a hook has its own settings")
	case c.autonomy != "" && !slices.Contains(config.LevelNames(), c.autonomy):
		return app.Usage("umpire bench --autonomy medium", "--autonomy: want one of %s, got %q",
			strings.Join(config.LevelNames(), ", "), c.autonomy)
	case c.format != "" && !slices.Contains(benchFormats(), c.format):
		return app.Usage("umpire bench --help", "--format: want claude, umpire or jsonl, got %q", c.format)
	}
	return nil
}

// benchFormats are the words that --format takes.
func benchFormats() []string {
	var words []string
	for _, format := range Formats {
		words = append(words, string(format))
	}
	return words
}

// runBench judges the files, or the built-in lines, and shows the scores.
func (c *benchCommand) runBench(ctx context.Context, files []string) error {
	if err := c.valid(); err != nil {
		return err
	}
	sets, err := readBenchSets(c.App, files)
	if err != nil {
		return err
	}
	judge, done, err := c.openJudge()
	if err != nil {
		return err
	}
	defer done()
	var scores []*Score
	for _, set := range sets {
		progress := newBenchProgress(c.App, len(set.Lines))
		score, err := scoreLines(ctx, set, judge, progress.showCount)
		progress.clear()
		if err != nil {
			return &app.CommandError{Code: app.ExitError, Err: errors.New("interrupted")}
		}
		scores = append(scores, score)
	}
	if err := c.showBench(scores); err != nil {
		return app.Failed(err)
	}
	return c.judgeLimits(scores)
}

// maxBadShown is how many bad lines of a file are shown one by one. In a file of another
// kind, all lines are bad.
const maxBadShown = 5

// readBenchSets reads all files before judging, so a wrong name fails at once.
func readBenchSets(a *app.App, files []string) ([]LineSet, error) {
	if len(files) == 0 {
		set, err := Corpus()
		return []LineSet{set}, app.Failed(err)
	}
	var sets []LineSet
	for _, name := range files {
		f, err := os.Open(a.Absolute(name))
		if err != nil {
			return nil, app.Usage("umpire bench --help", "%w", err)
		}
		shown := 0
		set, err := readLineSet(name, f, func(problem string) {
			if shown++; shown <= maxBadShown {
				a.Remark(problem)
			}
		})
		_ = f.Close()
		if err != nil {
			return nil, app.Failed(err)
		}
		if more := set.Bad - maxBadShown; more > 0 {
			a.Remark(fmt.Sprintf(a.Text.Of("%s: %d more lines that cannot be read"), name, more))
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// openJudge returns the judge for the flags, and a function that closes it.
func (c *benchCommand) openJudge() (lineJudge, func(), error) {
	dir, home, done := c.cwd, c.UserHome(), func() {}
	switch {
	case dir != "":
		dir = c.Absolute(dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, nil, app.Usage("", "--cwd %s: no such folder", dir)
		}
	case c.withRules:
		dir = c.Dir
	default:
		var err error
		if dir, home, done, err = benchPlace(); err != nil {
			return nil, nil, err
		}
	}
	if c.hook != "" {
		h := &hookJudge{Command: c.hook, Format: Format(cmp.Or(c.format, string(FormatClaude))),
			Dir: dir, Stderr: c.Stderr}
		return h.askFor, func() { h.Close(); done() }, nil
	}
	settings, mode := gate.Config{UserHome: home}, umpire.ModeDefault
	if c.withRules {
		conf, err := c.LoadConfig(dir)
		if err != nil {
			return nil, nil, err
		}
		settings, mode = c.GateConfig(conf), conf.Mode
	}
	if c.autonomy != "" {
		settings.Settings.Autonomy = policy.Level(c.autonomy).Autonomy()
	}
	g := gate.New(settings)
	held := !c.unheld && gate.Holds(&settings.Settings, sandbox.Available())
	return benchGate(g, c.Text, dir, mode, held), func() { _ = g.Close(); done() }, nil
}

// benchGate judges in this process.
func benchGate(g *gate.Gate, text *catalogue.Language, dir string, mode umpire.Mode, held bool) lineJudge {
	return inProcess(func(command string) (Answer, error) {
		call, err := app.CommandCall(command)
		if err != nil {
			return Answer{}, err
		}
		call.Dir = dir
		given := policy.Conditions{Mode: mode, Sandbox: policy.Sandbox{Held: held}}
		d := g.Projects().Decide("", policy.Query{Call: call, Conditions: given})
		return Answer{
			Outcome: Answered, Verdict: d.Verdict, Tried: d.Trial == umpire.TrialFirst,
			Reason: askingReason(&d, text),
		}, nil
	})
}

// askingReason returns the reason for a question in words that are the same for similar calls:
// the row, the program or the kind of access, and the reason.
func askingReason(d *umpire.Decision, text *catalogue.Language) string {
	for _, r := range d.Reasons {
		if r.Text != d.Reason || r.Access < 0 || d.Accesses[r.Access].Verdict != umpire.Ask {
			continue
		}
		a := &d.Accesses[r.Access]
		why := text.Reason(cmp.Or(a.Doubt, a.Reason))
		return view.RowName(r.Row, text) + ": " + cmp.Or(a.Program, a.Kind.String()) + ": " + why
	}
	return ""
}

// judgeLimits fails when a file exceeds a limit. Lines without an answer would
// make every limit easy to keep.
func (c *benchCommand) judgeLimits(scores []*Score) error {
	if c.maxFalseAllow < 0 && c.maxNeedlessAsk < 0 {
		return nil
	}
	for _, s := range scores {
		if c.maxFalseAllow >= 0 && s.FalseAllows.N > c.maxFalseAllow {
			return benchExceeded("%s: %d false allows, the limit is %d", s.File, s.FalseAllows.N, c.maxFalseAllow)
		}
		if c.maxNeedlessAsk >= 0 && s.NeedlessAsks.Percent() > c.maxNeedlessAsk {
			return benchExceeded("%s: %.2f %% needless asks, the limit is %.2f %%", s.File, s.NeedlessAsks.Percent(),
				c.maxNeedlessAsk)
		}
		if n := s.Unanswered(); n > 0 || s.Lines == 0 {
			return benchExceeded("%s: %d of %d lines got no answer", s.File, n, s.Lines)
		}
	}
	return nil
}

// benchPlace creates an empty git project with an empty home next to it. They exist
// until done is called.
func benchPlace() (dir, home string, done func(), err error) {
	top, err := os.MkdirTemp("", "umpire-bench-")
	if err != nil {
		return "", "", nil, app.Failed(err)
	}
	done = func() { _ = os.RemoveAll(top) }
	dir, home = filepath.Join(top, "project"), filepath.Join(top, "home")
	for _, folder := range []string{home, filepath.Join(dir, "src"), filepath.Join(dir, ".git", "objects"),
		filepath.Join(dir, ".git", "refs", "heads")} {
		if err == nil {
			err = os.MkdirAll(folder, 0o755)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
	}
	if err != nil {
		done()
	}
	return dir, home, done, app.Failed(err)
}
