package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// A walk follows one value from function to function. The value is a parameter
// of the first function. Its parts are its fields, elements, slices, addresses
// and conversions, unless they are a single number, flag or text. A variable
// that is assigned the value or a part of it bears it, and so do a composite
// literal that it is put into and the result of a function that returns it.
// A call that hands it on leads into the function; a call of a method of an
// interface does not.
//
// A field that is read from a bearer bears the value if the value was put into
// that field; on a wide walk every field does. A field counts for all variables of
// its type, and does not make a bearer of the variable that it belongs to. So the
// rules and the sandbox of a submission, which are conditions from intake.go on,
// are not followed from there.
type walk struct {
	index   index
	visited map[string]bool
	results map[string][]bool // which results bear the value, per visit
	files   map[string]bool
	names   map[string]bool
	trail   []string              // the files that were entered, in order
	fields  map[types.Object]bool // that the value was put into
	wide    bool
}

// walkFrom follows the last parameter of a function.
func (m *module) walkFrom(index index, start *function, wide bool) *walk {
	w := &walk{
		index: index, wide: wide, visited: map[string]bool{}, results: map[string][]bool{},
		files: map[string]bool{}, names: map[string]bool{}, fields: map[types.Object]bool{},
	}
	parts := map[types.Object]bool{}
	of := start.object.Signature().Params()
	value := of.At(of.Len() - 1)
	parts[value] = true
	w.addOwn(value.Type())
	w.follow(start, parts, nil, "")
	return w
}

// returns counts the entries of files that had been entered before.
func (w *walk) returns() int { return len(w.trail) - len(w.files) }

func (w *walk) enter(file string) {
	w.trail = append(w.trail, file)
	w.files[file] = true
}

// A visit is one function with the parameters that bear the value.
type visit struct {
	walk  *walk
	at    *function
	parts map[types.Object]bool
	// functions are parameters and variables that stand for a known function.
	functions map[types.Object]*types.Func
	results   []bool
}

// follow visits a function, called from a file, and returns which of its results bear
// the value. It visits a function once for each set of parameters that bear it.
func (w *walk) follow(
	fn *function, parts map[types.Object]bool, functions map[types.Object]*types.Func, from string,
) []bool {
	bearers := []string{fn.object.FullName()}
	for _, v := range parameters(fn.object) {
		if parts[v] {
			bearers = append(bearers, v.Name())
			w.names[v.Name()] = true
		}
	}
	key := strings.Join(bearers, ",")
	if w.visited[key] {
		return w.results[key]
	}
	w.visited[key] = true
	if fn.file != from {
		w.enter(fn.file)
	}
	v := &visit{w, fn, maps.Clone(parts), functions, make([]bool, fn.object.Signature().Results().Len())}
	v.read(fn.decl.Body)
	w.results[key] = v.results
	return v.results
}

func parameters(fn *types.Func) []*types.Var {
	signature := fn.Signature()
	all := slices.Collect(signature.Params().Variables())
	if signature.Recv() != nil {
		all = append([]*types.Var{signature.Recv()}, all...)
	}
	return all
}

// read goes through statements in the order of the source.
func (v *visit) read(body ast.Node) {
	ast.Inspect(body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			v.assign(n.Lhs, n.Rhs)
			return false
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, name := range n.Names {
				names = append(names, name)
			}
			v.assign(names, n.Values)
			return false
		case *ast.RangeStmt:
			if v.bears(n.X) {
				v.mark(n.Key)
				v.mark(n.Value)
			}
			v.read(n.Body)
			return false
		case *ast.ReturnStmt:
			v.giveBack(n.Results)
			return false
		case *ast.CallExpr:
			v.call(n)
			return false
		}
		return true
	})
}

func (v *visit) giveBack(results []ast.Expr) {
	for i, bears := range v.values(results, len(v.results)) {
		v.results[i] = v.results[i] || bears
	}
}

// assign marks the variables that get the value.
func (v *visit) assign(to, from []ast.Expr) {
	for i, bears := range v.values(from, len(to)) {
		if bears {
			v.mark(to[i])
		}
	}
}

// values tells for each of n places whether it gets the value.
func (v *visit) values(from []ast.Expr, n int) []bool {
	out := make([]bool, n)
	if len(from) == 1 && n > 1 {
		if call, ok := ast.Unparen(from[0]).(*ast.CallExpr); ok {
			copy(out, v.call(call))
			return out
		}
		out[0] = v.bears(from[0])
		return out
	}
	for i := range min(n, len(from)) {
		out[i] = v.bears(from[i])
	}
	return out
}

// mark makes a variable a part, unless it is too simple to be one.
func (v *visit) mark(expr ast.Expr) {
	if e, ok := expr.(*ast.SelectorExpr); ok {
		if selection := v.at.pkg.info.Selections[e]; selection != nil && composite(selection.Type()) {
			v.walk.fields[selection.Obj()] = true
		}
		return
	}
	id, ok := expr.(*ast.Ident)
	if !ok {
		return
	}
	object := v.at.pkg.info.Defs[id]
	if object == nil {
		object = v.at.pkg.info.Uses[id]
	}
	if object != nil && composite(object.Type()) {
		v.parts[object] = true
	}
}

// composite reports a type that is more than one word, number or function.
func composite(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Signature, *types.Chan:
		return false
	case *types.Interface:
		return false
	case *types.Pointer:
		return composite(u.Elem())
	}
	return true
}

