package shell

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A Program describes one program, or one of its subcommands, as plain data. docs/programs.md
// explains every field. The zero value is not valid: it has no name, and its risk is the worst.
type Program struct {
	Names []string `key:"names,words"`
	// Risk is the risk of a use with only the listed options.
	Risk umpire.Risk   `key:"risk"`
	Why  umpire.Phrase `key:"why"`
	// Consequence is the name of the consequence of such a use. "" derives it from the risk:
	// harmless for safe, reversible for low, lost beyond.
	Consequence string `key:"consequence"`
	// Checked is the reference for the entry: the program's version, and the text or the
	// program itself. Its subcommands share it.
	Checked string `key:"checked"`
	// Style is the style of the options: short, leading, words or bare; "" is short.
	Style   string   `key:"style"`
	Options []Option `key:"options"`
	// Args lists the kinds of the operands, one word each.
	Args string    `key:"args"`
	Subs []Program `key:"subs"`
	// Lax accepts options that are not listed.
	Lax bool `key:"lax"`
	// Peeks says that it looks at the names of its operands, not into them.
	Peeks bool `key:"peeks"`
	// Replace says that the entry replaces a built-in one.
	Replace  bool     `key:"replace"`
	Examples Examples `key:"examples"`

	// Origin is the location of the entry, as FILE:LINE; "" means built in.
	Origin string
	// Judged is set for built-in entries whose arguments are also judged by code, not only by
	// the fields.
	Judged bool
}

// An Option is a group of equivalent spellings with their effects.
type Option struct {
	Names []string      `key:"names,words"`
	Does  []string      `key:"does,words"`
	Why   umpire.Phrase `key:"why"`
	// Consequence is the consequence if the option asks or harms; "" means lost.
	Consequence string   `key:"consequence"`
	Except      []string `key:"except,words"`
}

// Examples are command lines that an entry must consider harmless, and others that it must not.
type Examples struct {
	Safe []string `key:"safe"`
	Asks []string `key:"asks"`
}

// Knowledge is a person's additions to the built-in tables. It is immutable and safe for
// concurrent use. Nil adds nothing.
type Knowledge struct {
	entries  []Program
	programs []program
}

// Limits on the entries that people write.
const (
	maxEntries     = 2000
	maxSubDepth    = 5
	maxOptions     = 1000
	maxEntryText   = 4096
	maxExamples    = 100
	maxExampleText = 1 << 16
)

// NewKnowledge checks entries and compiles them. An error names the entry and the field. An
// entry for a program that umpire knows is an error unless it sets Replace, and always if the
// built-in one is more than a table: wrappers, interpreters, deletion, and programs that run
// others.
func NewKnowledge(entries []Program) (*Knowledge, error) {
	if len(entries) > maxEntries {
		return nil, umpire.Errorf("more than %d entries", maxEntries)
	}
	k := &Knowledge{entries: slices.Clone(entries)}
	seen := map[string]bool{}
	for i := range entries {
		made, err := entries[i].compile(0)
		if err == nil {
			err = entries[i].mayStand(seen)
		}
		if err != nil {
			return nil, umpire.Errorf("program %q: %w", strings.Join(entries[i].Names, " "), err)
		}
		k.programs = append(k.programs, made)
	}
	return k, nil
}

// mayStand checks an entry's names against the built-in ones and those before it.
func (p *Program) mayStand(seen map[string]bool) error {
	for _, name := range p.Names {
		if seen[name] {
			return umpire.Errorf("names: %q already has an entry", name)
		}
		seen[name] = true
		known, family := builtIn(name)
		switch {
		case known == nil:
		case !p.Replace:
			return umpire.Errorf("names: %q is built in; see umpire programs show %s, and set replace: true to use "+
				"yours instead", name, name)
		case slices.Contains(guarded[:], family) || !known.isPlain():
			return umpire.Errorf("replace: the built-in entry for %q has code and cannot be replaced", name)
		}
	}
	return nil
}

// guarded are the families that an entry cannot replace: they run other programs or the
// project's code, change the user, or destroy data.
var guarded = [...]*[]program{
	&builtins, &wrappers, &interpreters, &privileges, &tracers, &terminals, &editors,
	&fileTools, &ownerTools, &syncTools, &archivers, &diskTools, &controlTools, &remoteTools,
	&gitTools, &packageManagers, &scriptPackages, &buildTools, &testRunners, &languageRunners,
}

