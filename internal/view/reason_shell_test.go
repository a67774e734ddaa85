package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a command does is said in package shell: by fields of the tables, by variables, and
// by arguments of these methods.
var (
	saidIn = []string{"why", "doubt", "Reason", "Doubt", "problem"}
	saidBy = map[string]int{
		"raise": 1, "doubt": 1, "harm": 1, "network": 1, "visit": 2, "writesFile": 1, "runsCommand": 1, "builtin": 1,
		"describes": 0, "onlyShows": 0, "onlyReads": 0, "limit": 0, "fail": 0,
	}
)

// TestWhatCommandsDoIsTranslated reads the source of package shell for the reasons that
// it gives.
func TestWhatCommandsDoIsTranslated(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../shell/*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, constants, found := token.NewFileSet(), map[string]ast.Expr{}, map[string]token.Pos{}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		for node := range ast.Preorder(file) {
			if spec, is := node.(*ast.ValueSpec); is && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					constants[name.Name] = spec.Values[i]
				}
			}
		}
	}
	for _, file := range files {
		for node := range ast.Preorder(file) {
			for _, said := range reasonsOf(node) {
				if text, is := textOf(said, constants); is {
					found[text] = said.Pos()
				}
			}
		}
	}
	for text, at := range found {
		if _, known := chineseReasons().reason(nil, text); !known {
			t.Errorf("%s: %q has no translation in chinese/shell.tsv", fset.Position(at), text)
		}
	}
	if len(found) < 900 {
		t.Errorf("found only %d reasons", len(found))
	}
}

// reasonsOf are the expressions of a node that say what a command does.
func reasonsOf(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.KeyValueExpr:
		if key, is := node.Key.(*ast.Ident); is && slices.Contains(saidIn, key.Name) {
			return []ast.Expr{node.Value}
		}
	case *ast.AssignStmt:
		var said []ast.Expr
		for i, to := range node.Lhs {
			if field, is := to.(*ast.SelectorExpr); is && slices.Contains(saidIn, field.Sel.Name) && len(node.Rhs) == len(node.Lhs) {
				said = append(said, node.Rhs[i])
			}
		}
		return said
	case *ast.CallExpr:
		if method, is := node.Fun.(*ast.SelectorExpr); is {
			if at, says := saidBy[method.Sel.Name]; says && at < len(node.Args) {
				return []ast.Expr{node.Args[at]}
			}
		}
	}
	return nil
}

// textOf is the text of an expression that holds a literal, with an X in the place of
// everything else.
func textOf(said ast.Expr, constants map[string]ast.Expr) (text string, is bool) {
	switch said := said.(type) {
	case *ast.BasicLit:
		text, _ = strconv.Unquote(said.Value)
		return text, said.Kind == token.STRING && text != ""
	case *ast.Ident:
		if value := constants[said.Name]; value != nil {
			return textOf(value, nil)
		}
	case *ast.BinaryExpr:
		left, leftIs := textOf(said.X, constants)
		right, rightIs := textOf(said.Y, constants)
		return left + right, said.Op == token.ADD && (leftIs || rightIs)
	}
	return "X", false
}
