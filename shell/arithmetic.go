package shell

import (
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
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
	if !test {
		w.mayFail(s)
	}
	defer assignedIn(node, func(name string) { s.vars[name] = aNumber() })
	evaluated := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.SglQuoted, *syntax.Lit, *syntax.ParamExp:
			evaluated = evaluated || !test && w.evaluatesPart(s, n)
		case *syntax.BinaryArithm:
			w.assignsTo(n)
		case *syntax.BinaryTest:
			evaluated = evaluated || compares(n.Op) && (w.counts(s, n.X) || w.counts(s, n.Y))
		case *syntax.UnaryTest:
			evaluated = evaluated || n.Op == syntax.TsVarSet && !plainName(n.X) ||
				n.Op == syntax.TsFdTerm && w.counts(s, n.X)
		}
		return true
	})
	if evaluated || !test && s.sumsForeign(node) {
		w.doubt("", mayRunAsCode)
	}
	w.meet()
}

// index walks the index of an array, which is arithmetic unless the array is one
// of names.
func (w *walker) index(s *state, index syntax.Node) {
	if index != nil {
		w.arithmetic(s, index)
	}
}

// assignsTo judges NAME=value within arithmetic.
func (w *walker) assignsTo(n *syntax.BinaryArithm) {
	if x, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") &&
		!scan.HasField("== != <= >=", n.Op.String()) {
		w.sets(x.Lit(), word{open: true})
	}
}

// compares reports a test of [[ that takes both its sides for arithmetic.
func compares(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}

// counts reports whether one side of such a test must not be evaluated.
func (w *walker) counts(s *state, side syntax.Node) bool {
	evaluated := false
	syntax.Walk(side, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			evaluated = evaluated || copiesText(lastProgram(n)) || s.printsCode(n, new(maxReferences))
			return false
		case *syntax.ProcSubst:
			return false
		default:
			evaluated = evaluated || w.evaluatesPart(s, n)
		}
		return true
	})
	return evaluated
}

// evaluatesPart reports whether a part of an expression must not be evaluated. A
// dollar sign that is still there as text may begin a substitution with what stands
// behind it.
func (w *walker) evaluatesPart(s *state, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return strings.ContainsAny(n.Value, "$`") || w.evaluatesIn(s, n.Value)
	case *syntax.Lit:
		return strings.ContainsAny(n.Value, "$`") || w.evaluatesIn(s, n.Value)
	case *syntax.ParamExp:
		if n.Param == nil || n.Length {
			return false
		}
		if n.Excl { // any variable
			w.evaluated.unknown = true
		}
		return w.evaluates(s, n.Param.Value)
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
	return len(sub.Stmts) == 0 || countsOnly(lastProgram(sub))
}

// lastProgram is the program whose output a substitution ends with, or "".
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

// plainName reports a word that is a variable's name and nothing else.
func plainName(x syntax.TestExpr) bool {
	wd, ok := x.(*syntax.Word)
	return ok && syntax.ValidName(wd.Lit())
}

// descriptor judges a word before a redirection: {NAME[index]}> puts the number of
// the file into a variable. That no redirection follows is rare.
func (w *walker) descriptor(wd word) {
	name, index, element := wd.after("[")
	name, brace := strings.CutPrefix(name, "{")
	if brace && element && syntax.ValidName(name) && runsWhenEvaluated(index.text) {
		w.doubt("", mayRunAsCode)
	}
}