// isPlain reports whether an entry is only a table: no code judges its arguments, and it does
// not run them.
func (p *program) isPlain() bool {
	if p.check != nil || p.out != nil || strings.Contains(p.args, "command") || strings.Contains(p.args, "shell") ||
		strings.Contains(p.args, "script") || strings.Contains(p.args, "code") {
		return false
	}
	for opt := range p.options {
		if opt.does&(runs|ends) != 0 {
			return false
		}
	}
	for sub := range p.subcommands {
		if !sub.isPlain() {
			return false
		}
	}
	return true
}

// subcommands yields the subcommands of all tables.
func (p *program) subcommands(yield func(*program) bool) {
	for i := range p.subs {
		if !yield(&p.subs[i]) {
			return
		}
	}
	for _, table := range p.more {
		for i := range *table {
			if !yield(&(*table)[i]) {
				return
			}
		}
	}
}

func builtIn(name string) (*program, *[]program) {
	for _, family := range families {
		if found := findNamed(*family, name); found != nil {
			return found, family
		}
	}
	return nil, nil
}

// Describe returns the entry of a program: the person's, else the built-in one. It reports
// false if there is neither.
func Describe(name string, k *Knowledge) (Program, bool) {
	if k != nil {
		for _, e := range k.entries {
			if slices.Contains(e.Names, name) {
				return e, true
			}
		}
	}
	if p, _ := builtIn(name); p != nil {
		return p.describeTop(), true
	}
	return Program{}, false
}

// Programs yields all entries: the person's, then the built-in ones that they do not replace.
func Programs(k *Knowledge) iter.Seq[Program] {
	return func(yield func(Program) bool) {
		replaced := map[string]bool{}
		if k != nil {
			for _, e := range k.entries {
				for _, name := range e.Names {
					replaced[name] = true
				}
				if !yield(e) {
					return
				}
			}
		}
		for _, family := range families {
			for i := range *family {
				e := (*family)[i].describeTop()
				e.Names = slices.DeleteFunc(e.Names, func(name string) bool { return replaced[name] })
				if len(e.Names) > 0 && !yield(e) {
					return
				}
			}
		}
	}
}

// CheckExamples checks an entry, together with the built-in tables, against its own examples.
// It returns an [*ExampleError] for a safe example that is not harmless, and another error for
// an example that should ask but does not. A line is harmless if no part of it is in doubt or
// riskier than low.
func CheckExamples(p Program) error {
	k, err := NewKnowledge([]Program{p})
	if err != nil {
		return err
	}
	env := Env{Dir: "/project", Home: "/home/user", Programs: k}
	for _, line := range p.Examples.Safe {
		if what := firstAlarm(Parse(line, env)); what != "" {
			return &ExampleError{Line: line, Why: what}
		}
	}
	for _, line := range p.Examples.Asks {
		if firstAlarm(Parse(line, env)) == "" {
			return umpire.Errorf("examples.asks: %q is harmless", line)
		}
	}
	return nil
}

// An ExampleError names a safe example that is not harmless.
type ExampleError struct {
	Line string
	Why  umpire.Phrase
}

// Error names the line and the reason why it is not harmless.
func (e *ExampleError) Error() string {
	return fmt.Sprintf("examples.safe: %q is not harmless: %s", e.Line, e.Why)
}

// firstAlarm returns the first reason why a line is not harmless, or "".
func firstAlarm(accesses []umpire.Access) umpire.Phrase {
	for i := range accesses {
		switch a := &accesses[i]; {
		case a.Doubt != "":
			return a.Doubt
		case !umpire.Low.AtLeast(a.Risk):
			return a.Reason
		}
	}
	return ""
}

var (
	styleNames = [...]string{short: "short", leading: "leading", words: "words", bare: "bare"}
	// arityMarks end the names of options in the file of a person.
	arityMarks  = [...]string{takesNone: "", takesValue: "=", takesAttached: "?"}
	effectNames = [...]string{
		"reads", "writes", "deletes", "enters", "reaches", "runs", "obeys",
		"lead", "last", "edits", "drops", "walks", "asks", "harms", "shows", "ends",
		"plain", "sends", "routes",
	}
	operandKinds = [...]string{
		"data", "read", "tree", "write", "delete", "dir", "host", "command", "shell", "script", "code", "env", "none",
	}
)

// ofValue are the effects that describe an option's value.
const ofValue = reads | writes | deletes | enters | reaches | runs | plain | sends

