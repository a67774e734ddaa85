package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// walkList walks statements in order and returns their output.
func (w *walker) walkList(s *state, stmts []*syntax.Stmt, in flow) flow {
	out := flow{}
	for i, st := range stmts {
		s.forgetOutcome()
		got := w.walkStatement(s, st, in)
		if i == 0 {
			out = got
		} else {
			out = concatFlows(out, got)
		}
	}
	return out
}

// concatFlows returns the output of two commands in sequence.
func concatFlows(a, b flow) flow {
	switch {
	case a.kind == flowText && b.kind == flowText:
		a.text += b.text
		return a
	case a.kind == flowPaths && b.kind == flowPaths:
		a.dirs = append(slices.Clip(a.dirs), b.dirs...)
		return a
	case a.kind == flowNone:
		return b
	case b.kind == flowNone:
		return a
	case a.kind == flowRemote || b.kind == flowRemote:
		return flow{kind: flowRemote, from: a.from + b.from}
	}
	return flow{kind: flowForeign, from: a.from}
}

// walkSubshell walks statements whose changes to the shell stay inside.
func (w *walker) walkSubshell(s *state, stmts []*syntax.Stmt, in flow) flow {
	if !w.enterLevel() {
		return flow{}
	}
	defer w.leaveLevel()
	defer beginSubshell(w)()
	return w.walkList(s.clone(), stmts, in)
}

// walkStatement walks one statement with its redirections.
func (w *walker) walkStatement(s *state, st *syntax.Stmt, in flow) flow {
	if !w.countStatement() {
		return flow{}
	}
	if len(s.vars) > maxVariables {
		w.limit("too many variables")
	}
	if st.Background || st.Coprocess {
		s = s.clone()
	}
	if scan.RunsAside(s.shells, st) {
		before := s.clone()
		defer func() { s.merge(before) }()
	}
	defer w.openPart()()
	in, redirected := w.walkRedirects(s, st.Redirs, in)
	out := w.walkCommand(s, st.Cmd, in)
	switch {
	case redirected && comesBack(st.Redirs):
		return flow{kind: flowForeign, from: out.from}
	case redirected:
		return flow{}
	case slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.DplOut }):
		out.numbers, out.numbered = false, false // the output includes errors
	}
	return out
}

// comesBack reports whether a redirection may lead back to the output.
func comesBack(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		to := ""
		if r.Word != nil {
			to = r.Word.Lit()
		}
		return to == "" || to != "/dev/null" && (strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/proc/"))
	})
}

func (w *walker) walkCommand(s *state, cmd syntax.Command, in flow) flow {
	switch cmd := cmd.(type) {
	case nil:
		return flow{}
	case *syntax.CallExpr:
		return w.walkCall(s, cmd, in)
	case *syntax.BinaryCmd:
		return w.walkBinary(s, cmd, in)
	case *syntax.Subshell:
		return w.walkSubshell(s, cmd.Stmts, in)
	case *syntax.Block:
		return w.walkList(s, cmd.Stmts, in)
	case *syntax.IfClause:
		return w.walkIf(s, cmd, in)
	case *syntax.WhileClause:
		return walkWhile(w, s, cmd, in)
	case *syntax.ForClause:
		return walkLoop(w, s, cmd, in)
	case *syntax.CaseClause:
		return w.walkCase(s, cmd, in)
	case *syntax.FuncDecl:
		if list := unfoldDefinition(cmd); list != nil {
			return w.walkBinary(s, list, in)
		}
		declareFunction(w, s, cmd)
	case *syntax.DeclClause:
		walkDeclaration(w, s, cmd)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return w.walkStatement(s, cmd.Stmt, in)
		}
	case *syntax.CoprocClause:
		w.walkStatement(s.clone(), cmd.Stmt, in)
		if cmd.Name != nil {
			w.walkNested(s, cmd.Name)
			if _, simple := cmd.Stmt.Cmd.(*syntax.CallExpr); simple || cmd.Stmt.Cmd == nil ||
				!syntax.ValidName(cmd.Name.Lit()) {
				w.doubt("", "the name of a coprocess may be a command")
			}
			s.vars[cmd.Name.Lit()] = unknownValue()
		}
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		walkArithmetic(w, s, cmd)
		w.builtin("[[", "compares")
	default:
		w.doubt("", "a construct that is not known")
	}
	return flow{}
}

// builtin emits the access of a shell construct, which only looks.
func (w *walker) builtin(name string, why umpire.Phrase) {
	w.emit(umpire.Access{Kind: umpire.KindExec, Program: name, Words: []string{name}, Risk: umpire.Safe,
		Consequence: umpire.Harmless, Reason: why})
}

// walkNested walks the substitutions within a node that is not expanded itself, and the
// evaluations of expansions in it.
func (w *walker) walkNested(s *state, node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.walkSubshell(s, n.Stmts, flow{})
			return false
		case *syntax.ProcSubst:
			w.walkSubshell(s, n.Stmts, flow{kind: flowForeign})
			return false
		case *syntax.ParamExp:
			if syntax.Node(n) != node {
				(&expansion{w: w, s: s}).expandParam(n)
				return false
			}
		case *syntax.ArithmExp:
			if syntax.Node(n) != node {
				walkArithmetic(w, s, n.X)
				return false
			}
		}
		return true
	})
}

