package umpire_test

// This file defines the shape of the code: which package may import which, which packages a
// pure package may not use, and how large things may grow. Each rule is a function from a
// parsed tree to complaints, so tests can also run it against small bad trees that it must
// complain about.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/umpirehq/umpire"

// A layer is one line of the table: packages that may import from the lines above but not from
// each other. A package whose name ends in "/..." includes every folder below it.
type layer struct {
	kind     string // pure, world, core, edge, top or test
	packages string
}

// layers is the table, including packages that do not exist yet.
var layers = []layer{
	{"pure", "."},
	{"pure", "internal/config/docedit internal/config/strictjson"},
	{"pure", "internal/rulefile/wildcard"},
	{"pure", "internal/secret/sensitive"},
	{"pure", "internal/files/lazyregexp"},
	{"pure", "internal/console/webcrypto"},
	{"pure", "shell/internal/scan"},
	{"pure", "shell"},
	{"pure", "policy"},
	{"pure", "internal/rulefile/prove"},
	{"pure", "internal/gate/batch internal/gate/history internal/gate/task"},
	{"pure", "internal/view/catalogue"},
	{"pure", "internal/view/languages"},
	{"world", "internal/files"},
	{"world", "internal/files/gitdir"},
	{"world", "place"},
	{"world", "internal/project"},
	{"world", "internal/hold/process"},
	{"world", "internal/host/relay"},
	{"world", "internal/host/jsonrpc"},
	{"world", "internal/rulefile"},
	{"world", "internal/hold/egress"},
	{"world", "internal/config"},
	{"world", "internal/gate/userhook"},
	{"world", "internal/hold/sandbox"},
	{"world", "internal/hold/trial"},
	{"world", "internal/agent/llm"},
	{"world", "internal/secret"},
	{"world", "internal/store"},
	{"world", "internal/store/sqlite internal/store/postgres internal/store/storetest"},
	{"world", "internal/api/..."},
	{"core", "internal/judge"},
	{"core", "internal/gate"},
	{"edge", "internal/view"},
	{"edge", "internal/view/fold"},
	{"edge", "internal/console/notice"},
	{"edge", "internal/host"},
	{"edge", "internal/host/setup"},
	{"edge", "internal/host/drive"},
	{"edge", "internal/server internal/agent/tui internal/agent/tool"},
	{"edge", "internal/host/editor internal/console"},
	{"edge", "internal/agent/mcp"},
	{"edge", "internal/agent"},
	{"top", "internal/cli/app"},
	{"top", "internal/cli/hosts internal/cli/rules internal/cli/run"},
	{"top", "internal/cli"},
	{"top", "cmd/umpire-hook/early"},
	{"top", "cmd/umpire cmd/umpire-hook"},
	{"test", "internal/agent/fake internal/files/sample"},
}

// lab is the folder of a second module, which tries umpire out and which users never build. The
// budgets apply to it, and the table of layers does not.
const lab = "lab"

func inLab(dir string) bool { return dir == lab || strings.HasPrefix(dir, lab+"/") }

// public are the packages with an API that other modules may rely on.
var public = []string{".", "shell", "policy", "place"}

// The budgets. Most files and functions (95 of 100) have a tighter budget than the rest. Tests
// and generated code have no budget.
const (
	maxFileLines     = 800
	crowdFileLines   = 600
	maxFuncLines     = 120
	crowdFuncLines   = 60
	maxPackageLines  = 6000
	crowdPercent     = 95
	decisionTypeName = "Decision"
	verdictTypeName  = "Verdict"
)

// packageLimits replace maxPackageLines for some packages, each for its stated reason.
var packageLimits = map[string]int{
	// The one editor of other people's files. A fourth format, or a second way to edit one, belongs elsewhere.
	"internal/config/docedit": 1_430,
	"shell":                   24_000, // the engine, and twice as much in programs_*.go: tables, one family per file
	// Intake, outcome and transaction of every verb, sessions with their calls, tickets, trials
	// and keeping their effects, and the records of trials outside any session.
	"internal/gate": 8_529,
	// Each row of the order of decision, the rule language, and the tables of guarded places,
	// secrets and standing answers.
	"policy": 7_815,
	// One way to confine a command for each system, with its helper, the observer, and sandboxes started in advance; what
	// it sees of homes and temporary folders.
	"internal/hold/sandbox": 7_150,
	// Layers and their effects, and the transaction shared by keeping, undoing and recording:
	// files, links, moved folders, and changes that cannot be restored; what git recorded; what trials share that run at
	// the same time.
	"internal/hold/trial": 8_325,
}

// bannedImports keep a pure package from touching the world. A path ending in a slash bans
// everything below it.
var bannedImports = []string{
	"os", "os/", "net", "net/", "io/ioutil", "log", "log/", "syscall", "crypto/rand", "golang.org/x/sys/",
	"path/filepath", // follows the host's conventions; package path does not
}

