package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// checkFlags are the flags of `umpire check`.
type checkFlags struct {
	tool, input  string
	stdin        bool
	cwd, project string
	mode         string
	profile      string
	allowBypass  bool
	headless     bool
	unheld       bool
	rules        []string
	allowedTools []string
	addDirs      []string
	json         bool
	explain      bool
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
	flags.StringVar(&f.cwd, "cwd", "", "the working `DIR` of the call (default: this one)")
	flags.StringVar(&f.project, "project", "", "the `DIR` that determines the project (default: that of the call)")
	flags.StringVar(&f.mode, "mode", "",
		"`MODE`: default, auto, ask, reject, plan or bypass (default: from the configuration)")
	flags.StringVar(&f.profile, "agent", "",
		"decide as for this `PROFILE` of the configuration's agents (default: main's suffixes alone)")
	flags.BoolVar(&f.allowBypass, "allow-bypass", false, "permit the mode bypass")
	flags.BoolVar(&f.headless, "headless", false, "never prompt; deny calls that need approval")
	flags.BoolVar(&f.unheld, "unheld", false, app.UnheldFlag)
	flags.StringArrayVar(&f.rules, "rules", nil, "also obey the rules in `FILE`; may be repeated")
	flags.StringArrayVar(&f.allowedTools, "allowed-tools", nil,
		"allow these `RULES`, in short form: Read,'Bash(npm test:*)'")
	flags.StringArrayVar(&f.addDirs, "add-dir", nil, "count `DIR` as inside the project; may be repeated")
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
	c, err := newChecker(a, f)
	if err != nil {
		return err
	}
	defer c.closeGates()
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
	call.Dir = c.dir
	d, err := c.decide(call)
	if err != nil {
		return err
	}
	if d.ReasonCode == umpire.CodeInvalid {
		return app.Usage("umpire check --help", "%s", d.Reason)
	}
	if err := showDecision(a, f, c.root(), d); err != nil {
		return app.Failed(err)
	}
	c.remarkOff()
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
	c, err := newChecker(a, &checkFlags{cwd: dir, unheld: true})
	if err != nil {
		return umpire.Decision{}, err
	}
	defer c.closeGates()
	call.Dir = c.dir
	return c.decide(call)
}

// decideEffects decides whether a trial's effects in a folder may be kept.
func decideEffects(a *app.App, dir, line string, e *umpire.TrialEffects) (umpire.Decision, error) {
	call, err := app.CommandCall(line)
	if err != nil {
		return umpire.Decision{}, err
	}
	c, err := newChecker(a, &checkFlags{cwd: dir})
	if err != nil {
		return umpire.Decision{}, err
	}
	defer c.closeGates()
	call.Dir = c.dir
	at, err := c.openGate(call.Dir)
	if err != nil {
		return umpire.Decision{}, err
	}
	q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: at.mode, Profile: at.profile}}
	return at.gate.Projects().DecideEffects(call.Dir, q, e), nil
}

// showRows writes every row that spoke about a decision, as --explain does.
func showRows(a *app.App, to io.Writer, d umpire.Decision, colour bool) {
	p := &page{w: to, in: view.Folders{Home: a.UserHome()}, text: a.Text, colour: colour}
	p.head(d)
	p.rows(d)
}

// A checker decides calls: it has one gate and mode for each project, and the flags of the
// command line.
type checker struct {
	app    *app.App
	flags  *checkFlags
	dir    string // for calls without a folder
	cases  map[string]*checkedFolder
	follow bool
	change func(root string, c *gate.Config) // nil changes nothing
}

// A checkedFolder is the gate and the mode of the calls from one folder.
type checkedFolder struct {
	root    string
	gate    *gate.Gate
	mode    umpire.Mode
	profile *policy.Profile
	held    bool // calls would run in umpire's own sandbox
}

// maxCheckedFolders bounds the gates that a stream over many projects opens.
const maxCheckedFolders = 200

func newChecker(a *app.App, f *checkFlags) (*checker, error) {
	d := &checker{app: a, flags: f, dir: a.Dir, cases: map[string]*checkedFolder{}, follow: f.stdin}
	for flag, dir := range map[string]*string{"--cwd": &f.cwd, "--project": &f.project} {
		if *dir == "" {
			continue
		}
		*dir = a.Absolute(*dir)
		if info, err := os.Stat(*dir); err != nil || !info.IsDir() {
			return nil, app.Usage("", "%s %s: no such folder", flag, *dir)
		}
	}
	d.dir = cmp.Or(f.cwd, a.Dir)
	// Wrong flags and a broken configuration show before the first call.
	_, err := d.openGate(cmp.Or(f.project, d.dir))
	return d, err
}

func (d *checker) closeGates() {
	for _, c := range d.cases {
		if err := c.gate.Close(); err != nil {
			d.app.RemarkError(umpire.Errorf("stop following rule files: %w", err))
		}
	}
	d.cases = map[string]*checkedFolder{}
}

