package shell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// An example is a comment above a row of the tables: "// safe: LINE" runs unasked, "// asks:
// LINE" does not.
type example struct {
	at   token.Position
	safe bool
	line string
	row  string // the names of the row below
}

// TestExamplesOfEntries checks every entry with the examples above it. An entry that accepts
// anything has one that runs unasked, and each has one that does not. A line counts for the
// program that it begins with.
func TestExamplesOfEntries(t *testing.T) {
	t.Parallel()
	safe, asks := map[string]bool{}, map[string]bool{}
	for _, e := range readExamples(t) {
		name, _, _ := strings.Cut(e.line, " ")
		if !containsAnyField(e.line, e.row) {
			t.Errorf("%s: %q does not name the row below: %q", e.at, e.line, e.row)
		}
		if p, _ := builtIn(name); p != nil {
			name = p.name()
		}
		switch {
		case e.safe && !runsUnasked(e.line):
			t.Errorf("%s: asks: %s: %+v", e.at, e.line, Parse(e.line, neverSafeEnv))
		case !e.safe && runsUnasked(e.line):
			t.Errorf("%s: runs unasked: %s", e.at, e.line)
		}
		safe[name], asks[name] = safe[name] || e.safe, asks[name] || !e.safe
	}
	for _, family := range families {
		for i := range *family {
			p := &(*family)[i]
			if scan.CheckedAgainst(p.name()) == scan.NothingAccepted {
				continue // TestEveryEntrySaysWhatItWasCheckedAgainst makes lines of these
			}
			if !asks[p.name()] {
				t.Errorf("%s has no example that asks", p.name())
			}
			if !safe[p.name()] && !p.risk.AtLeast(umpire.Medium) {
				t.Errorf("%s has no example that runs unasked", p.name())
			}
		}
	}
}

// readExamples reads the example comments of the tables.
func readExamples(t *testing.T) []example {
	t.Helper()
	paths, err := filepath.Glob("programs_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	fset := token.NewFileSet()
	for _, path := range paths {
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int]string{} // names by line
		ast.Inspect(file, func(n ast.Node) bool {
			if row, ok := n.(*ast.CompositeLit); ok {
				if line := fset.Position(row.Pos()).Line; rows[line] == "" {
					rows[line] = rowNames(row)
				}
			}
			return true
		})
		for _, group := range file.Comments {
			for _, comment := range group.List {
				line, safe := strings.CutPrefix(comment.Text, "// safe: ")
				line, asks := strings.CutPrefix(line, "// asks: ")
				if safe || asks {
					row := rows[fset.Position(group.End()).Line+1]
					all = append(all, example{at: fset.Position(comment.Pos()), safe: safe, line: line, row: row})
				}
			}
		}
	}
	return all
}

// rowNames returns the names of a row, or "" for any other literal.
func rowNames(row *ast.CompositeLit) string {
	for _, field := range row.Elts {
		if field, ok := field.(*ast.KeyValueExpr); ok && keyOf(field) == "names" {
			return constantText(field.Value)
		}
	}
	return ""
}

// constantText returns the value of a string or a sum of strings.
func constantText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return constantText(e.X) + constantText(e.Y)
	case *ast.Ident:
		if e.Obj == nil {
			return ""
		}
		if spec, ok := e.Obj.Decl.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			return constantText(spec.Values[0])
		}
	}
	return ""
}

// containsAnyField reports whether a line contains one of the names of a list.
func containsAnyField(line, names string) bool {
	for name := range strings.FieldsSeq(names) {
		if scan.HasField(line, name) {
			return true
		}
	}
	return false
}
