package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// walkArithmetic walks an arithmetic expression or a test. The shell evaluates the text of
// variables in it again, and an index such as a[$(x)] runs x. Program output, or text with a
// substitution, is therefore in doubt.
func walkArithmetic(w *walker, s *state, node syntax.Node) {
	if node == nil {
		return
	}
	w.walkNested(s, node)
	_, test := node.(*syntax.TestClause)
	if !test {
		mayFail(w, s)
	}
	defer assignedIn(node, func(name string) { s.vars[name] = aNumber() })
	evaluated := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.SglQuoted, *syntax.Lit, *syntax.ParamExp:
			evaluated = evaluated || !test && evaluatesPart(w, s, n)
		case *syntax.BinaryArithm:
			assignsTo(w, n)
		case *syntax.BinaryTest:
			evaluated = evaluated ||
				isArithmeticTest(n.Op) && (mustNotEvaluate(w, s, n.X) || mustNotEvaluate(w, s, n.Y))
		case *syntax.UnaryTest:
			evaluated = evaluated || n.Op == syntax.TsVarSet && !plainName(n.X) ||
				n.Op == syntax.TsFdTerm && mustNotEvaluate(w, s, n.X)
		}
		return true
	})
	if evaluated || !test && s.sumsForeign(node) {
		w.doubt("", mayRunAsCode)
	}
	doubtEvaluation(w)
}

// walkIndex walks the index of an array, which is arithmetic unless the array is associative.
func walkIndex(w *walker, s *state, index syntax.Node) {
	if index != nil {
		walkArithmetic(w, s, index)
	}
}

// assignsTo records NAME=value within arithmetic.
func assignsTo(w *walker, n *syntax.BinaryArithm) {
	if x, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") &&
		!scan.HasField("== != <= >=", n.Op.String()) {
		judgeSetVariable(w, x.Lit(), word{open: true})
	}
}

// isArithmeticTest reports whether a test of [[ evaluates both sides as arithmetic.
func isArithmeticTest(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}

// mustNotEvaluate reports whether evaluating one side of such a test is unsafe.
func mustNotEvaluate(w *walker, s *state, side syntax.Node) bool {
	evaluated := false
	syntax.Walk(side, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			evaluated = evaluated || copiesText(lastProgram(n)) || s.printsCode(n, new(maxReferences))
			return false
		case *syntax.ProcSubst:
			return false
		default:
			evaluated = evaluated || evaluatesPart(w, s, n)
		}
		return true
	})
	return evaluated
}

// evaluatesPart reports whether evaluating a part of an expression is unsafe. A dollar sign
// that is still text may begin a substitution together with the text after it.
func evaluatesPart(w *walker, s *state, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return strings.ContainsAny(n.Value, "$`") || evaluatesIn(w, s, n.Value)
	case *syntax.Lit:
		return strings.ContainsAny(n.Value, "$`") || evaluatesIn(w, s, n.Value)
	case *syntax.ParamExp:
		if n.Param == nil || n.Length {
			return false
		}
		if n.Excl { // may be any variable
			w.evaluated.unknown = true
		}
		return mayEvaluate(w, s, n.Param.Value)
	}
	return false
}

// sumsForeign reports whether the output of a program is a direct part of the expression.
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

// printsCount reports whether the last program of a substitution prints only numbers.
func printsCount(sub *syntax.CmdSubst) bool {
	return len(sub.Stmts) == 0 || countsOnly(lastProgram(sub))
}

// lastProgram returns the program that prints the end of a substitution's output, or "".
func lastProgram(sub *syntax.CmdSubst) string {
	if len(sub.Stmts) == 0 {
		return ""
	}
	last := sub.Stmts[len(sub.Stmts)-1]
	if last.Cmd == nil && len(last.Redirs) > 0 {
		return "cat" // $(<file)
	}
	cmd := last.Cmd
	for {
		pipe, ok := cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		cmd = pipe.Y.Cmd
	}
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	return call.Args[0].Lit()
}

// plainName reports whether a word is just a variable's name.
func plainName(x syntax.TestExpr) bool {
	wd, ok := x.(*syntax.Word)
	return ok && syntax.ValidName(wd.Lit())
}

// judgeDescriptor judges a word that may precede a redirection: {NAME[index]}> stores the
// file's number in a variable. Other uses of such a word are rare.
func judgeDescriptor(w *walker, wd word) {
	name, index, element := wd.after("[")
	name, brace := strings.CutPrefix(name, "{")
	if brace && element && syntax.ValidName(name) && runsWhenEvaluated(index.text) {
		w.doubt("", mayRunAsCode)
	}
}
