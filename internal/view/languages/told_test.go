package languages

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A tell is a parameter whose text becomes part of an error, named by folder and function.
type tell struct {
	dir, function string
	at            int
}

// TestErrorsTakeNoEnglish reads the sources for English texts in the arguments of errors, where no language can
// translate them: words for a format, and texts that a function gets for its errors.
func TestErrorsTakeNoEnglish(t *testing.T) {
	t.Parallel()
	tells, files := map[tell]bool{}, readSource(t)
	for before := -1; before < len(tells); {
		before = len(tells)
		for file, source := range files {
			findTells(path.Dir(file), source, tells)
		}
	}
	if len(tells) < 20 {
		t.Errorf("only %d parameters are told", len(tells))
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if apart.MatchString(file) || path.Dir(file) == "internal/gate/batch" { // whose refusals are faults of the program
			continue
		}
		for node := range ast.Preorder(files[file]) {
			call, is := node.(*ast.CallExpr)
			if !is {
				continue
			}
			for i, arg := range call.Args {
				if !told(path.Dir(file), call, i, tells) {
					continue
				}
				if said := words(arg); said != "" {
					t.Errorf("%s: %s is told %q in English", file, nameOf(call.Fun), said)
				}
			}
		}
	}
}

// told reports whether an argument of a call becomes part of an error.
func told(dir string, call *ast.CallExpr, at int, tells map[tell]bool) bool {
	name := nameOf(call.Fun)
	if from, is := call.Fun.(*ast.SelectorExpr); is && name == "Errorf" && fmt.Sprint(from.X) == "umpire" {
		return at > 0
	}
	return tells[tell{dir, name, at}]
}

// findTells finds the parameters of a file's functions that are told.
func findTells(dir string, file *ast.File, tells map[tell]bool) {
	for _, declared := range file.Decls {
		f, is := declared.(*ast.FuncDecl)
		if !is || f.Body == nil {
			continue
		}
		params, at := map[string]int{}, 0
		for _, field := range f.Type.Params.List {
			for _, name := range field.Names {
				if fmt.Sprint(field.Type) == "string" {
					params[name.Name] = at
				}
				at++
			}
		}
		for node := range ast.Preorder(f.Body) {
			call, is := node.(*ast.CallExpr)
			if !is {
				continue
			}
			for i, arg := range call.Args {
				if name, is := arg.(*ast.Ident); is && told(dir, call, i, tells) {
					if at, is := params[name.Name]; is {
						tells[tell{dir, f.Name.Name, at}] = true
					}
				}
			}
		}
	}
}

// names matches names of fields, which are not translated.
var names = regexp.MustCompile(`^[a-z_]+(, [a-z_]+)*$`)

// words returns the English text that an argument adds to an error, or "" if it adds no text.
func words(arg ast.Expr) string {
	switch arg := arg.(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		if text, is := constant(arg); is && strings.Contains(text, " ") && hasLetters(text) && !names.MatchString(text) {
			return text
		}
		if sum, is := arg.(*ast.BinaryExpr); is {
			if said := words(sum.X); said != "" {
				return said
			}
			return words(sum.Y)
		}
	case *ast.CallExpr:
		if name := nameOf(arg.Fun); name == "Sprintf" && len(arg.Args) > 0 {
			if text, is := constant(arg.Args[0]); is && strings.Contains(text, " ") && hasLetters(text) {
				return text
			}
		}
		if from, is := arg.Fun.(*ast.SelectorExpr); is && fmt.Sprint(from.X) == "&{catalogue English}" {
			return "a text of catalogue.English"
		}
	}
	return ""
}