// walkBinary walks `x && y`, `x || y` and pipes. Long chains lean to the left, and a loop takes
// them apart to avoid deep recursion.
func (w *walker) walkBinary(s *state, cmd *syntax.BinaryCmd, in flow) flow {
	chain := []*syntax.BinaryCmd{cmd}
	for {
		left, ok := chain[len(chain)-1].X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(chain[len(chain)-1].X.Redirs) > 0 {
			break
		}
		chain = append(chain, left)
	}
	first := chain[len(chain)-1]
	out := w.walkLeft(s, first.X, first.Op, in)
	for _, c := range slices.Backward(chain) {
		out = w.walkAfter(s, c, out, in)
	}
	return out
}

// walkLeft walks the left side of an operator; that of a pipe runs in a subshell.
func (w *walker) walkLeft(s *state, st *syntax.Stmt, op syntax.BinCmdOperator, in flow) flow {
	if op == syntax.Pipe || op == syntax.PipeAll {
		return w.walkStatement(s.clone(), st, in)
	}
	return w.walkStatement(s, st, in)
}

// walkAfter walks the right side of an operator after its left side.
func (w *walker) walkAfter(s *state, cmd *syntax.BinaryCmd, left, in flow) flow {
	switch cmd.Op {
	case syntax.Pipe, syntax.PipeAll:
		if left.kind == flowNone {
			left = foreignFlow("")
		}
		if cmd.Op == syntax.PipeAll {
			left.numbers, left.numbered = false, false
		}
		return w.walkRight(s, cmd.Y, left)
	case syntax.AndStmt:
		failed := s.failed
		s.failed = nil
		skipped := s.clone()
		out := w.walkStatement(s, cmd.Y, in)
		w.joinEither(s, skipped, failed)
		return concatFlows(left, out)
	case syntax.OrStmt:
		right := s.clone()
		if s.failed != nil {
			right.dirs = s.failed
		}
		s.failed, right.failed = nil, nil
		out := w.walkStatement(right, cmd.Y, in)
		if !endsShell(cmd.Y) {
			right.forgetOutcome()
			s.merge(right)
		}
		return concatFlows(left, out)
	}
	return flow{}
}

// walkRight walks the right side of a pipe. bash runs it in a subshell, but zsh and ksh run the
// last one in the shell itself, so later commands may see either state.
func (w *walker) walkRight(s *state, st *syntax.Stmt, left flow) flow {
	inside := s.clone()
	inside.failed = nil
	out := w.walkStatement(inside, st, left)
	inside.forgetOutcome()
	s.forgetOutcome()
	s.merge(inside)
	return out
}

// joinEither joins the state after `x && y` with the state if y is skipped.
func (w *walker) joinEither(s, skipped *state, failed []string) {
	dirs, inner := s.dirs, s.failed
	s.merge(skipped)
	s.dirs = dirs
	switch {
	case failed != nil && inner != nil:
		s.failed = joinFolders(failed, inner)
	case failed != nil:
		s.failed = failed
	default:
		s.failed = inner
		if inner == nil && !sameDirs(dirs, skipped.dirs) {
			s.failed = skipped.dirs
		}
	}
}

func sameDirs(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// endsShell reports whether a statement ends the shell or the loop. Later commands then do not
// see its state.
func endsShell(st *syntax.Stmt) bool {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "exit", "return", "break", "continue":
		return true
	}
	return false
}

func (w *walker) walkIf(s *state, cmd *syntax.IfClause, in flow) flow {
	if !w.enterLevel() {
		return flow{}
	}
	defer w.leaveLevel()
	w.walkList(s, cmd.Cond, in)
	otherwise := s.clone()
	if s.failed != nil {
		otherwise.dirs = s.failed
	}
	s.failed, otherwise.failed = nil, nil
	out := w.walkList(s, cmd.Then, in)
	s.forgetOutcome()
	if cmd.Else != nil {
		branch := w.walkElse(otherwise, cmd.Else, in)
		out = concatFlows(out, branch)
	}
	otherwise.forgetOutcome()
	s.merge(otherwise)
	return out
}

// walkElse walks an elif or an else.
func (w *walker) walkElse(s *state, cmd *syntax.IfClause, in flow) flow {
	if len(cmd.Cond) > 0 {
		return w.walkIf(s, cmd, in)
	}
	return w.walkList(s, cmd.Then, in)
}

func (w *walker) walkCase(s *state, cmd *syntax.CaseClause, in flow) flow {
	w.expandOne(s, cmd.Word)
	before := s.clone()
	var out flow
	var fallen *state
	for _, item := range cmd.Items {
		for _, pattern := range item.Patterns {
			w.walkNested(s, pattern)
		}
		branch := before.clone()
		if fallen != nil {
			into := exitState{s: branch}
			into.noteState(w, fallen)
		}
		out = concatFlows(out, w.walkList(branch, item.Stmts, in))
		branch.forgetOutcome()
		s.merge(branch)
		fallen = nil
		if item.Op != syntax.Break { // ;& and ;;& continue with the branches below
			fallen = branch
		}
	}
	return out
}