// decide judges a call. An error is one of the configuration.
func (d *checker) decide(call umpire.Call) (umpire.Decision, error) {
	dir := cmp.Or(d.flags.project, call.Dir)
	c, err := d.openGate(dir)
	if err != nil {
		return umpire.Decision{}, err
	}
	return c.decide(dir, call, policy.Conditions{Headless: d.flags.headless}, c.held), nil
}

func (c *checkedFolder) decide(dir string, call umpire.Call, given policy.Conditions, held bool) umpire.Decision {
	given.Mode, given.Profile, given.Sandbox.Held = c.mode, c.profile, held
	return c.gate.Projects().Decide(dir, policy.Query{Call: call, Conditions: given})
}

// root returns the root of the project of the calls without a folder.
func (d *checker) root() string {
	if c := d.cases[cmp.Or(d.flags.project, d.dir)]; c != nil {
		return c.root
	}
	return ""
}

// remarkOff names the rule files that are off because they cannot be read.
func (d *checker) remarkOff() {
	for dir, c := range d.cases {
		p, err := c.gate.Projects().Project(dir)
		if err != nil {
			continue // the decision has the reason
		}
		for _, f := range p.Rules().Files {
			if f.Health == rulefile.HealthDegraded {
				d.app.Remark(fmt.Sprintf(d.app.Text.Of("the rules of %s are off: see umpire rules lint"), f.Path))
			}
		}
	}
}

// openGate returns the gate for calls from a folder.
func (d *checker) openGate(dir string) (*checkedFolder, error) {
	if c, ok := d.cases[dir]; ok {
		return c, nil
	}
	if len(d.cases) >= maxCheckedFolders {
		d.closeGates()
	}
	conf, err := d.app.LoadConfig(dir)
	if err != nil {
		return nil, err
	}
	if len(d.cases) == 0 && d.change == nil {
		d.app.RemarkAll(conf.Notices)
	}
	mode, err := app.PickMode("--mode", d.flags.mode, d.flags.allowBypass, conf)
	if err != nil {
		return nil, err
	}
	gc := d.app.GateConfig(conf)
	gc.Follow = d.follow
	for _, extra := range d.flags.addDirs {
		gc.Settings.AddDirs = append(gc.Settings.AddDirs, d.app.Absolute(extra))
	}
	if gc.Rules, err = d.flagRules(dir); err != nil {
		return nil, err
	}
	profile, err := app.ProfileOf(conf, d.flags.profile)
	if err != nil {
		return nil, err
	}
	if d.change != nil {
		d.change(conf.Root, &gc)
	}
	held := !d.flags.unheld && gate.Holds(&gc.Settings, sandbox.Available())
	c := &checkedFolder{root: conf.Root, gate: gate.New(gc), mode: mode, profile: profile, held: held}
	d.cases[dir] = c
	return c, nil
}

// flagRules are the rules that the command line gives.
func (d *checker) flagRules(root string) ([]umpire.Rule, error) {
	var rules []umpire.Rule
	for _, short := range splitRules(d.flags.allowedTools) {
		r, err := policy.ParseShort(short)
		if err != nil {
			return nil, app.Usage("umpire help rules", "--allowed-tools: %w", err)
		}
		r.ID, r.Action, r.Source = umpire.RuleID(short), umpire.Allow, umpire.SourceFlag
		rules = append(rules, r)
	}
	for _, file := range d.flags.rules {
		more, err := ReadRuleFile(d.app, d.app.Absolute(file), root)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// splitRules splits lists of rules in short form at the commas and blanks outside of
// brackets.
func splitRules(lists []string) []string {
	var all []string
	for _, list := range lists {
		depth := 0
		all = append(all, strings.FieldsFunc(list, func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			return depth <= 0 && (r == ',' || r == ' ')
		})...)
	}
	return all
}

// ReadRuleFile reads a rule file that --rules names. Unlike the files that are found, one
// that is named must be there and be sound.
func ReadRuleFile(a *app.App, file, root string) ([]umpire.Rule, error) {
	check := func(r umpire.Rule) error {
		if err := policy.Validate(r); err != nil {
			return err
		}
		return policy.CheckExamples(r, policy.Options{Root: root, Home: a.UserHome()})
	}
	layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: rulefile.FormatOf(file)}
	set := rulefile.Load([]rulefile.Layer{layer}, nil, rulefile.Options{Check: check, Short: policy.ParseShort})
	for _, found := range set.Files {
		if found.Health == rulefile.HealthMissing {
			return nil, app.Usage("", "--rules: %s: no such file", file)
		}
		if len(found.Problems) > 0 {
			return nil, app.Usage("umpire rules lint "+shell.Quote(file), "--rules: %w", found.Problems[0])
		}
	}
	return set.Rules, nil
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
