//go:build linux

package shell_test

import (
	"bytes"
	"math/rand/v2"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A grower builds lines from the nodes of the grammar, with payloads in place of words.
type grower struct {
	*rand.Rand
	depth int
}

// plainTexts are words that shells take for text.
var plainTexts = []string{"a", "b", "-n", "README.md", "1", "x", "ls", "==", "-f", "E", "}", "{", "!", "in", "]]", "f"}

// grownTexts are words with a special meaning in some shell.
var grownTexts = []string{
	"./x.sh", "./x.sh", "./x.sh", "{ls,./x.sh}", "{a,b}", "=ls", "~PWD", "x=./x.sh", "*", "a|./x.sh", "$x[1]", "\\;",
	"a[./x.sh]", "'a[$(./x.sh)]'", "$'\\'./x.sh'", "!a", "^a", "#a", "a#b", "1-2", "@", "+", "-e", "%1", "x:h", ":h",
}

var (
	grownNames    = []string{"ls", "echo", "cat", "printf", ":", "true", "[", "test", "ls", "echo", "f", "pwd", "cd", "sh"}
	grownVariants = []string{"export", "local", "declare", "typeset", "readonly"}
	grownVars     = []string{"x", "y", "a", "PWD", "1", "@", "#"}
	grownOps      = []syntax.RedirOperator{
		syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.DplOut, syntax.RdrClob,
		syntax.RdrAll, syntax.AppAll, syntax.WordHdoc, syntax.Hdoc,
	}
)

// grow prints one grown line, or "" if the printer has no form for the tree.
func (m *mutator) grow() (line string) {
	defer func() {
		if recover() != nil {
			line = ""
		}
	}()
	g := grower{Rand: m.Rand}
	file := &syntax.File{Stmts: g.stmts(1 + m.IntN(2))}
	var out bytes.Buffer
	options := []syntax.PrinterOption{syntax.SingleLine(m.IntN(2) == 0), syntax.FunctionNextLine(m.IntN(2) == 0)}
	if syntax.NewPrinter(options...).Print(&out, file) != nil {
		return ""
	}
	line = strings.TrimSuffix(out.String(), "\n")
	if m.IntN(3) == 0 {
		line = strings.ReplaceAll(line, "; ", "\n")
	}
	if m.IntN(4) == 0 {
		line = strings.Replace(line, " {\n", "\n{ ", 1)
	}
	return line
}

func one[T any](g *grower, from []T) T { return from[g.IntN(len(from))] }

func (g *grower) stmts(n int) []*syntax.Stmt {
	out := make([]*syntax.Stmt, n)
	for i := range out {
		out[i] = g.stmt()
	}
	return out
}

func (g *grower) stmt() *syntax.Stmt {
	g.depth++
	defer func() { g.depth-- }()
	st := &syntax.Stmt{Cmd: g.command(), Negated: g.IntN(12) == 0, Background: g.IntN(12) == 0}
	for g.IntN(7) == 0 {
		st.Redirs = append(st.Redirs, g.redirect())
	}
	return st
}

func (g *grower) redirect() *syntax.Redirect {
	r := &syntax.Redirect{Op: one(g, grownOps), Word: g.word()}
	if g.IntN(2) == 0 {
		r.Word = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: one(g, []string{"/dev/null", "a", "1", "2"})}}}
	}
	if r.Op == syntax.Hdoc {
		r.Word = &syntax.Word{Parts: []syntax.WordPart{g.delimiter()}}
		r.Hdoc = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: one(g, []string{"./x.sh\n", "ls\n", "$E\n./x.sh\n"})}}}
	}
	if g.IntN(4) == 0 {
		r.N = &syntax.Lit{Value: one(g, []string{"1", "2", "10", "0"})}
	}
	return r
}

func (g *grower) delimiter() syntax.WordPart {
	switch g.IntN(4) {
	case 0:
		return &syntax.SglQuoted{Value: "E", Dollar: g.IntN(2) == 0}
	case 1:
		return &syntax.DblQuoted{Dollar: g.IntN(2) == 0, Parts: []syntax.WordPart{&syntax.Lit{Value: "E"}}}
	}
	return &syntax.Lit{Value: "E"}
}

func (g *grower) call() *syntax.CallExpr {
	c := &syntax.CallExpr{}
	for g.IntN(9) == 0 {
		c.Assigns = append(c.Assigns, g.assign())
	}
	if len(c.Assigns) > 0 && g.IntN(2) == 0 {
		return c
	}
	c.Args = []*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: one(g, grownNames)}}}}
	if g.IntN(20) == 0 {
		c.Args[0] = g.word()
	}
	for range g.IntN(4) {
		c.Args = append(c.Args, g.word())
	}
	return c
}

func (g *grower) assign() *syntax.Assign {
	a := &syntax.Assign{Name: &syntax.Lit{Value: one(g, grownVars[:4])}, Append: g.IntN(5) == 0}
	switch g.IntN(5) {
	case 0:
		a.Array = &syntax.ArrayExpr{Elems: []*syntax.ArrayElem{{Value: g.word()}, {Value: g.word()}}}
	case 1:
		a.Index = g.word()
		fallthrough
	default:
		a.Value = g.word()
	}
	return a
}

