package main

import (
	"go/ast"
	"go/types"
	"slices"
)

// A reach is what a program may run: every function that is mentioned by one
// in reach, by a package variable in reach, or that implements a method of an
// interface called in reach.
type reach struct {
	module    *module
	index     index
	functions map[*types.Func]bool
	vars      map[*types.Var]bool
	values    map[*types.Var]initial
	methods   map[string][]*types.Func // of the module's types, by name
}

// An initial is the expression a package variable starts with.
type initial struct {
	expr ast.Expr
	pkg  *pkg
}

// reachFrom finds what the given functions reach within the packages that the
// packages in dirs link.
func (m *module) reachFrom(index index, dirs, starts []string) *reach {
	r := &reach{
		module: m, index: index, functions: map[*types.Func]bool{}, vars: map[*types.Var]bool{},
		values: map[*types.Var]initial{}, methods: map[string][]*types.Func{},
	}
	linked := m.linkedBy(dirs)
	for _, p := range m.packages {
		if linked[p.path] {
			r.readVars(p)
		}
	}
	for fn, f := range index {
		if linked[f.pkg.path] && fn.Signature().Recv() != nil {
			r.methods[fn.Name()] = append(r.methods[fn.Name()], fn)
		}
	}
	for fn := range index {
		if slices.Contains(starts, m.short(fn.FullName())) {
			r.addFunction(fn)
		}
	}
	return r
}

// linkedBy returns the packages that those in dirs link, themselves included.
func (m *module) linkedBy(dirs []string) map[string]bool {
	linked := map[string]bool{}
	for _, p := range slices.Backward(m.packages) { // a package stands behind those it imports
		if slices.Contains(dirs, p.dir) {
			linked[p.path] = true
		}
		if linked[p.path] {
			for _, imported := range p.imports {
				linked[imported] = true
			}
		}
	}
	return linked
}

func (r *reach) readVars(p *pkg) {
	for _, syntax := range p.syntax {
		for _, decl := range syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					r.readSpec(p, value)
				}
			}
		}
	}
}

func (r *reach) readSpec(p *pkg, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if v, ok := p.info.Defs[name].(*types.Var); ok && len(spec.Values) > 0 {
			r.values[v] = initial{spec.Values[min(i, len(spec.Values)-1)], p}
		}
	}
}

func (r *reach) addFunction(fn *types.Func) {
	fn = fn.Origin()
	if r.functions[fn] {
		return
	}
	if f := r.index[fn]; f != nil {
		r.functions[fn] = true
		r.read(f.pkg, f.decl.Body)
		return
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if face, ok := recv.Type().Underlying().(*types.Interface); ok {
			r.addImplementations(fn.Name(), face)
		}
	}
}

func (r *reach) addImplementations(name string, face *types.Interface) {
	for _, fn := range r.methods[name] {
		if types.Implements(fn.Signature().Recv().Type(), face) {
			r.addFunction(fn)
		}
	}
}

// read adds what a piece of code mentions.
func (r *reach) read(p *pkg, node ast.Node) {
	for n := range ast.Preorder(node) {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		switch object := p.info.Uses[id].(type) {
		case *types.Func:
			r.addFunction(object)
		case *types.Var:
			if value, ok := r.values[object]; ok && !r.vars[object] {
				r.vars[object] = true
				r.read(value.pkg, value.expr)
			}
		}
	}
}
