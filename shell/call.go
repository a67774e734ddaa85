package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// call walks a simple command: assignments, the name of a program, arguments.
func (w *walker) call(s *state, cmd *syntax.CallExpr, in flow) flow {
	args := w.words(s, cmd.Args)
	if len(args) == 0 {
		w.assignments(s, cmd.Assigns)
		return flow{}
	}
	if !splitsInput(s, cmd.Assigns, args[0]) {
		w.prefixes(s, cmd.Assigns, args)
	}
	if !takesDefault(cmd.Args) {
		return w.run(s, args, in)
	}
	before, own := s.clone(), len(w.accesses)
	out := w.run(s, args, in)
	if slices.ContainsFunc(w.accesses[min(own, len(w.accesses)):], func(a umpire.Access) bool {
		return a.Doubt != ""
	}) {
		w.guessDefaults(before, cmd.Args, in)
	}
	return out
}

// splitsInput reports `IFS=x read …`, which says how this one line is split.
func splitsInput(s *state, assigns []*syntax.Assign, name word) bool {
	_, shadowed := s.functions["read"]
	return len(assigns) == 1 && assigns[0].Name.Value == "IFS" && assigns[0].Array == nil && assigns[0].Index == nil &&
		plainText(assigns[0].Value) && name.known() && name.text == "read" && !shadowed
}

// plainText reports a word in which nothing is substituted.
func plainText(wd *syntax.Word) bool {
	if wd == nil {
		return true
	}
	plain := true
	syntax.Walk(wd, func(n syntax.Node) bool {
		switch n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			plain = false
		}
		return plain
	})
	return plain
}

// run walks a command whose words are expanded.
func (w *walker) run(s *state, args []word, in flow) flow {
	if w.full || !w.enter() {
		return flow{}
	}
	defer w.leave()
	if len(args) == 0 {
		return flow{}
	}
	if body, ok := s.functions[args[0].text]; ok && args[0].known() {
		return w.function(s, args[0].text, body, args[1:], in)
	}
	return w.program(s, args, in)
}

// program walks a command that starts a program or a builtin, past functions.
func (w *walker) program(s *state, args []word, in flow) flow {
	if len(args) == 0 {
		return flow{}
	}
	name := args[0]
	if name.open || name.glob || name.text == "" {
		w.doubt(name.display(), "the program is not known before it runs")
		return flow{}
	}
	program := w.known(name.text)
	if program == nil {
		w.stranger(s, args)
		return printed(name.text)
	}
	s.failed = nil
	u := &use{w: w, s: s, program: program, words: []word{lit(base(name.text))}, line: lineWords(args), in: in,
		table: program.name()}
	return u.apply(args[1:])
}

// function walks the body of a function of the line with its arguments.
func (w *walker) function(s *state, name string, body *syntax.Stmt, args []word, in flow) flow {
	if body == nil {
		w.doubt(name, name+" was given another meaning on the line")
		return flow{}
	}
	if slices.Contains(s.calling, body) {
		if !w.recursed {
			w.recursed = true
			w.doubt(name, "the function "+name+" calls itself")
		}
		return flow{}
	}
	outer, calling := s.args, s.calling
	s.args = append([]word{}, args...)
	w.holds(args...)
	s.calling = append(slices.Clip(calling), body)
	left := w.leaving()
	locals := w.locals
	w.locals = map[string]value{}
	out := w.stmt(s, body, in)
	left(s)
	s.forgetLocals(w.locals)
	w.locals = locals
	s.args, s.calling = outer, calling
	return out
}

// systemFolders are where a program named by path is the one of that name.
const systemFolders = "/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /lib /lib64 " +
	"/usr/lib /usr/lib64"

// known returns what is known of the program that a name or path starts.
func (w *walker) known(name string) *program {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if !scan.HasField(systemFolders, name[:i]) {
			return nil
		}
		name = name[i+1:]
	}
	return w.lookup(name)
}

// stranger emits the access of a program that no table knows.
func (w *walker) stranger(s *state, args []word) {
	name := args[0].text
	why := base(name) + " is not a program that is known"
	a := umpire.Access{
		Kind: umpire.KindExec, Program: base(name), Args: displays(args[1:]), Words: ruleWords(args),
		Line: lineWords(args), Base: 1, Risk: umpire.Medium, Reason: why,
	}
	if printsSecret(args) {
		a.Asks = umpire.CodeSecret
	}
	if strings.Contains(name, "/") {
		a.Reason, a.Code, a.Dirs, a.CodeFiles = "runs the file "+name, true, s.dirs, s.absolute(args[0])
	}
	w.emit(a)
}
