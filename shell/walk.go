package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
)

// list walks statements one after the other and returns what they print.
func (w *walker) list(s *state, stmts []*syntax.Stmt, in flow) flow {
	out := flow{}
	for i, st := range stmts {
		s.settle()
		got := w.stmt(s, st, in)
		if i == 0 {
			out = got
		} else {
			out = concat(out, got)
		}
	}
	return out
}

// concat is what two commands print one after the other.
func concat(a, b flow) flow {
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

// subshell walks statements whose changes to the shell stay inside.
func (w *walker) subshell(s *state, stmts []*syntax.Stmt, in flow) flow {
	if !w.enter() {
		return flow{}
	}
	defer w.leave()
	defer w.apart()()
	return w.list(s.clone(), stmts, in)
}

// stmt walks one statement with its redirections.
func (w *walker) stmt(s *state, st *syntax.Stmt, in flow) flow {
	if !w.count() {
		return flow{}
	}
	if len(s.vars) > maxVariables {
		w.limit("too many variables")
	}
	if st.Background || st.Coprocess {
		s = s.clone()
	}
	defer w.open()()
	in, redirected := w.redirects(s, st.Redirs, in)
	out := w.command(s, st.Cmd, in)
	switch {
	case redirected && comesBack(st.Redirs):
		return flow{kind: flowForeign, from: out.from}
	case redirected:
		return flow{}
	case slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.DplOut }):
		out.numbers, out.numbered = false, false // errors are among them
	}
	return out
}

// comesBack reports a redirection to what may be the output after all.
func comesBack(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		to := ""
		if r.Word != nil {
			to = r.Word.Lit()
		}
		return to == "" || to != "/dev/null" && (strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/proc/"))
	})
}

func (w *walker) command(s *state, cmd syntax.Command, in flow) flow {
	switch cmd := cmd.(type) {
	case nil:
		return flow{}
	case *syntax.CallExpr:
		return w.call(s, cmd, in)
	case *syntax.BinaryCmd:
		return w.binary(s, cmd, in)
	case *syntax.Subshell:
		return w.subshell(s, cmd.Stmts, in)
	case *syntax.Block:
		return w.list(s, cmd.Stmts, in)
	case *syntax.IfClause:
		return w.ifClause(s, cmd, in)
	case *syntax.WhileClause:
		return w.while(s, cmd, in)
	case *syntax.ForClause:
		return w.loop(s, cmd, in)
	case *syntax.CaseClause:
		return w.caseClause(s, cmd, in)
	case *syntax.FuncDecl:
		if list := unfolded(cmd); list != nil {
			return w.binary(s, list, in)
		}
		w.declare(s, cmd)
	case *syntax.DeclClause:
		w.declClause(s, cmd)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return w.stmt(s, cmd.Stmt, in)
		}
	case *syntax.CoprocClause:
		w.stmt(s.clone(), cmd.Stmt, in)
		if cmd.Name != nil {
			w.nested(s, cmd.Name)
			if _, simple := cmd.Stmt.Cmd.(*syntax.CallExpr); simple || cmd.Stmt.Cmd == nil ||
				!syntax.ValidName(cmd.Name.Lit()) {
				w.doubt("", "the name of a coprocess may be a command")
			}
			s.vars[cmd.Name.Lit()] = unknown()
		}
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		w.arithmetic(s, cmd)
		w.builtin("[[", "compares")
	default:
		w.doubt("", "a construct that is not known")
	}
	return flow{}
}

// builtin emits the access of a construct of the shell itself, which only looks.
func (w *walker) builtin(name, why string) {
	w.emit(umpire.Access{Kind: umpire.KindExec, Program: name, Words: []string{name}, Risk: umpire.Safe,
		Consequence: umpire.Harmless, Reason: why})
}

// nested walks the substitutions within a node that is not expanded itself, and what
// expansions in it evaluate.
func (w *walker) nested(s *state, node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.subshell(s, n.Stmts, flow{})
			return false
		case *syntax.ProcSubst:
			w.subshell(s, n.Stmts, flow{kind: flowForeign})
			return false
		case *syntax.ParamExp:
			if syntax.Node(n) != node {
				(&expansion{w: w, s: s}).param(n)
				return false
			}
		case *syntax.ArithmExp:
			if syntax.Node(n) != node {
				w.arithmetic(s, n.X)
				return false
			}
		}
		return true
	})
}