// pureParsers lie below a banned path but only parse text.
var pureParsers = []string{"net/netip", "net/url"}

// bannedNames are the functions through which a pure package would learn the time or get random
// numbers. The random packages allow only functions that create a generator from a seed.
var bannedNames = map[string]func(name string) bool{
	"time": func(name string) bool {
		return slices.Contains([]string{
			"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer",
		}, name)
	},
	"math/rand":    seedless,
	"math/rand/v2": seedless,
}

func seedless(name string) bool {
	return !slices.Contains([]string{
		"New", "NewSource", "NewZipf", "NewPCG", "NewChaCha8", "Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8",
	}, name)
}

// nowhere are package names that do not describe the package's content.
var nowhere = []string{"util", "utils", "common", "types", "helper", "helpers", "misc", "base", "shared"}

// laterWords mark unfinished work. They are split in halves to make this file keep its own
// rule.
var laterWords = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// archRules are all rules, by the name that a failing test shows.
var archRules = map[string]func(archTree) []string{
	"imports come from lines above":         checkLayers,
	"nothing imports the lab":               checkLab,
	"pure packages do not touch the world":  checkPure,
	"the root imports the standard library": checkRoot,
	"one Decision and one Verdict":          checkVocabulary,
	"one Gate":                              checkGate,
	"package names say what is inside":      checkPackageNames,
	"files are short":                       checkFileSizes,
	"functions are short":                   checkFuncSizes,
	"packages are small":                    checkPackageSizes,
	"types have few methods":                checkMethods,
	"lines are narrow":                      checkWidths,
	"names are told apart":                  checkNames,
	"internal has few wings":                checkWings,
	"exported signatures are our own":       checkSignatures,
	"exported names have comments":          checkComments,
	"no work is put off in comments":        checkLaterWords,
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	tree, err := parseTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) == 0 {
		t.Fatal("found no Go files")
	}
	for name, check := range archRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, complaint := range check(tree) {
				t.Error(complaint)
			}
		})
	}
}

// An archFile is one parsed file. The folder of the root package is ".".
type archFile struct {
	dir, name string
	fset      *token.FileSet
	syntax    *ast.File
	lines     int
	wide      []int // lines over maxColumns
	test      bool
	generated bool
}

// An archTree holds every Go file of the module, for every platform.
type archTree []archFile

func parseTree(fsys fs.FS) (archTree, error) {
	var tree archTree
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && ignoredByGo(name) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		file, err := parseFile(fsys, name)
		tree = append(tree, file)
		return err
	})
	return tree, err
}

// ignoredByGo reports whether the go command ignores a folder.
func ignoredByGo(dir string) bool {
	base := path.Base(dir)
	return base == "testdata" || base == "vendor" || base != "." && strings.ContainsAny(base[:1], "._")
}

func parseFile(fsys fs.FS, name string) (archFile, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return archFile{}, err
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return archFile{}, err
	}
	named := strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, "connect.go") || strings.HasSuffix(name, "_generated.go")
	return archFile{
		dir: path.Dir(name), name: name, fset: fset, syntax: syntax,
		lines: strings.Count(string(text), "\n"),
		wide:  wideLines(string(text)),
		test:  strings.HasSuffix(name, "_test.go"),
		// The name alone would exempt a hand-written connect.go.
		generated: named && ast.IsGenerated(syntax),
	}, nil
}

// written returns the files to which budgets and vocabulary apply.
func (tree archTree) written() archTree {
	return slices.DeleteFunc(slices.Clone(tree), func(f archFile) bool { return f.test || f.generated })
}

// in returns the files of the given folders.
func (tree archTree) in(dirs ...string) archTree {
	return slices.DeleteFunc(slices.Clone(tree), func(f archFile) bool { return !slices.Contains(dirs, f.dir) })
}

// at formats a position as file:line.
func (f *archFile) at(node ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.fset.Position(node.Pos()).Line)
}

// imports returns the import specs with their paths.
func (f *archFile) imports() map[*ast.ImportSpec]string {
	specs := make(map[*ast.ImportSpec]string)
	for _, spec := range f.syntax.Imports {
		specs[spec], _ = strconv.Unquote(spec.Path.Value)
	}
	return specs
}

// localNames maps the file's local name of each import to its path.
func (f *archFile) localNames() map[string]string {
	names := make(map[string]string)
	for spec, imported := range f.imports() {
		names[localName(spec, imported)] = imported
	}
	return names
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// localName guesses the package name from the path by convention, because the syntax does not
// tell more.
func localName(spec *ast.ImportSpec, imported string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(imported)
	if majorVersion.MatchString(base) && path.Dir(imported) != "." {
		base = path.Base(path.Dir(imported))
	}
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}

// thirdParty reports whether a path is outside this module and the standard library, whose
// paths have no dot before the first slash.
func thirdParty(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") && !ours(imported)
}

func ours(imported string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}

// row returns the index of the layer that contains a folder, or -1.
func row(dir string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(strings.Fields(l.packages), func(pkg string) bool {
			below, tree := strings.CutSuffix(pkg, "/...")
			return dir == pkg || tree && (dir == below || strings.HasPrefix(dir, below+"/"))
		})
	})
}

