package main

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColumns is how wide a line may be; a tab counts as four.
const maxColumns = 120

func at(name string, line int) string { return name + ":" + strconv.Itoa(line) }

// A count is a name with a number, for lists.
type count struct {
	name string
	n    int
}

// ranked returns the counts, largest first.
func ranked(counts map[string]int) []count {
	var out []count
	for name, n := range counts {
		out = append(out, count{name, n})
	}
	slices.SortFunc(out, func(a, b count) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// lines counts the lines of the files that keep accepts.
func (m *module) lines(keep func(*file) bool) (n int) {
	for _, f := range m.files {
		if keep(f) && !f.generated {
			n += strings.Count(f.text, "\n")
		}
	}
	return n
}

// code reports a file that is neither a test nor generated.
func code(f *file) bool { return !f.test && !f.generated }

// in accepts the files of one folder that keep accepts, too.
func in(dir string, keep func(*file) bool) func(*file) bool {
	return func(f *file) bool { return f.dir == dir && keep(f) }
}

func test(f *file) bool { return f.test && !f.generated }

// columns measures a line.
func columns(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }

// Widths says how wide the lines of code are.
type widths struct {
	lines, comments, wide, longest int
	longestAt                      string
	perPackage, linesOf            map[string]int // wide lines and all lines of a package
}

func (m *module) measureWidths() widths {
	w := widths{perPackage: map[string]int{}, linesOf: map[string]int{}}
	for _, f := range m.files {
		if !code(f) {
			continue
		}
		w.comments += m.commentLines(f)
		for i, line := range strings.Split(strings.TrimSuffix(f.text, "\n"), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			w.lines++
			w.linesOf[f.dir]++
			n := columns(line)
			if n > w.longest {
				w.longest, w.longestAt = n, at(f.name, i+1)
			}
			if n > maxColumns {
				w.wide++
				w.perPackage[f.dir]++
			}
		}
	}
	return w
}

// commentLines counts the lines of a file that bear a comment.
func (m *module) commentLines(f *file) int {
	lines := map[int]bool{}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			for line := m.fset.Position(c.Pos()).Line; line <= m.fset.Position(c.End()).Line; line++ {
				lines[line] = true
			}
		}
	}
	return len(lines)
}

// functions calls see for each function and method in code files.
func (m *module) functions(see func(f *file, fn *ast.FuncDecl)) {
	for _, f := range m.files {
		if !code(f) {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				see(f, fn)
			}
		}
	}
}

// methods counts the methods of each type.
func (m *module) methods() map[string]int {
	n := map[string]int{}
	m.functions(func(f *file, fn *ast.FuncDecl) {
		if name := receiver(fn); name != "" {
			n[f.dir+"."+name]++
		}
	})
	return n
}

// receiver names the type that a method belongs to, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	expr := fn.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// Names says how functions and methods are named.
type names struct {
	all, oneWord int
	places       map[string]int // declarations of each name
	packages     map[string]int // packages that declare each private name
}

func (m *module) countNames() names {
	n := names{places: map[string]int{}, packages: map[string]int{}}
	seen := map[[2]string]bool{}
	m.functions(func(f *file, fn *ast.FuncDecl) {
		name := fn.Name.Name
		n.all++
		n.places[name]++
		if words(name) == 1 {
			n.oneWord++
		}
		if key := [2]string{f.dir, name}; !fn.Name.IsExported() && name != "init" && name != "main" && !seen[key] {
			seen[key] = true
			n.packages[name]++
		}
	})
	return n
}

// words counts the words of a camel-case name; a run of capitals is one.
func words(name string) int {
	n := 0
	var before rune
	for i, r := range name {
		if i == 0 || unicode.IsUpper(r) && !unicode.IsUpper(before) || r == '_' {
			n++
		} else if unicode.IsLower(r) && unicode.IsUpper(before) && i >= 2 && unicode.IsUpper(rune(name[i-2])) {
			n++ // the last capital of a run begins a word: HTTPServer
		}
		before = r
	}
	return n
}