// bears reports whether an expression is the value, a part of it, or holds it;
// calls within are followed.
func (v *visit) bears(expr ast.Expr) bool {
	switch e := expr.(type) {
	case nil:
		return false
	case *ast.Ident:
		return v.parts[v.at.pkg.info.Uses[e]]
	case *ast.ParenExpr:
		return v.bears(e.X)
	case *ast.SelectorExpr:
		return v.bears(e.X) && v.isPart(e)
	case *ast.IndexExpr:
		bears := v.bears(e.X)
		v.bears(e.Index)
		return bears && composite(v.at.pkg.info.TypeOf(e))
	case *ast.SliceExpr:
		return v.bears(e.X)
	case *ast.StarExpr:
		return v.bears(e.X)
	case *ast.UnaryExpr:
		return v.bears(e.X) && e.Op == token.AND
	case *ast.TypeAssertExpr:
		return v.bears(e.X)
	case *ast.BinaryExpr:
		v.bears(e.X)
		v.bears(e.Y)
	case *ast.KeyValueExpr:
		return v.bears(e.Value)
	case *ast.CompositeLit:
		return v.literal(e)
	case *ast.FuncLit:
		v.readLiteral(e)
	case *ast.CallExpr:
		return slices.Contains(v.call(e), true)
	}
	return false
}

// isPart reports whether a field that is read from a bearer is a part of the value: all
// fields of the value itself are, and of what holds it those that it was put into.
func (v *visit) isPart(e *ast.SelectorExpr) bool {
	selection := v.at.pkg.info.Selections[e]
	if selection == nil || !composite(v.at.pkg.info.TypeOf(e)) {
		return false
	}
	field, ok := selection.Obj().(*types.Var)
	return ok && (v.walk.wide || v.walk.fields[field])
}

// literal reads a composite literal, and notes the fields that get the value.
func (v *visit) literal(lit *ast.CompositeLit) bool {
	bears := false
	t, _ := v.at.pkg.info.TypeOf(lit).Underlying().(*types.Struct)
	for i, element := range lit.Elts {
		if !v.bears(element) {
			continue
		}
		bears = true
		if t == nil {
			continue
		}
		v.walk.fields[v.fieldOf(t, i, element)] = true
	}
	return bears
}

// fieldOf is the field that an element of a struct literal sets.
func (v *visit) fieldOf(t *types.Struct, i int, element ast.Expr) types.Object {
	if pair, ok := element.(*ast.KeyValueExpr); ok {
		if name, ok := pair.Key.(*ast.Ident); ok {
			return v.at.pkg.info.Uses[name]
		}
	}
	return t.Field(i)
}

// addOwn notes the fields of a type, and theirs, as parts of the value.
func (w *walk) addOwn(t types.Type) {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		w.addOwn(u.Elem())
	case *types.Slice:
		w.addOwn(u.Elem())
	case *types.Map:
		w.addOwn(u.Elem())
	case *types.Named:
		s, ok := u.Underlying().(*types.Struct)
		if !ok || s.NumFields() == 0 || w.fields[s.Field(0)] {
			return
		}
		for field := range s.Fields() {
			w.fields[field] = true
			w.addOwn(field.Type())
		}
	}
}

// readLiteral reads a function within a function; its results are its own.
func (v *visit) readLiteral(lit *ast.FuncLit) {
	own := v.results
	v.results = make([]bool, lit.Type.Results.NumFields()+1)
	v.read(lit.Body)
	v.results = own
}

// call follows a call that hands on the value, and tells which results bear it.
func (v *visit) call(call *ast.CallExpr) []bool {
	info := v.at.pkg.info
	fun := ast.Unparen(call.Fun)
	if info.Types[fun].IsType() {
		return []bool{v.bears(call.Args[0]) && composite(info.TypeOf(call))}
	}
	args := make([]bool, len(call.Args))
	for i, arg := range call.Args {
		args[i] = v.bears(arg)
	}
	if lit, ok := fun.(*ast.FuncLit); ok {
		v.readLiteral(lit)
		return nil
	}
	if id, ok := fun.(*ast.Ident); ok && info.Types[fun].IsBuiltin() {
		return []bool{id.Name == "append" && slices.Contains(args, true)}
	}
	recv := false
	if sel, ok := fun.(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
		recv = v.bears(sel.X)
	}
	target := v.target(fun)
	if target == nil {
		return nil
	}
	fn := v.walk.index[target.Origin()]
	if fn == nil {
		return nil
	}
	return v.enter(fn, call, recv, args)
}

// enter goes on into the function that is called, if it gets the value.
func (v *visit) enter(fn *function, call *ast.CallExpr, recv bool, args []bool) []bool {
	signature := fn.object.Signature()
	parts, functions := map[types.Object]bool{}, map[types.Object]*types.Func{}
	values, bears := call.Args, args
	if signature.Recv() != nil && len(args) > signature.Params().Len() && !signature.Variadic() {
		// A method expression: the first argument is the receiver.
		recv, values, bears = args[0], values[1:], bears[1:]
	}
	if recv && signature.Recv() != nil {
		parts[signature.Recv()] = true
	}
	for i := range bears {
		if signature.Params().Len() == 0 {
			break
		}
		parameter := signature.Params().At(min(i, signature.Params().Len()-1))
		if bears[i] {
			parts[parameter] = true
		}
		if named := v.target(ast.Unparen(values[i])); named != nil {
			functions[parameter] = named
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return v.walk.follow(fn, parts, functions, v.at.file)
}

// target is the function that an expression names, nil for one that is only
// known when the program runs.
func (v *visit) target(expr ast.Expr) *types.Func {
	var object types.Object
	switch e := expr.(type) {
	case *ast.Ident:
		object = v.at.pkg.info.Uses[e]
	case *ast.SelectorExpr:
		object = v.at.pkg.info.Uses[e.Sel]
	case *ast.IndexExpr:
		return v.target(e.X)
	}
	if fn, ok := object.(*types.Func); ok {
		return fn
	}
	if object == nil {
		return nil
	}
	return v.functions[object]
}