func isPure(dir string) bool { return row(dir) >= 0 && layers[row(dir)].kind == "pure" }

// checkLayers ignores the imports of tests: they may touch the world, and the compiler rejects
// their cycles. Their folder must still be known.
func checkLayers(tree archTree) (complaints []string) {
	for _, f := range tree {
		if inLab(f.dir) {
			continue
		}
		from := row(f.dir)
		if from < 0 {
			complaints = append(complaints, fmt.Sprintf("%s: package %s is not in the table of layers", f.name, f.dir))
			continue
		}
		for spec, imported := range f.imports() {
			if f.test || !ours(imported) {
				continue
			}
			dir := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), ".")
			// Generated packages of one layer may need each other.
			if to := row(dir); to < 0 || to > from || to == from && !f.generated {
				complaints = append(complaints, fmt.Sprintf("%s: %s may not import %s, which does not stand above it", f.at(spec), f.dir, dir))
			}
		}
	}
	return complaints
}

// checkLab includes the imports of tests: they would make umpire depend on everything that the lab
// requires.
func checkLab(tree archTree) (complaints []string) {
	for _, f := range tree {
		for spec, imported := range f.imports() {
			if dir := strings.TrimPrefix(imported, module+"/"); !inLab(f.dir) && inLab(dir) {
				complaints = append(complaints, fmt.Sprintf("%s: %s may not import %s", f.at(spec), f.dir, dir))
			}
		}
	}
	return complaints
}

func checkPure(tree archTree) (complaints []string) {
	for _, f := range tree.written() {
		if !isPure(f.dir) {
			continue
		}
		for spec, imported := range f.imports() {
			if banned(imported) {
				complaints = append(complaints, fmt.Sprintf("%s: pure package %s may not import %s", f.at(spec), f.dir, imported))
			}
			if bannedNames[imported] != nil && spec.Name != nil && spec.Name.Name == "." {
				complaints = append(complaints, fmt.Sprintf("%s: %s is imported without a name, which hides its use", f.at(spec), imported))
			}
		}
		complaints = append(complaints, impureUses(f)...)
	}
	return complaints
}

func banned(imported string) bool {
	return !slices.Contains(pureParsers, imported) && slices.ContainsFunc(bannedImports, func(ban string) bool {
		return imported == ban || strings.HasSuffix(ban, "/") && strings.HasPrefix(imported, ban)
	})
}

// impureUses finds mentions, not only calls, because passing time.Now along has the same
// effect.
func impureUses(f archFile) (complaints []string) {
	names := f.localNames()
	for node := range ast.Preorder(f.syntax) {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		pkg, ok := selector.X.(*ast.Ident)
		if !ok {
			continue
		}
		if ban := bannedNames[names[pkg.Name]]; ban != nil && ban(selector.Sel.Name) {
			complaints = append(complaints, fmt.Sprintf("%s: pure package %s may not use %s.%s",
				f.at(selector), f.dir, names[pkg.Name], selector.Sel.Name))
		}
	}
	return complaints
}

func checkRoot(tree archTree) (complaints []string) {
	for _, f := range tree.written().in(".") {
		for spec, imported := range f.imports() {
			if thirdParty(imported) {
				complaints = append(complaints, fmt.Sprintf("%s: the root may not import %s", f.at(spec), imported))
			}
		}
	}
	return complaints
}

// checkVocabulary counts every type, even local and unexported ones, whose name contains one of
// the two words: a twin with another spelling is still a twin.
func checkVocabulary(tree archTree) (complaints []string) {
	for _, word := range []string{decisionTypeName, verdictTypeName} {
		found := 0
		for _, f := range tree.written() {
			for node := range ast.Preorder(f.syntax) {
				spec, ok := node.(*ast.TypeSpec)
				if !ok || !strings.Contains(strings.ToLower(spec.Name.Name), strings.ToLower(word)) {
					continue
				}
				if f.dir == "." && spec.Name.Name == word {
					found++
					continue
				}
				complaints = append(complaints, fmt.Sprintf("%s: type %s is a twin of umpire.%s", f.at(spec), spec.Name.Name, word))
			}
		}
		if found != 1 {
			complaints = append(complaints, fmt.Sprintf("the root declares %d types named %s, want 1", found, word))
		}
	}
	return complaints
}

