package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithmetic walks an arithmetic expression or a test. The shell evaluates the
// text of variables in it once more, and an index such as a[$(x)] runs x: what a
// program printed, or text that holds a substitution, is in doubt there.
func (w *walker) arithmetic(s *state, node syntax.Node) {
	if node == nil {
		return
	}
	w.nested(s, node)
	_, test := node.(*syntax.TestClause)
	evaluated := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.SglQuoted:
			evaluated = evaluated || !test && runsWhenEvaluated(n.Value)
		case *syntax.Lit:
			evaluated = evaluated || !test && (s.evaluates(n.Value) || runsWhenEvaluated(n.Value))
		case *syntax.ParamExp:
			evaluated = evaluated || !test && n.Param != nil && s.evaluates(n.Param.Value)
		case *syntax.UnaryTest:
			evaluated = evaluated || n.Op == syntax.TsVarSet && !plainName(n.X)
		}
		return true
	})
	if evaluated || !test && s.sumsForeign(node) {
		w.doubt("", "arithmetic with text that may run as code")
	}
}

// runsWhenEvaluated reports text that runs something when it is evaluated.
func runsWhenEvaluated(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`")
}

// evaluates reports whether a variable holds what must not be evaluated.
func (s *state) evaluates(name string) bool {
	v, ok := s.vars[name]
	if !ok {
		return false
	}
	for _, wd := range v.words {
		if wd.foreign || runsWhenEvaluated(wd.text) {
			return true
		}
	}
	return false
}

// sumsForeign reports whether the output of a program is a direct part of the
// expression.
func (s *state) sumsForeign(node syntax.Node) bool {
	foreign := false
	syntax.Walk(node, func(n syntax.Node) bool {
		sub, ok := n.(*syntax.CmdSubst)
		if ok {
			foreign = foreign || !printsCount(sub)
		}
		return !ok
	})
	return foreign
}

// printsCount reports a substitution whose last program prints numbers only.
func printsCount(sub *syntax.CmdSubst) bool {
	if len(sub.Stmts) == 0 {
		return true
	}
	cmd := sub.Stmts[len(sub.Stmts)-1].Cmd
	for {
		pipe, ok := cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		cmd = pipe.Y.Cmd
	}
	call, ok := cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && countsOnly(call.Args[0].Lit())
}

// plainName reports a word that is a variable's name and nothing else.
func plainName(x syntax.TestExpr) bool {
	wd, ok := x.(*syntax.Word)
	return ok && syntax.ValidName(wd.Lit())
}
