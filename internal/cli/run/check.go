package run

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// checkFlags are the flags of `umpire check`.
type checkFlags struct {
	app.Checking

	tool, input string
	stdin       bool
	json        bool
	explain     bool
}

// NewCheckCommand is `umpire check`.
func NewCheckCommand(a *app.App) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:     "check [flags] -- COMMAND...",
		Short:   "Decide one call or a stream of calls, and explain why",
		Long:    checkLong,
		Example: checkExample,
		RunE:    func(cmd *cobra.Command, words []string) error { return runCheck(cmd.Context(), a, &f, words) },
	}
	f.defineFlags(cmd.Flags())
	cmd.Flags().SetNormalizeFunc(flagAliases)
	app.CompleteWords(cmd, "mode", app.ModeNames()...)
	return cmd
}

// defineFlags defines the flags.
func (f *checkFlags) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.tool, "tool", "", "decide a call of the tool `NAME` instead of a command")
	flags.StringVar(&f.input, "input", "", "the tool's input, a `JSON` object")
	flags.BoolVar(&f.stdin, "stdin", false, "read one call per line, write one decision per line")
	flags.StringVar(&f.Dir, "cwd", "", "the working `DIR` of the call (default: this one)")
	flags.StringVar(&f.Project, "project", "", "the `DIR` that determines the project (default: that of the call)")
	flags.StringVar(&f.Mode, "mode", "",
		"`MODE`: default, auto, ask, reject, plan or bypass (default: from the configuration)")
	flags.StringVar(&f.Profile, "agent", "",
		"decide as for this `PROFILE` of the configuration's agents (default: main's suffixes alone)")
	flags.BoolVar(&f.AllowBypass, "allow-bypass", false, "permit the mode bypass")
	flags.BoolVar(&f.Headless, "headless", false, "never prompt; deny calls that need approval")
	flags.BoolVar(&f.Unheld, "unheld", false, app.UnheldFlag)
	flags.StringArrayVar(&f.Rules, "rules", nil, "also obey the rules in `FILE`; may be repeated")
	flags.StringArrayVar(&f.AllowedTools, "allowed-tools", nil,
		"allow these `RULES`, in short form: Read,'Bash(npm test:*)'")
	flags.StringArrayVar(&f.AddDirs, "add-dir", nil, "count `DIR` as inside the project; may be repeated")
	flags.BoolVar(&f.json, "json", false, "write JSON")
	flags.BoolVar(&f.explain, "explain", false, "show every matching row for every access")
}

// flagAliases lets people write flags the way other agents spell them.
func flagAliases(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "permission-mode" {
		return "mode"
	}
	return allowedToolsAliases(nil, name)
}

// allowedToolsAliases are the spellings of --allowed-tools.
func allowedToolsAliases(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "allowedTools" || name == "AllowedTools" {
		return "allowed-tools"
	}
	return pflag.NormalizedName(name)
}

// runCheck decides the calls of the flags and words.
func runCheck(ctx context.Context, a *app.App, f *checkFlags, words []string) error {
	f.Follow = f.stdin
	c, err := app.NewChecker(a, &f.Checking)
	if err != nil {
		return err
	}
	defer c.Close()
	if f.stdin {
		if len(words) > 0 || f.tool != "" {
			return app.Usage("umpire check --help",
				"--stdin reads calls from standard input: do not give a command or --tool with it")
		}
		return checkStream(ctx, a, c)
	}
	call, err := f.call(words)
	if err != nil {
		return err
	}
	call.Dir = c.Dir
	d, err := c.Decide(call)
	if err != nil {
		return err
	}
	if d.ReasonCode == umpire.CodeInvalid {
		return app.Usage("umpire check --help", "%s", d.Reason)
	}
	if err := showDecision(a, f, c.Root(), d); err != nil {
		return app.Failed(err)
	}
	c.RemarkOff()
	return verdictExit(d.Verdict)
}