// checkGate rejects a second gate interface: one named Gate, or one that repeats several methods of
// the gate, or of a part that the gate returns. Code that needs a part of the gate names the part.
func checkGate(tree archTree) (complaints []string) {
	interfaces := map[string]*ast.InterfaceType{}
	for _, f := range tree.written().in(".") {
		for _, spec := range interfacesOf(f) {
			interfaces[spec.Name.Name], _ = spec.Type.(*ast.InterfaceType)
		}
	}
	parts := partsOf("Gate", interfaces)
	for _, f := range tree.written() {
		for _, spec := range interfacesOf(f) {
			if f.dir == "." {
				continue
			}
			methods := methodsOf(spec.Type.(*ast.InterfaceType))
			twin := slices.ContainsFunc(parts, func(part []string) bool {
				foreign := func(name string) bool { return !slices.Contains(part, name) }
				return len(slices.DeleteFunc(slices.Clone(methods), foreign)) > 1
			})
			if strings.EqualFold(spec.Name.Name, "Gate") || twin {
				complaints = append(complaints, fmt.Sprintf("%s: interface %s is a twin of umpire.Gate", f.at(spec), spec.Name.Name))
			}
		}
	}
	return complaints
}

// partsOf returns the methods of an interface with those that it embeds, and the same of the
// interfaces that its methods return.
func partsOf(name string, interfaces map[string]*ast.InterfaceType) (parts [][]string) {
	if interfaces[name] == nil {
		return nil
	}
	own := methodsOf(interfaces[name])
	for _, m := range interfaces[name].Methods.List {
		switch t := m.Type.(type) {
		case *ast.Ident:
			embedded := partsOf(t.Name, interfaces)
			own = slices.Concat(own, slices.Concat(embedded...))
		case *ast.FuncType:
			if t.Results == nil {
				continue
			}
			if part, ok := t.Results.List[0].Type.(*ast.Ident); ok {
				parts = append(parts, partsOf(part.Name, interfaces)...)
			}
		}
	}
	return append(parts, own)
}

// interfacesOf returns the interfaces that a file declares.
func interfacesOf(f archFile) (specs []*ast.TypeSpec) {
	for node := range ast.Preorder(f.syntax) {
		if spec, ok := node.(*ast.TypeSpec); ok {
			if _, is := spec.Type.(*ast.InterfaceType); is {
				specs = append(specs, spec)
			}
		}
	}
	return specs
}

// methodsOf returns the names of the methods that an interface declares directly.
func methodsOf(t *ast.InterfaceType) (names []string) {
	for _, method := range t.Methods.List {
		for _, name := range method.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

func checkPackageNames(tree archTree) (complaints []string) {
	for _, f := range tree {
		for _, name := range []string{path.Base(f.dir), strings.TrimSuffix(f.syntax.Name.Name, "_test")} {
			if slices.Contains(nowhere, name) || strings.HasSuffix(name, "util") {
				complaints = append(complaints, fmt.Sprintf("%s: package name %s says nothing about what is inside", f.name, name))
			}
		}
	}
	return complaints
}

// A sized is a named thing with a length in lines.
type sized struct {
	name  string
	lines int
}

// overBudget complains about each thing over the limit, and about the largest ones if more than
// the allowed share exceeds the crowd's limit.
func overBudget(things []sized, limit, crowd int) (complaints []string) {
	var large []string
	for _, thing := range things {
		if thing.lines > limit {
			complaints = append(complaints, fmt.Sprintf("%s has %d lines, the limit is %d", thing.name, thing.lines, limit))
		}
		if thing.lines > crowd {
			large = append(large, fmt.Sprintf("%s (%d)", thing.name, thing.lines))
		}
	}
	if len(large)*100 > len(things)*(100-crowdPercent) {
		complaints = append(complaints, fmt.Sprintf("%d of %d are over %d lines, only %d %% may be: %s",
			len(large), len(things), crowd, 100-crowdPercent, strings.Join(large, ", ")))
	}
	return complaints
}

func checkFileSizes(tree archTree) []string {
	var files []sized
	for _, f := range tree.written() {
		files = append(files, sized{f.name, f.lines})
	}
	return overBudget(files, maxFileLines, crowdFileLines)
}

// checkFuncSizes counts declared functions, and function literals outside them. It ignores
// tables, which are data and may be long.
func checkFuncSizes(tree archTree) []string {
	var funcs []sized
	for _, f := range tree.written() {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			var name string
			switch fn := node.(type) {
			case *ast.FuncDecl:
				name = fn.Name.Name
			case *ast.FuncLit:
				name = "func literal"
			default:
				return true
			}
			// A function's comment is not part of its length.
			start := node.Pos()
			if decl, ok := node.(*ast.FuncDecl); ok {
				start = decl.Type.Pos()
			}
			lines := f.fset.Position(node.End()).Line - f.fset.Position(start).Line + 1
			funcs = append(funcs, sized{f.at(node) + " " + name, lines})
			return false
		})
	}
	return overBudget(funcs, maxFuncLines, crowdFuncLines)
}