// binary walks `x && y`, `x || y` and pipes. Long chains lean to the left; they
// are taken apart in a loop, so that their length costs no depth.
func (w *walker) binary(s *state, cmd *syntax.BinaryCmd, in flow) flow {
	chain := []*syntax.BinaryCmd{cmd}
	for {
		left, ok := chain[len(chain)-1].X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(chain[len(chain)-1].X.Redirs) > 0 {
			break
		}
		chain = append(chain, left)
	}
	first := chain[len(chain)-1]
	out := w.side(s, first.X, first.Op, in)
	for _, c := range slices.Backward(chain) {
		out = w.join(s, c, out, in)
	}
	return out
}

// side walks the left side of an operator: a pipe's runs in a subshell.
func (w *walker) side(s *state, st *syntax.Stmt, op syntax.BinCmdOperator, in flow) flow {
	if op == syntax.Pipe || op == syntax.PipeAll {
		return w.stmt(s.clone(), st, in)
	}
	return w.stmt(s, st, in)
}

// join walks the right side of an operator after its left side.
func (w *walker) join(s *state, cmd *syntax.BinaryCmd, left, in flow) flow {
	switch cmd.Op {
	case syntax.Pipe, syntax.PipeAll:
		if left.kind == flowNone {
			left = printed("")
		}
		if cmd.Op == syntax.PipeAll {
			left.numbers, left.numbered = false, false
		}
		return w.right(s, cmd.Y, left)
	case syntax.AndStmt:
		failed := s.failed
		s.failed = nil
		skipped := s.clone()
		out := w.stmt(s, cmd.Y, in)
		w.either(s, skipped, failed)
		return concat(left, out)
	case syntax.OrStmt:
		right := s.clone()
		if s.failed != nil {
			right.dirs = s.failed
		}
		s.failed, right.failed = nil, nil
		out := w.stmt(right, cmd.Y, in)
		if !leaves(cmd.Y) {
			right.settle()
			s.merge(right)
		}
		return concat(left, out)
	}
	return flow{}
}

// right walks the right side of a pipe. bash runs it in a subshell, zsh and ksh
// run the last one in the shell itself: what follows may see either.
func (w *walker) right(s *state, st *syntax.Stmt, left flow) flow {
	inside := s.clone()
	inside.failed = nil
	out := w.stmt(inside, st, left)
	inside.settle()
	s.settle()
	s.merge(inside)
	return out
}

// either joins the state after `x && y` with that of y skipped.
func (w *walker) either(s, skipped *state, failed []string) {
	dirs, inner := s.dirs, s.failed
	s.merge(skipped)
	s.dirs = dirs
	switch {
	case failed != nil && inner != nil:
		s.failed = union(failed, inner)
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

// leaves reports whether a statement ends the shell or the loop, so that what
// follows does not see its state.
func leaves(st *syntax.Stmt) bool {
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

func (w *walker) ifClause(s *state, cmd *syntax.IfClause, in flow) flow {
	if !w.enter() {
		return flow{}
	}
	defer w.leave()
	w.list(s, cmd.Cond, in)
	otherwise := s.clone()
	if s.failed != nil {
		otherwise.dirs = s.failed
	}
	s.failed, otherwise.failed = nil, nil
	out := w.list(s, cmd.Then, in)
	s.settle()
	if cmd.Else != nil {
		branch := w.elseClause(otherwise, cmd.Else, in)
		out = concat(out, branch)
	}
	otherwise.settle()
	s.merge(otherwise)
	return out
}

// elseClause walks an elif or an else.
func (w *walker) elseClause(s *state, cmd *syntax.IfClause, in flow) flow {
	if len(cmd.Cond) > 0 {
		return w.ifClause(s, cmd, in)
	}
	return w.list(s, cmd.Then, in)
}

func (w *walker) caseClause(s *state, cmd *syntax.CaseClause, in flow) flow {
	w.one(s, cmd.Word)
	before := s.clone()
	var out flow
	var fallen *state
	for _, item := range cmd.Items {
		for _, pattern := range item.Patterns {
			w.nested(s, pattern)
		}
		branch := before.clone()
		if fallen != nil {
			into := leap{s: branch}
			into.from(w, fallen)
		}
		out = concat(out, w.list(branch, item.Stmts, in))
		branch.settle()
		s.merge(branch)
		fallen = nil
		if item.Op != syntax.Break { // ;& and ;;& go on with the branches below
			fallen = branch
		}
	}
	return out
}
