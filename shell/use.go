package shell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A use is the judgement of one program with its arguments.
type use struct {
	w *walker
	s *state
	parsed
	conclusion
}

// A parsed use is a program with its arguments, as the line gives them. Judging does not change
// it, except that a check takes the operands that it has judged out of the arguments, or parses
// them again.
type parsed struct {
	program *program
	table   string   // the entry in use: "git push"
	path    string   // the subcommands, joined by dots
	words   []word   // words for rules: program and subcommands, then arguments
	base    int      // the number of words that name the program and its subcommands
	line    []string // every word as given, including options before a subcommand
	// launcher is the file of the project that starts the program, or empty.
	launcher word
	// own marks a launcher of the project itself, whose --version may do anything.
	own bool
	in  flow

	arguments
	named  []word  // the operands as given
	global []given // the options before a subcommand
}

// A conclusion is the judgement of a use so far.
type conclusion struct {
	risk        umpire.Risk
	why         umpire.Phrase
	consequence umpire.Consequence // the worst one so far
	spoke       string             // the option that set the risk
	doubt       umpire.Phrase
	secret      bool     // may print a secret
	extras      []string // options that add effects to the program
	files       []string // whose code it runs
	// online is that of the access. steered describes the project file that may choose the
	// server it contacts, or the code that it runs.
	online  bool
	steered umpire.Phrase
	later   []func() // accesses that come after the program's own
	// about says that the use only prints something about the program, code that it runs code of
	// the project, and reads that it read all of this.
	about, code, reads bool
	// ran is the number of commands it has run, and printed is the output of the last one.
	ran     int
	printed flow
}

// judge judges the program with its arguments and returns its output.
func (u *use) judge(args []word) flow {
	u.adoptRisk(u.program)
	u.base = 1
	every, manifests := u.program.every, u.program.manifests
	for u.program.hasSubcommands() {
		rest, ok := u.descendToSubcommand(args)
		if !ok {
			break
		}
		args = rest
	}
	p := u.program
	leads := p.style == leading || strings.HasPrefix(p.args, "command") || strings.HasPrefix(p.args, "shell") ||
		p.hasSubcommands()
	u.arguments = p.parseArguments(args, leads)
	u.named = u.operands
	u.words = append(u.words, args...)
	u.judgeOptions()
	if p.hasSubcommands() {
		judgeMissingSubcommand(u)
	}
	if in := cmp.Or(u.in.secret, u.findGivenSecret()); in != "" {
		u.askSecret(umpire.Say("is given the variable %s, which may hold a secret", in))
	}
	if u.about = u.onlyInforms(); !u.about {
		if p.check != nil {
			p.check(u)
		}
		if every != nil {
			every(u)
		}
		checkServer(u)
		u.judgeOperands()
	}
	liftEnvironmentQuestion(u)
	for name := range strings.FieldsSeq(manifests) {
		u.runsFile(lit(name))
	}
	u.emitOwn()
	own := len(u.w.accesses)
	for _, emit := range u.later {
		emit()
	}
	if u.why == printsEnvironment {
		return flow{kind: flowForeign, from: u.program0(), environment: own}
	}
	if p.out != nil {
		return p.out(u, u.in)
	}
	return u.printedFlow()
}

// findGivenSecret returns the secret in an argument. A program that gets it may print it,
// except tests; programs that judge each argument are more precise.
func (p *parsed) findGivenSecret() string {
	if scan.HasField("test echo printf cd", p.program.name()) {
		return ""
	}
	return secretAmong(p.words)
}

// printedFlow returns the output of a program without a more specific rule. A program that only
// counts may repeat its format.
func (p *parsed) printedFlow() flow {
	if countsOnly(p.program.name()) {
		for _, wd := range p.words {
			if strings.Contains(wd.text, "[") && !wd.glob {
				return foreignFlow("printf")
			}
		}
	}
	return foreignFlow(p.program.name())
}

// descendToSubcommand parses the options before a subcommand and moves on to it. It reports
// false if the subcommand is unknown.
func (u *use) descendToSubcommand(args []word) ([]word, bool) {
	got := u.program.parseArguments(args, true)
	if len(got.operands) == 0 || !got.operands[0].known() {
		return nil, false
	}
	sub := u.program.findSubcommand(got.operands[0].text)
	if sub == nil {
		return nil, false
	}
	u.arguments = got
	u.global = append(u.global, got.given...)
	u.judgeGlobalOptions(args[:len(args)-len(got.operands)])
	u.adoptRisk(sub)
	u.program = sub
	name := sub.name()
	if sub.each {
		name = got.operands[0].text
	}
	u.words = append(u.words, lit(name))
	u.base = len(u.words)
	u.table += " " + name
	u.path = strings.TrimPrefix(u.path+"."+got.operands[0].text, ".")
	return got.operands[1:], true
}