// compile converts an entry into a row of the tables, or returns an error that names the field.
func (p *Program) compile(depth int) (program, error) {
	made := program{names: strings.Join(p.Names, " "), risk: p.Risk, why: p.Why, lax: p.Lax, peeks: p.Peeks}
	err := p.checkHead(depth)
	if err == nil {
		made.consequence, err = statedAs(p.Consequence, p.Risk)
	}
	if err == nil {
		made.style, err = styleOf(p.Style)
	}
	if err == nil {
		made.args, err = argsOf(p.Args)
	}
	if err == nil {
		made.opts, err = optionsOf(p.Options, made.style)
	}
	if err != nil {
		return program{}, err
	}
	seen := map[string]bool{}
	for i := range p.Subs {
		sub, err := p.Subs[i].compile(depth + 1)
		for _, name := range p.Subs[i].Names {
			if err == nil && seen[name] {
				err = umpire.Errorf("names: duplicate %q", name)
			}
			seen[name] = true
		}
		if err != nil {
			return program{}, umpire.Errorf("subs[%d]: %w", i, err)
		}
		made.subs = append(made.subs, sub)
	}
	return made, nil
}

// programName reports whether a program can have this name.
func programName(name string) bool {
	for i, c := range name {
		if !variableRune(c) && (i == 0 || !strings.ContainsRune(".+@:-", c)) {
			return false
		}
	}
	return name != ""
}

func (p *Program) checkHead(depth int) error {
	if len(p.Names) == 0 {
		return errors.New("names: missing")
	}
	for _, name := range p.Names {
		if !programName(name) {
			return umpire.Errorf("names: %q is not a program's name", name)
		}
	}
	switch {
	case depth > maxSubDepth:
		return errors.New("subs: nested too deeply")
	case len(p.Subs) > maxEntries:
		return umpire.Errorf("subs: more than %d", maxEntries)
	case p.Risk == umpire.Critical || p.Risk > umpire.Safe:
		return errors.New("risk: want safe, low, medium or high")
	case p.Why == "":
		return errors.New("why: missing; say what the program does")
	case len(p.Checked) > maxEntryText:
		return umpire.Errorf("checked: longer than %d bytes", maxEntryText)
	case depth > 0 && p.Checked != "":
		return errors.New("checked belongs to the program, not to a subcommand")
	case tooLong(p.Why) || len(p.Args) > maxEntryText || len(strings.Join(p.Names, " ")) > maxEntryText:
		return umpire.Errorf("a text is longer than %d bytes", maxEntryText)
	case depth > 0 && (p.Replace || len(p.Examples.Safe)+len(p.Examples.Asks) > 0):
		return errors.New("replace and examples belong to the program, not to a subcommand")
	}
	return p.Examples.check()
}

// tooLong reports whether a person's text exceeds the limit of an entry.
func tooLong(why umpire.Phrase) bool {
	return len(why.String()) > maxEntryText
}

func (e Examples) check() error {
	if len(e.Safe)+len(e.Asks) > maxExamples {
		return umpire.Errorf("examples: more than %d", maxExamples)
	}
	if len(strings.Join(e.Safe, ""))+len(strings.Join(e.Asks, "")) > maxExampleText {
		return umpire.Errorf("examples: longer than %d bytes", maxExampleText)
	}
	return nil
}

func styleOf(name string) (style, error) {
	if name == "" {
		return short, nil
	}
	if i := slices.Index(styleNames[:], name); i >= 0 {
		return style(i), nil
	}
	return 0, umpire.Errorf("style: %q is not one of %s", name, strings.Join(styleNames[:], ", "))
}

// argsOf parses the kinds of operands. Three dots stand for the character …, which few
// keyboards have.
func argsOf(text string) (string, error) {
	kinds := strings.Fields(strings.ReplaceAll(text, "...", "…"))
	repeats := 0
	for _, kind := range kinds {
		single, many := strings.CutSuffix(kind, "…")
		if many {
			repeats++
		}
		if !slices.Contains(operandKinds[:], single) {
			return "", umpire.Errorf("args: %q is not one of %s", kind, strings.Join(operandKinds[:], ", "))
		}
	}
	if repeats > 1 {
		return "", errors.New("args: more than one kind repeats")
	}
	return strings.Join(kinds, " "), nil
}