func checkPackageSizes(tree archTree) (complaints []string) {
	lines := make(map[string]int)
	for _, f := range tree.written() {
		lines[f.dir] += f.lines
	}
	for dir, n := range lines {
		if limit := cmp.Or(packageLimits[dir], maxPackageLines); n > limit {
			complaints = append(complaints, fmt.Sprintf("package %s has %d lines, the limit is %d", dir, n, limit))
		}
	}
	return complaints
}

// checkSignatures keeps types of other modules out of the public API, so a dependency can be
// replaced without breaking callers.
func checkSignatures(tree archTree) (complaints []string) {
	for _, f := range tree.written().in(public...) {
		names := f.localNames()
		for node := range exportedNodes(f.syntax) {
			ast.Inspect(node, func(n ast.Node) bool {
				if _, body := n.(*ast.BlockStmt); body {
					return false
				}
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if pkg, ok := selector.X.(*ast.Ident); ok && thirdParty(names[pkg.Name]) {
					complaints = append(complaints, fmt.Sprintf("%s: exported signature shows %s.%s",
						f.at(selector), names[pkg.Name], selector.Sel.Name))
				}
				return true
			})
		}
	}
	return complaints
}

// exportedNodes yields the parts of declarations that callers can see: the types of exported
// functions, methods, fields, variables and types.
func exportedNodes(file *ast.File) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		for _, decl := range file.Decls {
			for _, node := range visible(decl) {
				if !yield(node) {
					return
				}
			}
		}
	}
}

func visible(decl ast.Decl) (nodes []ast.Node) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Name.IsExported() && exportedReceiver(decl) {
			nodes = append(nodes, decl.Type)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			nodes = append(nodes, visibleSpec(spec)...)
		}
	}
	return nodes
}

func visibleSpec(spec ast.Spec) (nodes []ast.Node) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		// The type of an exported variable may appear only in its value.
		if slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
			nodes = append(nodes, spec)
		}
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return nil
		}
		if spec.TypeParams != nil {
			nodes = append(nodes, spec.TypeParams)
		}
		fields, isStruct := spec.Type.(*ast.StructType)
		if !isStruct {
			return append(nodes, spec.Type)
		}
		for _, field := range fields.Fields.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
				nodes = append(nodes, field.Type)
			}
		}
	}
	return nodes
}

// exportedReceiver reports whether a function is not a method of an unexported type.
func exportedReceiver(decl *ast.FuncDecl) bool {
	if decl.Recv == nil {
		return true
	}
	for node := range ast.Preorder(decl.Recv.List[0].Type) {
		if name, ok := node.(*ast.Ident); ok {
			return name.IsExported()
		}
	}
	return false
}

func checkComments(tree archTree) (complaints []string) {
	introduced := make(map[string]bool)
	for _, f := range tree.written().in(public...) {
		introduced[f.dir] = introduced[f.dir] || f.syntax.Doc != nil
		for _, decl := range f.syntax.Decls {
			for _, name := range uncommented(decl) {
				complaints = append(complaints, fmt.Sprintf("%s: exported %s has no comment", f.at(name), name.Name))
			}
		}
	}
	for dir, ok := range introduced {
		if !ok {
			complaints = append(complaints, fmt.Sprintf("package %s has no package comment", dir))
		}
	}
	return complaints
}

// uncommented returns the exported names of a declaration that have no comment. A group of
// constants or variables may share one comment; a group of types may not.
func uncommented(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Name.IsExported() && exportedReceiver(decl) && decl.Doc == nil {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && spec.Doc == nil && (decl.Doc == nil || decl.Lparen.IsValid()) {
					names = append(names, spec.Name)
				}
			case *ast.ValueSpec:
				if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					names = append(names, slices.DeleteFunc(slices.Clone(spec.Names), func(n *ast.Ident) bool { return !n.IsExported() })...)
				}
			}
		}
	}
	return names
}

// checkLaterWords reads only comments, because a command line in a test may contain such a
// word.
func checkLaterWords(tree archTree) (complaints []string) {
	for _, f := range tree {
		if f.generated {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				if word := laterWords.FindString(comment.Text); word != "" {
					complaints = append(complaints, fmt.Sprintf("%s: comment holds %s; do it or say why not", f.at(comment), word))
				}
			}
		}
	}
	return complaints
}

// goodTree is the smallest tree that satisfies every rule.
var goodTree = map[string]string{
	"umpire.go": `// Package umpire is small.
package umpire

// A Verdict is one word.
type Verdict int

// A Decision has one.
type Decision struct{ Verdict Verdict }
`,
	"shell/shell.go": "// Package shell reads.\npackage shell\n\nimport _ \"github.com/umpirehq/umpire\"\n",
}

