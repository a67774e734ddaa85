package app

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A Checking says how calls are decided, as the flags of `umpire check` do.
type Checking struct {
	// Dir is the folder of calls that name none, and Project is the folder that determines the project of all calls. If
	// empty, they are the working folder and the folder of each call.
	Dir, Project string
	Mode         string
	Profile      string
	AllowBypass  bool
	Headless     bool
	Unheld       bool
	Rules        []string // files of rules
	AllowedTools []string // rules in short form
	AddDirs      []string
	// Follow obeys rule files that change.
	Follow bool
}

// A Checker decides calls: it has one gate and mode for each project.
type Checker struct {
	// Dir is the folder of calls that name none.
	Dir string

	app     *App
	given   *Checking
	folders map[string]*checkedFolder
	change  func(root string, c *gate.Config) // nil changes nothing
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

// NewChecker returns a checker. An error is about the configuration or the flags.
func NewChecker(a *App, given *Checking) (*Checker, error) {
	c := &Checker{app: a, given: given, folders: map[string]*checkedFolder{}}
	for flag, dir := range map[string]*string{"--cwd": &given.Dir, "--project": &given.Project} {
		if *dir == "" {
			continue
		}
		*dir = a.Absolute(*dir)
		if info, err := os.Stat(*dir); err != nil || !info.IsDir() {
			return nil, Usage("", "%s %s: no such folder", flag, *dir)
		}
	}
	c.Dir = cmp.Or(given.Dir, a.Dir)
	// Wrong flags and a broken configuration show before the first call.
	_, err := c.openGate(cmp.Or(given.Project, c.Dir))
	return c, err
}

// Close stops the gates.
func (c *Checker) Close() {
	for _, f := range c.folders {
		if err := f.gate.Close(); err != nil {
			c.app.RemarkError(umpire.Errorf("stop following rule files: %w", err))
		}
	}
	c.folders = map[string]*checkedFolder{}
}

// Decide judges a call. An error is one of the configuration.
func (c *Checker) Decide(call umpire.Call) (umpire.Decision, error) {
	dir := cmp.Or(c.given.Project, call.Dir)
	f, err := c.openGate(dir)
	if err != nil {
		return umpire.Decision{}, err
	}
	return f.decideCall(dir, call, policy.Conditions{Headless: c.given.Headless}, f.held), nil
}

// DecideEffects judges the effects of a call that was tried. An error is one of the configuration.
func (c *Checker) DecideEffects(call umpire.Call, e *umpire.TrialEffects) (umpire.Decision, error) {
	f, err := c.openGate(call.Dir)
	if err != nil {
		return umpire.Decision{}, err
	}
	q := policy.Query{Call: call, Conditions: policy.Conditions{Mode: f.mode, Profile: f.profile}}
	return f.gate.Projects().DecideEffects(call.Dir, q, e), nil
}

func (f *checkedFolder) decideCall(dir string, call umpire.Call, given policy.Conditions, held bool) umpire.Decision {
	given.Mode, given.Profile, given.Sandbox.Held = f.mode, f.profile, held
	return f.gate.Projects().Decide(dir, policy.Query{Call: call, Conditions: given})
}

// Root returns the root of the project of the calls without a folder.
func (c *Checker) Root() string {
	if f := c.folders[cmp.Or(c.given.Project, c.Dir)]; f != nil {
		return f.root
	}
	return ""
}

// RemarkOff names the rule files that are off because they cannot be read.
func (c *Checker) RemarkOff() {
	for dir, f := range c.folders {
		p, err := f.gate.Projects().Project(dir)
		if err != nil {
			continue // the decision has the reason
		}
		for _, file := range p.Rules().Files {
			if file.Health == rulefile.HealthDegraded {
				c.app.Remark(fmt.Sprintf(c.app.Text.Of("the rules of %s are off: see umpire rules lint"), file.Path))
			}
		}
	}
}

// openGate returns the gate for calls from a folder.
func (c *Checker) openGate(dir string) (*checkedFolder, error) {
	if f, ok := c.folders[dir]; ok {
		return f, nil
	}
	if len(c.folders) >= maxCheckedFolders {
		c.Close()
	}
	conf, err := c.app.LoadConfig(dir)
	if err != nil {
		return nil, err
	}
	if len(c.folders) == 0 && c.change == nil {
		c.app.RemarkAll(conf.Notices)
	}
	mode, err := PickMode("--mode", c.given.Mode, c.given.AllowBypass, conf)
	if err != nil {
		return nil, err
	}
	gc := c.app.GateConfig(conf)
	gc.Follow = c.given.Follow
	for _, extra := range c.given.AddDirs {
		gc.Settings.AddDirs = append(gc.Settings.AddDirs, c.app.Absolute(extra))
	}
	if gc.Rules, err = c.givenRules(dir); err != nil {
		return nil, err
	}
	profile, err := ProfileOf(conf, c.given.Profile)
	if err != nil {
		return nil, err
	}
	if c.change != nil {
		c.change(conf.Root, &gc)
	}
	held := !c.given.Unheld && gate.Holds(&gc.Settings, sandbox.Available())
	f := &checkedFolder{root: conf.Root, gate: gate.New(gc), mode: mode, profile: profile, held: held}
	c.folders[dir] = f
	return f, nil
}

// givenRules are the rules of the command line.
func (c *Checker) givenRules(root string) ([]umpire.Rule, error) {
	var rules []umpire.Rule
	for _, short := range SplitRules(c.given.AllowedTools) {
		r, err := policy.ParseShort(short)
		if err != nil {
			return nil, Usage("umpire help rules", "--allowed-tools: %w", err)
		}
		r.ID, r.Action, r.Source = umpire.RuleID(short), umpire.Allow, umpire.SourceFlag
		rules = append(rules, r)
	}
	for _, file := range c.given.Rules {
		more, err := ReadRuleFile(c.app.UserHome(), c.app.Absolute(file), root)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// SplitRules splits lists of rules in short form at the commas and blanks outside of
// brackets.
func SplitRules(lists []string) []string {
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
func ReadRuleFile(home, file, root string) ([]umpire.Rule, error) {
	check := func(r umpire.Rule) error {
		if err := policy.Validate(r); err != nil {
			return err
		}
		return policy.CheckExamples(r, policy.Options{Root: root, Home: home})
	}
	layer := rulefile.Layer{Source: umpire.SourceFlag, Path: file, Format: rulefile.FormatOf(file)}
	set := rulefile.Load([]rulefile.Layer{layer}, nil, rulefile.Options{Check: check, Short: policy.ParseShort})
	for _, found := range set.Files {
		if found.Health == rulefile.HealthMissing {
			return nil, Usage("", "--rules: %s: no such file", file)
		}
		if len(found.Problems) > 0 {
			return nil, Usage("umpire rules lint "+shell.Quote(file), "--rules: %w", found.Problems[0])
		}
	}
	return set.Rules, nil
}

// RuleWords are the words after `umpire rules add` that write a suggested rule.
func RuleWords(s *umpire.Suggestion) string {
	words := s.Action.String() + " " + shell.Quote(policy.FormatShort(s.Rule()))
	if s.MaxConsequence != umpire.Lost {
		words += " --max-consequence " + s.MaxConsequence.String()
	}
	if s.Options != umpire.OptionsAny {
		words += " --options " + string(s.Options)
	}
	if s.Scope == umpire.ScopeGlobal {
		words += " --scope global"
	}
	return words
}