// judgeGlobalOptions judges the options before a subcommand. Rules for the subcommand do not
// see them, so risky ones become a separate access, which a rule that allows the subcommand
// does not cover.
func (u *use) judgeGlobalOptions(args []word) {
	u.become(umpire.Safe, u.program.why)
	u.judgeOptions()
	for i, name := range u.extras {
		if !strings.Contains(name, " ") {
			u.extras[i] = u.program0() + " " + name
		}
	}
	if u.risk.AtLeast(umpire.Medium) || u.doubt != "" {
		words := append(slices.Clip(u.words), args...)
		u.emitAccess(words)
	}
	u.spoke, u.doubt = "", ""
}

// judgeMissingSubcommand judges a program that needs a subcommand but got none that is known.
func judgeMissingSubcommand(u *use) {
	if len(u.operands) == 0 {
		return
	}
	u.raiseTo(umpire.Medium, u.program.consequence, umpire.Say("%s %s is not known", u.table, u.operands[0].display()))
	for i, operand := range u.operands[1:] {
		if operand.text == "--" {
			return
		}
		if strings.HasPrefix(operand.text, "-") || strings.HasPrefix(u.operands[i].text, "-") {
			touchRooted(u, operand)
		}
	}
}

// onlyInforms reports whether all arguments ask the program about itself, as --version does;
// then it does nothing else.
func (u *use) onlyInforms() bool {
	if len(u.given) == 0 || len(u.operands) > 0 || len(u.unknown) > 0 || u.doubtful || u.extra {
		return false
	}
	for _, g := range u.given {
		if g.option.does&shows == 0 {
			return false
		}
	}
	switch {
	case u.own:
		u.raise(umpire.Medium, umpire.Say(runsFile, u.launcher.text))
	case len(u.global) == 0:
		u.become(umpire.Safe, "prints something about itself")
	}
	return true
}

// judgeOptions applies the effects of the given options.
func (u *use) judgeOptions() {
	for _, name := range u.unknown {
		u.spoke = name
		u.extras = append(u.extras, name)
		u.raise(umpire.Medium, unjudgedOption(name, u.table))
	}
	if u.doubtful {
		u.doubt = doubtOption
	}
	if u.vague {
		u.extras = append(u.extras, unknownOption)
	}
	for _, g := range u.strange {
		judgeStranger(u, g)
	}
	for _, g := range u.given {
		u.judgeOption(g)
	}
}

// unknownOption is the extra for a word that may be any option. No rule can name it.
const unknownOption = "\x00"

// beyond are the effects of an option that the program does not have without it.
const beyond = writes | deletes | enters | reaches | runs | obeys | edits | drops | walks | asks | harms | ends |
	routes

func (u *use) judgeOption(g given) {
	does, why := g.option.does, g.option.why
	if g.spares() {
		return
	}
	if does&beyond != 0 || why != "" {
		u.extras = append(u.extras, g.name)
	}
	if does&asks != 0 {
		u.spoke = g.name
		u.raiseTo(umpire.Medium, g.option.consequence, why)
	}
	if does&harms != 0 {
		u.spoke = g.name
		u.raiseTo(umpire.High, g.option.consequence, why)
	}
	if does&routes != 0 {
		u.spoke = g.name
		u.raiseTo(umpire.Medium, cmp.Or(g.option.consequence, sent), cmp.Or(why, otherRoute))
	}
	if does&obeys != 0 {
		u.spoke = g.name
		u.raise(umpire.Medium, cmp.Or(why, umpire.Say("obeys %s", g.name)))
	}
	if !g.has {
		return
	}
	of := accessOf{table: u.table + " " + g.name, why: why}
	if does&typed == 0 || does&typed&^(sends|plain|obeys) == 0 {
		judgeText(u, g, of)
	}
	u.judgeOptionValue(does, g.value, of)
}

// judgeOptionValue emits the effect of an option on its value.
func (u *use) judgeOptionValue(does effect, value word, of accessOf) {
	switch {
	case does&runs != 0:
		u.raise(umpire.Medium, cmp.Or(of.why, "runs a program"))
		u.then(func() { u.w.walkCode(u.outsideState(), value, flow{kind: flowForeign}) })
	case does&deletes != 0:
		u.touch(umpire.KindDelete, value, of)
	case does&writes != 0:
		if !value.known() || !scan.HasField(harmlessDevices, value.text) {
			u.raiseTo(umpire.Medium, reversible, cmp.Or(of.why, "writes a file"))
		}
		u.touch(umpire.KindWrite, value, of)
	case does&reads != 0:
		if does&obeys != 0 {
			u.runsFile(value)
		}
		of.inside = does&walks == 0
		u.touch(umpire.KindRead, value, of)
	case does&reaches != 0:
		u.then(func() { u.w.network(value.display(), cmp.Or(of.why, "reaches a host")) })
	case does&enters != 0:
		u.touch(umpire.KindRead, value, of)
		u.s = u.s.clone()
		u.s.enterFolder(value, func(string) bool { return true })
	}
}

