package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// maxRounds is the maximum number of known items of a loop to walk one by one.
const maxRounds = 32

// walkWhile walks a loop with an unknown number of rounds.
func walkWhile(w *walker, s *state, cmd *syntax.WhileClause, in flow) flow {
	if !w.enterLevel() {
		return flow{}
	}
	defer w.leaveLevel()
	forgetChanged(s, cmd)
	before := s.clone()
	left := beginBody(w)
	w.walkList(s, cmd.Cond, in)
	s.forgetOutcome()
	out := w.walkList(s, cmd.Do, in)
	s.forgetOutcome()
	left(s)
	s.merge(before)
	return loopFlow(out)
}

// loopFlow returns the output of a loop, given the output of one round.
func loopFlow(out flow) flow {
	if out.kind == flowText {
		return foreignFlow("")
	}
	return out
}

// walkLoop walks a for or select clause: item by item if they are known and few, else once with
// an unknown variable.
func walkLoop(w *walker, s *state, cmd *syntax.ForClause, in flow) flow {
	if !w.enterLevel() {
		return flow{}
	}
	defer w.leaveLevel()
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		return walkCountedLoop(w, s, cmd, in)
	}
	judgeSetVariable(w, iter.Name.Value, word{open: true})
	if s.vars[iter.Name.Value].fixed {
		giveVariable(w, s, iter.Name.Value, unknownValue())
	}
	items := w.expandWords(s, iter.Items)
	if !iter.InPos.IsValid() {
		if items = s.args; items == nil {
			items = []word{{open: true, split: true}}
		}
	}
	noteGivenWords(w, s, iter.Name.Value, items)
	if cmd.Select || len(items) > maxRounds || openItems(items) {
		return walkAnyRound(w, s, cmd, iter.Name.Value, items, in)
	}
	var out flow
	for _, item := range items {
		s.vars[iter.Name.Value] = value{words: []word{item}}
		left := beginBody(w)
		out = concatFlows(out, w.walkList(s, cmd.Do, in))
		s.forgetOutcome()
		left(s)
	}
	return out
}

// walkCountedLoop walks for ((…; …; …)), whose parts are arithmetic before and after each
// round.
func walkCountedLoop(w *walker, s *state, cmd *syntax.ForClause, in flow) flow {
	c, ok := cmd.Loop.(*syntax.CStyleLoop)
	if !ok {
		w.doubt("", "a loop that is not known")
		return flow{}
	}
	walkArithmetic(w, s, c.Init)
	forgetChanged(s, cmd)
	walkArithmetic(w, s, c.Cond)
	left := beginBody(w)
	out := loopFlow(w.walkList(s, cmd.Do, in))
	left(s)
	walkArithmetic(w, s, c.Post)
	return out
}

func openItems(items []word) bool {
	for _, item := range items {
		if !item.known() {
			return true
		}
	}
	return false
}

// walkAnyRound walks the body once for each kind of item, after forgetting the values that
// other rounds may have changed.
func walkAnyRound(w *walker, s *state, cmd *syntax.ForClause, name string, items []word, in flow) flow {
	if len(items) > maxRounds {
		items = []word{{open: true}}
	}
	forgetChanged(s, cmd)
	var out flow
	for _, item := range items {
		round := s.clone()
		round.vars[name] = value{words: []word{item}}
		left := beginBody(w)
		out = concatFlows(out, w.walkList(round, cmd.Do, in))
		round.forgetOutcome()
		left(round)
		s.merge(round)
	}
	s.vars[name] = unknownValue()
	return loopFlow(out)
}

// forgetChanged drops the state that the rounds of a loop may change before the next round:
// variables that the loop assigns, and the folder if it changes folders.
func forgetChanged(s *state, loop syntax.Node) {
	assignedIn(loop, func(name string) { s.vars[name] = s.vars[name].or(aNumber()) })
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst:
			return false
		case *syntax.Assign:
			if n.Name != nil {
				s.vars[n.Name.Value] = s.vars[n.Name.Value].or(unknownValue())
				s.vars[n.Name.Value].words[0].foreign = s.vars[n.Name.Value].words[0].foreign || holdsCode(n)
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			name := n.Args[0].Lit()
			if changesFolder(name) {
				s.dirs = nil
			}
			s.forgetNamed(name, n.Args[1:])
		}
		return true
	})
}

// forgetNamed drops the variables that a command of a loop may set: those that it names, or all
// if it runs code of the line.
func (s *state) forgetNamed(name string, args []*syntax.Word) {
	_, function := s.functions[name]
	if function || scan.HasField("eval source .", name) {
		for v := range s.vars {
			if v != "HOME" {
				s.vars[v] = unknownValue()
			}
		}
		return
	}
	if !scan.HasField("read readarray mapfile getopts printf unset", name) {
		return
	}
	for _, arg := range args {
		if v := arg.Lit(); syntax.ValidName(v) {
			s.vars[v] = unknownValue()
		}
	}
}

func changesFolder(name string) bool {
	return name == "cd" || name == "pushd" || name == "popd" || name == "eval"
}

// declareFunction records a function. Its body is judged at each call, and once here without
// any knowledge, so a definition that shadows a program or is called in an unexpected way is
// never missed.
func declareFunction(w *walker, s *state, cmd *syntax.FuncDecl) {
	if cmd.Name == nil {
		w.doubt("", "a function without a name")
		return
	}
	s.setFunction(cmd.Name.Value, cmd.Body)
	if w.trapped || scan.HasField(zshHooks, cmd.Name.Value) {
		w.doubt(cmd.Name.Value, umpire.Say("a command set to run later may call %s", cmd.Name.Value))
	}
	if _, simple := cmd.Body.Cmd.(*syntax.CallExpr); simple || cmd.Body.Cmd == nil {
		w.doubt(cmd.Name.Value, "the body of a function is a command, which shells read in several ways")
	}
	if cmd.RsrvWord && s.shells&scan.Dash != 0 { // to dash this is a program, with words that it expands
		w.walkNested(s.clone(), cmd.Body)
	}
	if isForkBomb(cmd) {
		w.emit(umpire.Access{Kind: umpire.KindExec, Program: cmd.Name.Value, Words: []string{cmd.Name.Value},
			Risk: umpire.Critical, Reason: "starts itself without end and takes the machine down", Table: "fork bomb"})
		return
	}
	w.builtin("function", umpire.Say("defines %s", cmd.Name.Value))
}

// unfoldDefinition returns `f() { …; } && x` as the shell reads it, a definition followed by a
// command, or nil. The parser takes all of it for the body.
func unfoldDefinition(cmd *syntax.FuncDecl) *syntax.BinaryCmd {
	var chain []*syntax.BinaryCmd
	body := cmd.Body
	for {
		list, ok := body.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		chain = append(chain, list)
		body = list.X
	}
	decl := *cmd
	decl.Body = body
	left := syntax.Command(&decl)
	var whole *syntax.BinaryCmd
	for _, list := range slices.Backward(chain) {
		c := *list
		c.X = &syntax.Stmt{Position: list.X.Position, Cmd: left}
		whole, left = &c, &c
	}
	return whole
}

// isForkBomb reports whether a function starts itself twice, or in the background: it doubles
// until nothing else can run.
func isForkBomb(cmd *syntax.FuncDecl) bool {
	calls, parallel := 0, false
	syntax.Walk(cmd.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == cmd.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			parallel = parallel || n.Background
		case *syntax.BinaryCmd:
			parallel = parallel || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	return calls > 0 && parallel
}
