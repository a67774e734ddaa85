package shell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// TestTablesCopyNothingAtStart: a table that copies the value of a variable is filled at every
// start of the program, because the compiler lays out only constants, functions and addresses.
// Tables refer to shared options by address.
func TestTablesCopyNothingAtStart(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files, fields := token.NewFileSet(), 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if _, function := decl.(*ast.FuncDecl); function {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				field, ok := n.(*ast.KeyValueExpr)
				if !ok || !scan.HasField("opts subs also more", keyOf(field)) {
					return true
				}
				fields++
				list, ok := field.Value.(*ast.CompositeLit)
				if !ok {
					t.Errorf("%s: takes over a variable", files.Position(field.Pos()))
					return false
				}
				for _, elem := range list.Elts {
					if _, variable := elem.(*ast.Ident); variable {
						t.Errorf("%s: takes over a variable", files.Position(elem.Pos()))
					}
				}
				return true
			})
		}
	}
	if fields == 0 {
		t.Error("no table was looked at")
	}
}

// keyOf returns the name of a field of a literal, or a text that is on no list.
func keyOf(field *ast.KeyValueExpr) string {
	if name, ok := field.Key.(*ast.Ident); ok {
		return name.Name
	}
	return "?"
}
