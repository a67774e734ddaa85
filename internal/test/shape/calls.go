package main

import (
	"go/ast"
	"go/types"
	"math"
	"path"
	"slices"
)

// A function is a function or method of the module that has a body.
type function struct {
	object *types.Func
	decl   *ast.FuncDecl
	pkg    *pkg
	file   string
}

// An index finds the declaration of each function.
type index map[*types.Func]*function

// find returns a function by its full name, without the module's path.
func (x index) find(m *module, name string) *function {
	for fn, declared := range x {
		if m.short(fn.FullName()) == name {
			return declared
		}
	}
	return nil
}

// indexFunctions finds the declaration of each function.
func (m *module) indexFunctions() index {
	index := index{}
	for _, p := range m.packages {
		for _, syntax := range p.syntax {
			name := m.fileOf(syntax.Pos())
			if m.byName[name].generated {
				continue
			}
			for _, decl := range syntax.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				if object, ok := p.info.Defs[fn.Name].(*types.Func); ok {
					index[object] = &function{object, fn, p, name}
				}
			}
		}
	}
	return index
}

// Arrows says how the files of one package call each other.
type arrows struct {
	all  int
	back []string
}

// fileArrows draws an arrow from each file of a package to every other file
// whose functions it mentions, and orders the files so that few arrows point
// backward.
func (m *module) fileArrows(index index, dir string) arrows {
	to := map[string]map[string]bool{}
	for _, p := range m.packages {
		if p.dir != dir {
			continue
		}
		for _, syntax := range p.syntax {
			from := m.fileOf(syntax.Pos())
			to[from] = map[string]bool{}
			for node := range ast.Preorder(syntax) {
				id, ok := node.(*ast.Ident)
				if !ok {
					continue
				}
				called, ok := p.info.Uses[id].(*types.Func)
				if !ok || index[called.Origin()] == nil || called.Pkg() != p.types {
					continue
				}
				if target := index[called.Origin()].file; target != from {
					to[from][target] = true
				}
			}
		}
	}
	return countBackward(to)
}

// countBackward orders the files greedily: a file that nothing left calls goes
// first, a file that calls nothing left goes last; where neither is to be had,
// the one that calls the most more than it is called goes first.
func countBackward(to map[string]map[string]bool) arrows {
	var names []string
	for name := range to {
		names = append(names, name)
	}
	slices.Sort(names)
	var first, last []string
	for len(names) > 0 {
		i, end := pickNext(names, to)
		if end {
			last = append(last, names[i])
		} else {
			first = append(first, names[i])
		}
		names = slices.Delete(names, i, i+1)
	}
	slices.Reverse(last)
	order := append(first, last...)
	a := arrows{}
	for i, from := range order {
		for j, target := range order {
			if !to[from][target] {
				continue
			}
			a.all++
			if j < i {
				a.back = append(a.back, path.Base(from)+" -> "+path.Base(target))
			}
		}
	}
	return a
}

// pickNext chooses one of the names that are left, and says which end it belongs to.
func pickNext(names []string, to map[string]map[string]bool) (best int, end bool) {
	bestScore := math.MinInt
	for i, name := range names {
		out, into := 0, 0
		for _, other := range names {
			if to[name][other] {
				out++
			}
			if to[other][name] {
				into++
			}
		}
		switch {
		case out == 0:
			return i, true
		case into == 0:
			return i, false
		case out-into > bestScore:
			best, bestScore = i, out-into
		}
	}
	return best, false
}
