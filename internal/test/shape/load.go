package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// A file is one Go source file of the module, for any platform.
type file struct {
	name, dir string // with slashes, below the root of the module
	text      string
	syntax    *ast.File
	test      bool // its name ends in _test.go
	generated bool
}

// harnesses are the folders that only tests import.
var harnesses = []string{"internal/store/storetest", "internal/llm/llmtest", "internal/mcp/mcptest", "internal/test"}

// harness reports whether the file only serves tests.
func (f *file) harness() bool {
	for _, dir := range harnesses {
		if f.dir == dir || strings.HasPrefix(f.dir, dir+"/") {
			return true
		}
	}
	return false
}

// A module is the source of one Go module. The files are complete; the
// packages have types, and only the files of this platform without tests.
type module struct {
	root     string
	path     string
	fset     *token.FileSet
	files    []*file
	packages []*pkg
	// byName finds a file by its name below the root.
	byName map[string]*file
}

// A pkg is one package with types.
type pkg struct {
	path    string // import path
	dir     string // below the root, "." for the root
	imports []string
	syntax  []*ast.File
	types   *types.Package
	info    *types.Info
}

// loadModule reads and type-checks the module at root.
func loadModule(root string) (*module, error) {
	m := &module{root: root, fset: token.NewFileSet(), byName: map[string]*file{}}
	if err := fs.WalkDir(os.DirFS(root), ".", m.readEntry); err != nil {
		return nil, err
	}
	return m, m.checkTypes()
}

// readEntry parses one file, and leaves out the folders that Go ignores.
func (m *module) readEntry(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	base := path.Base(name)
	if entry.IsDir() {
		if base == "testdata" || base == "vendor" || base != "." && strings.ContainsAny(base[:1], "._") {
			return fs.SkipDir
		}
		return nil
	}
	if path.Ext(name) != ".go" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(m.root, name))
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(m.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &file{
		name: name, dir: path.Dir(name), text: string(text), syntax: syntax,
		test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(syntax),
	}
	m.files = append(m.files, f)
	m.byName[name] = f
	return nil
}

// A listedPackage is what the go command says of a package.
type listedPackage struct {
	ImportPath string   `json:"ImportPath"`
	Dir        string   `json:"Dir"`
	Export     string   `json:"Export"`
	GoFiles    []string `json:"GoFiles"`
	Imports    []string `json:"Imports"`
	Module     *struct {
		Path string `json:"Path"`
		Main bool   `json:"Main"`
	} `json:"Module"`
}

// checkTypes asks the go command for all packages, dependencies first. Its own
// are checked from source, so that a function is one object wherever it is
// used; others come from their export data.
func (m *module) checkTypes() error {
	//nolint:noctx // the build bounds it
	cmd := exec.Command("go", "list", "-buildvcs=false", // a repository above a tree is none of its business
		"-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Imports,Module", "./...")
	cmd.Dir, cmd.Stderr = m.root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	own := map[string]*types.Package{}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	compiled := importer.ForCompiler(m.fset, "gc", open)
	find := importFunc(func(path string) (*types.Package, error) {
		if p := own[path]; p != nil {
			return p, nil
		}
		return compiled.Import(path)
	})
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listedPackage
		if err := dec.Decode(&l); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if l.Module == nil || !l.Module.Main {
			exports[l.ImportPath] = l.Export
			continue
		}
		m.path = l.Module.Path
		p, err := m.checkPackage(&l, find)
		if err != nil {
			return err
		}
		own[l.ImportPath] = p.types
		m.packages = append(m.packages, p)
	}
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

func (m *module) checkPackage(l *listedPackage, imp types.Importer) (*pkg, error) {
	root, err := filepath.Abs(m.root)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Rel(root, l.Dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{path: l.ImportPath, dir: filepath.ToSlash(dir), imports: l.Imports, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
	}}
	for _, name := range l.GoFiles {
		p.syntax = append(p.syntax, m.byName[path.Join(p.dir, name)].syntax)
	}
	config := types.Config{Importer: imp}
	p.types, err = config.Check(l.ImportPath, m.fset, p.syntax, p.info)
	return p, err
}

// fileOf returns the name of the file that a position lies in.
func (m *module) fileOf(pos token.Pos) string { return m.fset.Position(pos).Filename }
