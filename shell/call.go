package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// walkCall walks a simple command: assignments, the name of a program, arguments.
func (w *walker) walkCall(s *state, cmd *syntax.CallExpr, in flow) flow {
	args := w.expandWords(s, cmd.Args)
	if len(args) == 0 {
		walkAssignments(w, s, cmd.Assigns)
		return flow{}
	}
	if !splitsInput(s, cmd.Assigns, args[0]) {
		walkPrefixes(w, s, cmd.Assigns, args)
	}
	if !takesDefault(cmd.Args) {
		return w.runWords(s, args, in)
	}
	before, own := s.clone(), len(w.accesses)
	out := w.runWords(s, args, in)
	if slices.ContainsFunc(w.accesses[min(own, len(w.accesses)):], func(a umpire.Access) bool {
		return a.Doubt != ""
	}) {
		guessDefaults(w, before, cmd.Args, in)
	}
	return out
}

// splitsInput reports whether a command is `IFS=x read …`, which sets how this line is split.
func splitsInput(s *state, assigns []*syntax.Assign, name word) bool {
	if len(assigns) != 1 || assigns[0].Name.Value != "IFS" || assigns[0].Array != nil || assigns[0].Index != nil {
		return false
	}
	_, shadowed := s.functions["read"]
	_, plain := scan.PlainText(assigns[0].Value)
	return plain && name.known() && name.text == "read" && !shadowed
}

// runWords walks a command whose words are expanded.
func (w *walker) runWords(s *state, args []word, in flow) flow {
	if w.full || !w.enterLevel() {
		return flow{}
	}
	defer w.leaveLevel()
	if len(args) == 0 {
		return flow{}
	}
	if body, ok := s.functions[args[0].text]; ok && args[0].known() {
		return w.runFunction(s, args[0].text, body, args[1:], in)
	}
	return w.runProgram(s, args, in)
}

// runProgram walks a command that starts a program or a builtin, past functions.
func (w *walker) runProgram(s *state, args []word, in flow) flow {
	if len(args) == 0 {
		return flow{}
	}
	name := args[0]
	if name.open || name.glob || name.text == "" {
		w.doubt(name.display(), "the program is not known before it runs")
		return flow{}
	}
	program, called, launcher, own := w.knownProgram(name.text), baseName(name.text), word{}, false
	if program == nil {
		program, called, own = findLauncher(w, s, name)
		launcher = name
	}
	if program == nil {
		w.runUnknownProgram(s, args)
		return foreignFlow(name.text)
	}
	s.failed = nil
	u := &use{w: w, s: s, parsed: parsed{program: program, table: program.name(), words: []word{lit(called)},
		line: lineWords(args), launcher: launcher, own: own, in: in}}
	u.runsFile(launcher)
	return u.judge(args[1:])
}

// runFunction walks the body of one of the line's functions with its arguments.
func (w *walker) runFunction(s *state, name string, body *syntax.Stmt, args []word, in flow) flow {
	if body == nil {
		w.doubt(name, umpire.Say("%s was given another meaning on the line", name))
		return flow{}
	}
	if slices.Contains(s.calling, body) {
		if !w.recursed {
			w.recursed = true
			w.doubt(name, umpire.Say("the function %s calls itself", name))
		}
		return flow{}
	}
	outer, calling := s.args, s.calling
	s.args = append([]word{}, args...)
	noteHeldWords(w, args...)
	s.calling = append(slices.Clip(calling), body)
	left := beginBody(w)
	locals := w.locals
	w.locals = map[string]value{}
	out := w.walkStatement(s, body, in)
	left(s)
	s.forgetLocals(w.locals)
	w.locals = locals
	s.args, s.calling = outer, calling
	return out
}

// systemFolders are the folders in which a program is the one that its name suggests.
const systemFolders = "/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /lib /lib64 " +
	"/usr/lib /usr/lib64"

// knownProgram returns the table entry of the program that a name or path starts, or nil.
func (w *walker) knownProgram(name string) *program {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if !scan.HasField(systemFolders, name[:i]) {
			return nil
		}
		name = name[i+1:]
	}
	return w.findProgram(name)
}

// runUnknownProgram emits the access of a program that is in no table.
func (w *walker) runUnknownProgram(s *state, args []word) {
	name := args[0].text
	a := umpire.Access{
		Kind: umpire.KindExec, Program: baseName(name), Args: displayWords(args[1:]), Words: ruleWords(args),
		Line: lineWords(args), Base: 1, Risk: umpire.Medium,
		Reason: umpire.Say("runs %s, which umpire doesn't know", baseName(name)),
	}
	if printsSecret(args) {
		a.Asks = umpire.CodeSecret
	}
	if strings.Contains(name, "/") {
		a.Reason, a.Code, a.Dirs, a.CodeFiles = umpire.Say(runsFile, name), true, s.dirs,
			s.absolutePaths(args[0])
	}
	w.emit(a)
}