// manyWings returns a tree with n folders in internal.
func manyWings(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("w%02d", i)
		files["internal/"+name+"/a.go"] = "// Package " + name + " is.\npackage " + name
	}
	return files
}

// badTrees are changes to goodTree that each break one rule.
var badTrees = []struct {
	rule, name string
	files      map[string]string
	want       string
}{
	{"imports come from lines above", "upward", map[string]string{"shell/a.go": `package shell; import _ "` + module + `/policy"`}, "shell may not import policy"},
	{"imports come from lines above", "sideways", map[string]string{"internal/agent/tui/a.go": `package tui; import _ "` + module + `/internal/agent/mcp"`}, "may not import internal/agent/mcp"},
	{"imports come from lines above", "root imports a package", map[string]string{"a.go": `package umpire; import _ "` + module + `/shell"`}, ". may not import shell"},
	{"imports come from lines above", "imports the top", map[string]string{"internal/agent/fake/a.go": `package fake; import _ "` + module + `/nowhere"`}, "may not import nowhere"},
	{"imports come from lines above", "unknown package", map[string]string{"internal/extra/a.go": `package extra`}, "internal/extra is not in the table"},
	{"imports come from lines above", "unknown test package", map[string]string{"extra/a_test.go": `package extra`}, "extra is not in the table"},
	{"imports come from lines above", "other platform", map[string]string{"shell/a_windows.go": `package shell; import _ "` + module + `/internal/gate"`}, "may not import internal/gate"},
	{"nothing imports the lab", "package", map[string]string{"internal/gate/a.go": `package gate; import _ "` + module + `/lab/crash"`}, "internal/gate may not import lab/crash"},
	{"nothing imports the lab", "test", map[string]string{"internal/gate/a_test.go": `package gate; import _ "` + module + `/lab"`}, "internal/gate may not import lab"},
	{"pure packages do not touch the world", "os", map[string]string{"policy/a.go": `package policy; import _ "os"`}, "may not import os"},
	{"pure packages do not touch the world", "os/exec", map[string]string{"shell/a.go": `package shell; import _ "os/exec"`}, "may not import os/exec"},
	{"pure packages do not touch the world", "net/http", map[string]string{"internal/gate/batch/a.go": `package batch; import _ "net/http"`}, "may not import net/http"},
	{"pure packages do not touch the world", "filepath", map[string]string{"shell/a.go": `package shell; import _ "path/filepath"`}, "may not import path/filepath"},
	{"pure packages do not touch the world", "log/slog", map[string]string{"shell/a.go": `package shell; import _ "log/slog"`}, "may not import log/slog"},
	{"pure packages do not touch the world", "time.Now", map[string]string{"a.go": "package umpire\nimport \"time\"\nvar _ = time.Now()"}, "may not use time.Now"},
	{"pure packages do not touch the world", "time.Since renamed, passed along", map[string]string{"a.go": "package umpire\nimport t \"time\"\nvar _ = t.Since"}, "may not use time.Since"},
	{"pure packages do not touch the world", "time without a name", map[string]string{"a.go": "package umpire\nimport . \"time\"\nvar _ = Now()"}, "without a name"},
	{"pure packages do not touch the world", "global dice", map[string]string{"a.go": "package umpire\nimport \"math/rand/v2\"\nvar _ = rand.IntN(6)"}, "may not use math/rand/v2.IntN"},
	{"the root imports the standard library", "third party", map[string]string{"a.go": `package umpire; import _ "mvdan.cc/sh/v3/syntax"`}, "may not import mvdan.cc/sh/v3/syntax"},
	{"one Decision and one Verdict", "twin", map[string]string{"internal/gate/a.go": `package gate; type HookDecision struct{}`}, "HookDecision is a twin"},
	{"one Decision and one Verdict", "local twin", map[string]string{"policy/a.go": "package policy\nfunc f() { type verdictJSON struct{} }"}, "verdictJSON is a twin"},
	{"one Decision and one Verdict", "gone", map[string]string{"umpire.go": "package umpire\ntype Verdict int"}, "declares 0 types named Decision"},
	{"one Gate", "twin", map[string]string{"internal/server/a.go": `package server; type Gate interface{ M() }`}, "interface Gate is a twin"},
	{"one Gate", "twin by another name", map[string]string{
		"a.go": `package umpire; type Gate interface { Runner }; type Runner interface { Start(); Finish() }`, "internal/server/a.go": `package server; type calls interface { Start(); Finish() }`,
	}, "interface calls is a twin"},
	{"package names say what is inside", "folder", map[string]string{"internal/util/a.go": `package paths`}, "util says nothing"},
	{"package names say what is inside", "clause", map[string]string{"internal/gate/a_test.go": `package helpers_test`}, "helpers says nothing"},
	{"package names say what is inside", "suffix", map[string]string{"internal/pathutil/a.go": `package pathutil`}, "pathutil says nothing"},
	{"files are short", "huge", map[string]string{"a.go": "package umpire" + strings.Repeat("\n", maxFileLines+1)}, "the limit is 800"},
	{"files are short", "too many large", map[string]string{"a.go": "package umpire" + strings.Repeat("\n", crowdFileLines+1)}, "1 of 3 are over 600"},
	{"files are short", "generated by name only", map[string]string{"internal/api/connect.go": "package api" + strings.Repeat("\n", maxFileLines+1)}, "the limit is 800"},
	{"functions are short", "huge", map[string]string{"a.go": "package umpire\nfunc f() {" + strings.Repeat("\n", maxFuncLines) + "}"}, "f has 121 lines"},
	{"functions are short", "too many large", map[string]string{"a.go": "package umpire\nfunc f() {" + strings.Repeat("\n", crowdFuncLines) + "}"}, "1 of 1 are over 60"},
	{"functions are short", "in a table", map[string]string{"a.go": "package umpire\nvar _ = []any{func() {" + strings.Repeat("\n", maxFuncLines) + "}}"}, "func literal has 121 lines"},
	{"packages are small", "huge", map[string]string{"a.go": "package umpire" + strings.Repeat("\n", maxPackageLines+1)}, "package . has"},
	{"packages are small", "over its own limit", map[string]string{"internal/config/docedit/a.go": "package docedit" + strings.Repeat("\n", packageLimits["internal/config/docedit"]+1)}, "package internal/config/docedit has"},
	{"types have few methods", "too many", map[string]string{"a.go": "package umpire\n" + strings.Repeat("func (*T[P]) M() {}\n", maxMethods+1)}, "type ..T has 41 methods"},
	{"lines are narrow", "tabs", map[string]string{"a.go": "package umpire\n" + strings.Repeat("\t", 30) + "// x"},
		"a.go:2 is over 120 columns"},
	{"names are told apart", "seven", map[string]string{
		"policy/a.go": "package policy\nfunc nab() {}", "place/a.go": "package place\nfunc nab() {}", "shell/a.go": "package shell\nfunc (T) nab() {}",
		"internal/agent/tui/a.go": "package tui\nfunc nab() {}", "internal/agent/mcp/a.go": "package mcp\nfunc nab() {}", "internal/agent/llm/a.go": "package llm\nfunc nab() {}",
		"internal/gate/a.go": "package gate\nfunc nab() {}",
	}, "nab is declared in 7 packages, the limit is 6: internal/agent/llm, internal/agent/mcp"},
	{"internal has few wings", "seventeen", manyWings(maxWings + 1), "internal has 17 wings, the limit is 16: w00, w01"},
	{"exported signatures are our own", "result", map[string]string{"shell/a.go": "package shell\nimport \"mvdan.cc/sh/v3/syntax\"\nfunc Parse() *syntax.File { return nil }"}, "shows mvdan.cc/sh/v3/syntax.File"},
	{"exported signatures are our own", "field", map[string]string{"shell/a.go": "package shell\nimport \"go.yaml.in/yaml/v3\"\ntype T struct{ N []yaml.Node }"}, "shows go.yaml.in/yaml/v3.Node"},
	{"exported signatures are our own", "method", map[string]string{"policy/a.go": "package policy\nimport y \"go.yaml.in/yaml/v3\"\nfunc (*T[P]) Node(y.Node) {}"}, "shows go.yaml.in/yaml/v3.Node"},
	{"exported signatures are our own", "interface", map[string]string{"policy/a.go": "package policy\nimport \"github.com/x/go-thing\"\ntype I interface{ M(thing.A) }"}, "shows github.com/x/go-thing.A"},
	{"exported signatures are our own", "variable", map[string]string{"policy/a.go": "package policy\nimport \"github.com/x/thing\"\nvar V = thing.New()"}, "shows github.com/x/thing.New"},
	{"exported names have comments", "function", map[string]string{"a.go": "package umpire\nfunc F() {}"}, "exported F has no comment"},
	{"exported names have comments", "method", map[string]string{"a.go": "package umpire\nfunc (v *Verdict) M() {}"}, "exported M has no comment"},
	{"exported names have comments", "type in a group", map[string]string{"a.go": "package umpire\n// All.\ntype (\nT int\n)"}, "exported T has no comment"},
	{"exported names have comments", "constant", map[string]string{"a.go": "package umpire\nconst a, B = 1, 2"}, "exported B has no comment"},
	{"exported names have comments", "package", map[string]string{"policy/a.go": "package policy"}, "policy has no package comment"},
	{"no work is put off in comments", "comment", map[string]string{"a_test.go": "package umpire\n// TO" + "DO: later"}, "comment holds"},
	{"no work is put off in comments", "inside", map[string]string{"a.go": "package umpire\nfunc f() { /* a HA" + "CK */ }"}, "comment holds"},
}