func (g *grower) command() syntax.Command {
	if g.depth > 3 {
		return g.call()
	}
	switch g.IntN(24) {
	case 0, 1, 2:
		op := one(g, []syntax.BinCmdOperator{syntax.AndStmt, syntax.OrStmt, syntax.Pipe, syntax.Pipe, syntax.PipeAll})
		return &syntax.BinaryCmd{Op: op, X: g.stmt(), Y: g.stmt()}
	case 3:
		return &syntax.Subshell{Stmts: g.stmts(1 + g.IntN(2))}
	case 4:
		return &syntax.Block{Stmts: g.stmts(1 + g.IntN(2))}
	case 5:
		return &syntax.IfClause{Cond: g.stmts(1), Then: g.stmts(1)}
	case 6:
		return &syntax.WhileClause{Cond: []*syntax.Stmt{{Cmd: g.test()}}, Do: g.stmts(1), Until: g.IntN(2) == 0}
	case 7, 8:
		return &syntax.ForClause{Select: g.IntN(6) == 0, Do: g.stmts(1), Loop: &syntax.WordIter{
			Name: &syntax.Lit{Value: "x"}, Items: []*syntax.Word{g.word(), g.word()},
		}}
	case 9:
		return &syntax.CaseClause{Word: g.word(), Items: []*syntax.CaseItem{{
			Op: one(g, []syntax.CaseOperator{syntax.Break, syntax.Fallthrough}), Patterns: []*syntax.Word{g.word()},
			Stmts: g.stmts(1),
		}}}
	case 10, 11:
		return g.function()
	case 12, 13:
		return &syntax.DeclClause{Variant: &syntax.Lit{Value: one(g, grownVariants)}, Args: []*syntax.Assign{g.assign()}}
	case 14:
		return &syntax.TimeClause{Stmt: g.stmt()}
	case 15, 16:
		return g.test()
	case 17:
		return &syntax.ArithmCmd{X: g.arithmetic()}
	case 18:
		return &syntax.LetClause{Exprs: []syntax.ArithmExpr{g.word()}}
	}
	return g.call()
}

func (g *grower) function() *syntax.FuncDecl {
	f := &syntax.FuncDecl{RsrvWord: g.IntN(2) == 0, Name: &syntax.Lit{Value: one(g, []string{"f", "g", "x.get", "ls"})}}
	f.Parens = !f.RsrvWord || g.IntN(3) == 0
	f.Body = &syntax.Stmt{Cmd: &syntax.Block{Stmts: g.stmts(1)}}
	if g.IntN(3) == 0 {
		f.Body = &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: []*syntax.Word{g.word()}}}}}}
	}
	return f
}

func (g *grower) test() *syntax.TestClause { return &syntax.TestClause{X: g.testExpr(2)} }

func (g *grower) testExpr(depth int) syntax.TestExpr {
	switch n := g.IntN(8); {
	case n == 0 && depth > 0:
		op := one(g, []syntax.BinTestOperator{syntax.AndTest, syntax.OrTest})
		return &syntax.BinaryTest{Op: op, X: g.testExpr(depth - 1), Y: g.testExpr(depth - 1)}
	case n < 4:
		op := one(g, []syntax.BinTestOperator{
			syntax.TsMatch, syntax.TsReMatch, syntax.TsNoMatch, syntax.TsBefore, syntax.TsAfter, syntax.TsEql, syntax.TsNewer,
		})
		return &syntax.BinaryTest{Op: op, X: g.word(), Y: g.word()}
	case n < 6:
		return &syntax.UnaryTest{Op: one(g, []syntax.UnTestOperator{syntax.TsEmpStr, syntax.TsRegFile}), X: g.word()}
	}
	return g.word()
}

func (g *grower) arithmetic() syntax.ArithmExpr {
	if g.IntN(2) == 0 {
		return g.word()
	}
	op := one(g, []syntax.BinAritOperator{syntax.Add, syntax.OrArit, syntax.Lss, syntax.Gtr, syntax.Or, syntax.And})
	return &syntax.BinaryArithm{Op: op, X: g.word(), Y: g.word()}
}

func (g *grower) word() *syntax.Word {
	w := &syntax.Word{Parts: []syntax.WordPart{g.part()}}
	for g.IntN(5) == 0 {
		w.Parts = append(w.Parts, g.part())
	}
	return w
}

func (g *grower) part() syntax.WordPart {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		return &syntax.Lit{Value: one(g, plainTexts)}
	}
	switch g.IntN(20) {
	case 0, 1:
		return &syntax.SglQuoted{Dollar: g.IntN(2) == 0, Value: one(g, []string{"$(./x.sh)", "./x.sh", `a\`, `\`, "a[$(./x.sh)]"})}
	case 2, 3:
		return &syntax.DblQuoted{Dollar: g.IntN(6) == 0, Parts: []syntax.WordPart{g.part()}}
	case 4, 5, 6:
		return g.expansion()
	case 7:
		return &syntax.CmdSubst{Stmts: g.stmts(1), Backquotes: g.IntN(3) == 0}
	case 8:
		return &syntax.ArithmExp{X: g.arithmetic(), Bracket: g.IntN(4) == 0}
	case 9:
		return &syntax.ProcSubst{Op: one(g, []syntax.ProcOperator{syntax.CmdIn, syntax.CmdOut}), Stmts: g.stmts(1)}
	case 10, 11, 12, 13, 14:
		return &syntax.Lit{Value: one(g, grownTexts)}
	}
	return &syntax.Lit{Value: one(g, plainTexts)}
}

func (g *grower) expansion() *syntax.ParamExp {
	p := &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: one(g, grownVars)}}
	if g.IntN(2) == 0 {
		p.Short = false
		p.Exp = &syntax.Expansion{Word: g.word(), Op: one(g, []syntax.ParExpOperator{
			syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.RemSmallPrefix, syntax.RemLargeSuffix, syntax.AssignUnset,
		})}
	}
	return p
}