// harmlessDevices do not store data written to them.
const harmlessDevices = "/dev/null /dev/stdout /dev/stderr"

// touch records the access of a path, to be emitted after the program's own access.
func (u *use) touch(kind umpire.AccessKind, target word, of accessOf) {
	if file := localURL(target); file.text != "" {
		u.touch(kind, file, of)
	}
	if kind == umpire.KindRead && u.fetchesURL(target) {
		return
	}
	if of.table == "" {
		of.table = u.table
	}
	of.names = of.names || u.program.peeks && !of.inside
	if kind == umpire.KindWrite && of.kinds == "" {
		of.kinds = u.program.formats
	}
	s := u.s
	u.then(func() { u.w.path(s, kind, target, of) })
}

// localURL returns the file in a URL such as file:/etc/motd. Some programs open it, others a file with that name.
func localURL(target word) word {
	if len(target.text) < len("file:") || !strings.EqualFold(target.text[:len("file:")], "file:") {
		return word{}
	}
	return rootedFile(target)
}

// fetchesURL judges a file to read that is a URL, because many programs fetch it.
func (u *use) fetchesURL(target word) bool {
	scheme, _, found := target.after("://")
	if !found || scheme == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-") != "" {
		return false
	}
	u.visit(target, umpire.Medium, "may be fetched from there")
	return true
}

// outsideState returns the state of a program that the use starts: in the same folder, without
// the line's functions, and with unknown variables. A command that starts more than once starts
// from a copy each time.
func (u *use) outsideState() *state {
	s := newState(u.w.env)
	s.dirs, s.failed = u.s.dirs, u.s.failed
	if home, ok := u.s.vars["HOME"]; ok {
		s.vars["HOME"] = home
	}
	return s
}

func (c *conclusion) then(f func()) { c.later = append(c.later, f) }

// unjudgedOption is the reason of an option without a row.
func unjudgedOption(name, program string) umpire.Phrase {
	return umpire.Say("uses the option %s of %s, which umpire doesn't know", name, program)
}

// emitOwn adds the program's own access.
func (u *use) emitOwn() { u.emitAccess(u.words) }

// emitAccess adds an access of the program in its current state.
func (u *use) emitAccess(words []word) {
	a := umpire.Access{
		Kind: umpire.KindExec, Program: u.program0(), Args: displayWords(words[1:]), Words: ruleWords(words),
		Risk: u.risk, Reason: u.why, Doubt: u.doubt, Table: u.table, Code: u.runsCode(),
		Online: u.online, CodeFiles: u.codeFiles(), Line: u.line, Base: u.base, Extras: u.allExtras(),
	}
	if a.Reason == sendsData && u.in.kind == flowForeign && u.in.from != "" {
		a.Reason = umpire.Say(string(SendsOutput), u.in.from)
	}
	if u.launcher.text != "" {
		a.Program, a.Words[0] = baseName(u.launcher.text), u.launcher.ruleWord()
	}
	a.Prints = u.printsSomething(a.Words)
	if a.Code {
		a.Dirs = u.s.dirs
	}
	if u.steered != "" {
		a.Asks, a.Reason = umpire.CodeNetwork, u.steered
	}
	if a.Asks == "" && u.asksSecret(words) {
		a.Asks = umpire.CodeSecret
	}
	if u.doubt != "" && u.risk == umpire.Safe {
		a.Risk, a.Reason = umpire.Medium, u.doubt
	}
	markElsewhere(u, &a)
	a.Consequence = u.ownConsequence(&a)
	if u.spoke != "" {
		a.Table += " " + u.spoke
	}
	if a.Risk.AtLeast(umpire.Medium) && (a.Code || a.Consequence.AtLeast(umpire.Outward)) {
		u.namesFiles(words[1:])
		a.CodeFiles = u.codeFiles()
	}
	u.w.emit(a)
}

// allExtras returns the extras of the options, and those that set the risk in a program's own
// check.
func (u *use) allExtras() []string {
	all := slices.Clone(u.extras)
	for name := range strings.FieldsSeq(u.spoke) {
		if !slices.Contains(all, name) && !slices.Contains(all, u.program0()+" "+name) {
			all = append(all, name)
		}
	}
	return all
}

// program0 returns the name of the program itself, without subcommands.
func (p *parsed) program0() string { return p.words[0].text }

// secondWord returns the word after the program, or "" if it is unknown.
func secondWord(words []word) string {
	if len(words) < 2 || !words[1].known() {
		return ""
	}
	return words[1].text
}

// rawArguments returns the program's arguments as given.
func (p *parsed) rawArguments() []word { return p.words[1:] }

// reparseArguments parses args in place of the original arguments.
func reparseArguments(u *use, args []word, leads bool) {
	u.arguments = u.program.parseArguments(args, leads)
	u.adoptRisk(u.program)
	u.spoke, u.doubt, u.later = "", "", nil
	u.judgeOptions()
}