// fineTrees are changes to goodTree that a rule might wrongly complain about.
var fineTrees = []struct {
	name  string
	files map[string]string
}{
	{"downward import", map[string]string{"policy/a.go": "// Package policy is.\npackage policy\nimport _ \"" + module + "/shell\""}},
	{"world package reads the world", map[string]string{"internal/project/a.go": "package project\nimport \"os\"\nimport \"time\"\nvar _ = os.Args\nvar _ = time.Now"}},
	{"test of a pure package reads the world", map[string]string{"shell/a_test.go": "package shell\nimport _ \"os\"\nimport _ \"" + module + "/policy\""}},
	{"seeded dice", map[string]string{"a.go": "package umpire\nimport \"math/rand/v2\"\nvar _ = rand.New(rand.NewPCG(1, 2))"}},
	{"the lab imports what it tries out", map[string]string{"lab/crash/a_test.go": "package crash\nimport _ \"" + module + "/internal/server\"\nimport _ \"" + module + "/lab/bench\""}},
	{"long table", map[string]string{"a.go": "package umpire\nvar t = []int{" + strings.Repeat("\n1,", 300) + "}"}},
	{"generated code", map[string]string{"internal/api/umpire/v1/gate.pb.go": "// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage umpirev1\ntype CheckVerdict int" + strings.Repeat("\n", maxPackageLines+1)}},
	{"third party inside", map[string]string{"shell/a.go": "package shell\nimport \"mvdan.cc/sh/v3/syntax\"\n// F is.\nfunc F() { _ = syntax.NewParser() }\n// T is.\ntype T struct{ file *syntax.File }\nfunc (t) M(*syntax.File) {}\ntype t int"}},
	{"late words in strings", map[string]string{"a.go": "package umpire\nvar s = \"grep -r TO" + "DO .\" // mktemp /tmp/a.XXXXXX"}},
	{"folders that go ignores", map[string]string{"shell/testdata/a.go": "package util", ".cache/a.go": "package util"}},
}