// verdictExit returns a silent error with a verdict's exit code.
func verdictExit(v umpire.Verdict) error {
	switch v {
	case umpire.Allow:
		return nil
	case umpire.Ask:
		return &app.CommandError{Code: app.ExitAsks}
	case umpire.Deny:
		return &app.CommandError{Code: app.ExitDenied}
	}
	return &app.CommandError{Code: app.ExitDenied}
}

// call returns the call that the command line describes.
func (f *checkFlags) call(words []string) (umpire.Call, error) {
	if f.tool != "" {
		if len(words) > 0 {
			return umpire.Call{}, app.Usage("umpire check --help", "give a command or --tool, not both")
		}
		return f.toolCall()
	}
	if f.input != "" {
		return umpire.Call{}, app.Usage("umpire check --tool Read --input '"+f.input+"'", "--input needs --tool")
	}
	if len(words) == 0 {
		return umpire.Call{},
			app.Usage("umpire check -- npm test", "nothing to decide: give a command, --tool or --stdin")
	}
	return app.CommandCall(view.CommandLine(words))
}

func (f *checkFlags) toolCall() (umpire.Call, error) {
	input := f.input
	if input == "" {
		input = "{}"
	}
	if _, err := strictjson.ReadObject([]byte(input)); err != nil {
		return umpire.Call{}, app.Usage("umpire check --tool "+f.tool+` --input '{"path":"a.txt"}'`, "input: %w", err)
	}
	return umpire.Call{Tool: f.tool, Input: json.RawMessage(input)}, nil
}

// decideCommand decides a command line of a session, or of none, in a folder like `umpire check --unheld`.
// A sandbox would not change what rules deny, and looking for one takes a while.
func decideCommand(a *app.App, session umpire.SessionID, dir, line string) (umpire.Decision, error) {
	call, err := app.CommandCall(line)
	if err != nil {
		return umpire.Decision{}, err
	}
	call.Session = session
	return decideIn(a, dir, call)
}

// decideIn is decideCommand for any call.
func decideIn(a *app.App, dir string, call umpire.Call) (umpire.Decision, error) {
	c, err := app.NewChecker(a, &app.Checking{Dir: dir, Unheld: true})
	if err != nil {
		return umpire.Decision{}, err
	}
	defer c.Close()
	call.Dir = c.Dir
	return c.Decide(call)
}

// decideEffects decides whether a trial's effects in a folder may be kept.
func decideEffects(a *app.App, dir, line string, e *umpire.TrialEffects) (umpire.Decision, error) {
	call, err := app.CommandCall(line)
	if err != nil {
		return umpire.Decision{}, err
	}
	c, err := app.NewChecker(a, &app.Checking{Dir: dir})
	if err != nil {
		return umpire.Decision{}, err
	}
	defer c.Close()
	call.Dir = c.Dir
	return c.DecideEffects(call, e)
}

// showRows writes every row that spoke about a decision, as --explain does.
func showRows(a *app.App, to io.Writer, d umpire.Decision, colour bool) {
	p := &page{w: to, in: view.Folders{Home: a.UserHome()}, text: a.Text, colour: colour}
	p.head(d)
	p.rows(d)
}

// checkLong is the long help of `umpire check`.
const checkLong = `Decides a call without running anything, and says why.

Put a command after "--". umpire parses a single argument as a shell command line,
and keeps several arguments as separate words. For any other tool, use --tool and
--input. The working directory counts: access outside the project asks.

The exit code is the verdict: 0 allow, 2 deny, 3 ask; 4 is wrong usage.

With --stdin every line is a call, {"id","tool","input"} or {"id","command"},
optionally with "cwd", "agent" and "session_id". umpire answers each line at once,
in order; it denies an invalid line with the reason code "invalid". If a rule file
changes, the new rules decide the next call.`

const checkExample = `  umpire check -- npm test
  umpire check --explain -- 'cd src && rm -rf build | tee log'
  umpire check --tool Write --input '{"path":"a.txt"}' --json
  umpire check --mode auto --allowed-tools Read,'Bash(npm test:*)' -- npm test
  echo '{"id":"c1","command":"ls"}' | umpire check --stdin`