func optionsOf(options []Option, s style) ([]option, error) {
	if len(options) > maxOptions {
		return nil, umpire.Errorf("options: more than %d", maxOptions)
	}
	var made []option
	seen := map[string]bool{}
	for i := range options {
		o := &options[i]
		opt, err := o.spell(s, seen)
		if err == nil {
			opt.does, err = effectsOf(o.Does)
		}
		if err == nil {
			opt.consequence, err = o.statedAs(opt.does)
		}
		if err == nil && opt.does&ofValue != 0 && opt.values+opt.attached == "" {
			err = errors.New("does: this needs a value, so one of the names must end in = or ?")
		}
		if err != nil {
			return nil, umpire.Errorf("options[%d].%w", i, err)
		}
		made = append(made, opt)
	}
	return made, nil
}

// spell returns the option with its spellings, but without its effects.
func (o *Option) spell(s style, seen map[string]bool) (opt option, err error) {
	switch {
	case s == bare:
		return opt, errors.New("names: a program of style bare has no options")
	case len(o.Names) == 0:
		return opt, errors.New("names: missing")
	case tooLong(o.Why) || len(strings.Join(o.Names, " "))+len(strings.Join(o.Except, " ")) > maxEntryText:
		return opt, umpire.Errorf("names: longer than %d bytes", maxEntryText)
	}
	opt.why = o.Why
	lists := [...]*string{takesNone: &opt.flags, takesAttached: &opt.attached, takesValue: &opt.values}
	if len(o.Except) > 0 {
		opt.limits = &limits{except: strings.Join(o.Except, " ")}
	}
	for _, spelling := range o.Names {
		names, takes, err := spelledAs(spelling, s)
		if err != nil {
			return opt, err
		}
		for _, name := range names {
			if seen[name] {
				return opt, umpire.Errorf("names: duplicate %s", name)
			}
			seen[name] = true
			*lists[takes] += " " + name
		}
	}
	return opt, nil
}

// spelledAs returns the options that one spelling of a person's file stands for: several if
// letters cluster.
func spelledAs(spelling string, s style) (names []string, takes arity, err error) {
	name := spelling
	switch {
	case strings.HasSuffix(spelling, "="):
		name, takes = strings.TrimSuffix(spelling, "="), takesValue
	case strings.HasSuffix(spelling, "?") && spelling != "-?":
		name, takes = strings.TrimSuffix(spelling, "?"), takesAttached
	}
	if len(name) < 2 || name[0] != '-' || name == "--" || strings.ContainsAny(name, "= \t\n") ||
		strings.HasSuffix(name, "?") && name != "-?" {
		return nil, 0, umpire.Errorf("names: %q is not a valid option name", spelling)
	}
	if s == words || name[1] == '-' {
		return []string{name}, takes, nil
	}
	if len(name) > 2 && takes != takesNone {
		return nil, 0, umpire.Errorf("names: %q takes a value, so it must be one letter, or begin with two dashes, or "+
			"the style be words", spelling)
	}
	for i := 1; i < len(name); i++ {
		names = append(names, "-"+name[i:i+1])
	}
	return names, takes, nil
}

func effectsOf(names []string) (effect, error) {
	var all effect
	for _, name := range names {
		i := slices.Index(effectNames[:], name)
		if i < 0 {
			return 0, umpire.Errorf("does: %q is not one of %s", name, strings.Join(effectNames[:], ", "))
		}
		all |= 1 << i
	}
	return all, nil
}

// describeTop is describe with Checked set.
func (p *program) describeTop() Program {
	d := p.describe()
	d.Checked = scan.CheckedAgainst(p.name())
	return d
}

// describe returns a row of the tables as plain data.
func (p *program) describe() Program {
	d := Program{Names: strings.Fields(p.names), Risk: p.risk, Why: p.why, Style: styleNames[p.style], Args: p.args,
		Lax: p.lax, Peeks: p.peeks, Judged: p.check != nil, Consequence: p.consequence.of(p.risk).String()}
	for opt := range p.options {
		o := Option{Why: opt.why}
		for name, takes := range opt.spellings {
			o.Names = append(o.Names, name+arityMarks[takes])
		}
		if opt.limits != nil {
			o.Except = strings.Fields(opt.limits.except)
		}
		if opt.does&(asks|harms) != 0 {
			o.Consequence = opt.consequence.of(umpire.Medium).String()
		}
		for i, name := range effectNames {
			if opt.does&(1<<i) != 0 {
				o.Does = append(o.Does, name)
			}
		}
		d.Options = append(d.Options, o)
	}
	for sub := range p.subcommands {
		d.Subs = append(d.Subs, sub.describe())
	}
	return d
}