func TestArchitectureRulesCanFail(t *testing.T) {
	t.Parallel()
	covered := make(map[string]bool)
	for _, bad := range badTrees {
		covered[bad.rule] = true
		t.Run(bad.rule+"/"+bad.name, func(t *testing.T) {
			t.Parallel()
			complaints := archRules[bad.rule](changed(t, bad.files))
			if !strings.Contains(strings.Join(complaints, "\n"), bad.want) {
				t.Errorf("complaints = %q, want one with %q", complaints, bad.want)
			}
		})
	}
	for name := range archRules {
		if !covered[name] {
			t.Errorf("no bad tree shows that %q can fail", name)
		}
	}
}

func TestArchitectureRulesCanPass(t *testing.T) {
	t.Parallel()
	for _, fine := range fineTrees {
		t.Run(fine.name, func(t *testing.T) {
			t.Parallel()
			tree := changed(t, fine.files)
			for name, check := range archRules {
				if complaints := check(tree); len(complaints) > 0 {
					t.Errorf("%s: %q", name, complaints)
				}
			}
		})
	}
}

// changed parses goodTree with files added or replaced.
func changed(t *testing.T, files map[string]string) archTree {
	t.Helper()
	fsys := make(fstest.MapFS)
	for _, source := range []map[string]string{goodTree, files} {
		for name, text := range source {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	tree, err := parseTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// riskLine says, in each section of the changelog, which decisions changed.
const riskLine = "**Risk:** "

// unreleased is the folder of entries for the changelog's next section.
const unreleased = "changelog/unreleased"

func TestChangelogTellsRisk(t *testing.T) {
	t.Parallel()
	text := readText(t, "CHANGELOG.md")
	if silent := silentSections(text); len(silent) > 0 {
		t.Errorf("N-80 sections without a line that begins with %q: %q", riskLine, silent)
	}
	if !strings.Contains(text, "\n    "+riskLine) {
		t.Error("N-80 the template for a new section has no line for risk")
	}
	if next := readText(t, unreleased+"/risk.md"); !strings.HasPrefix(next, riskLine) {
		t.Errorf("N-80 the next section begins with %q", next)
	}
	if silent := silentSections("# C\n\n## 2\n\ntext\n\n## 1\n\n" + riskLine + "none\n"); !slices.Equal(silent, []string{"2"}) {
		t.Errorf("silent sections = %q, want the one that says nothing", silent)
	}
}

// silentSections returns the titles of sections without a line about risk.
func silentSections(text string) (titles []string) {
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		if !strings.HasPrefix(strings.TrimSpace(body), riskLine) {
			titles = append(titles, title)
		}
	}
	return titles
}
