package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// The hook path is what runs in the process that an agent starts for a call.
const (
	hookPackage = "cmd/umpire-hook"
	hookStart   = "cmd/umpire-hook.main"
)

// A form is a type on the hook path that holds bytes or raw JSON, itself or in
// a field. These hold something else than the call.
var otherBytes = map[string]string{
	"internal/gitdir.indexed":    "git's index",
	"internal/strictjson.walker": "the state of a reader",
	"internal/lazyregexp.Regexp": "a pattern",
	"internal/relay.Output":      "the answer",
}

// A scan is a call on the hook path that takes JSON apart from end to end. Those
// whose function or call begins with one of these names read something else than the
// whole call, or do not run where all is well.
var otherScans = map[string]string{
	"internal/judge.":               "the snapshot",
	"(internal/judge.field).":       "the snapshot",
	"internal/manifest.":            "files of the project",
	"policy.raiseRisk":              "what an MCP server claims of its tool",
	"policy.readPaths":              "one member of the input",
	"policy.guessedCommand":         "one member of the input",
	"policy.textOf":                 "one member of the input",
	"policy.unreadPath":             "one member of the input",
	"(internal/strictjson.Object).": "one member",
	"internal/host.responseText":    "another event than a call",
	"(internal/host.Event).Digest":  "another event than a call",
	"internal/relay.refusalOf":      "an error of the gate",
	"internal/host.readMuseRules":   "rules of the agent",
	"(*internal/strictjson.walker).problem -> encoding/json.Unmarshal": "for the words of an error",
}

// scanners are the functions that take JSON apart from end to end.
var scanners = []string{
	"encoding/json.Valid", "encoding/json.Unmarshal", "(*encoding/json.Decoder).Decode", "encoding/json.Compact",
	"encoding/json.Indent", "(*internal/strictjson.walker).document", "(*internal/strictjson.walker).value",
}

// A measuredPath is what happens to the call on one way.
type measuredPath struct {
	forms  []string
	scans  []string        // one line for each call that scans
	passes int             // over the JSON, in all
	used   map[string]bool // the exceptions that excepted something
}

func (m *module) measurePath(r *reach) measuredPath {
	p := measuredPath{used: map[string]bool{}}
	for _, name := range m.forms(r) {
		if _, other := otherBytes[name]; other {
			p.used[name] = true
		} else {
			p.forms = append(p.forms, name)
		}
	}
	p.scans, p.passes = m.scans(r, p.used)
	return p
}

// scans lists the calls that scan, with how often each goes over its bytes. A function of
// internal/strictjson counts where it is called from outside, with all that it does.
func (m *module) scans(r *reach, used map[string]bool) (lines []string, total int) {
	for fn := range r.functions {
		if m.isStrictReader(fn) {
			continue
		}
		for _, called := range r.mentions(fn) {
			if n := m.passes(r, fn, called, used, 0); n > 0 {
				lines = append(lines, fmt.Sprintf("%d %s", n, m.edge(fn, called)))
				total += n
			}
		}
	}
	slices.Sort(lines)
	return lines, total
}

func (m *module) edge(from, to *types.Func) string {
	return m.short(from.FullName()) + " -> " + m.short(to.FullName())
}

func (m *module) isStrictReader(fn *types.Func) bool {
	return fn.Pkg() != nil && m.short(fn.Pkg().Path()) == "internal/strictjson"
}

// passes counts how often a call goes over its bytes.
func (m *module) passes(r *reach, from, called *types.Func, used map[string]bool, depth int) (n int) {
	label := m.edge(from, called)
	scans := slices.Contains(scanners, m.short(called.FullName()))
	if scans && sameReceiver(from, called) || !scans && !m.isStrictReader(called) || depth > 5 {
		return 0
	}
	for prefix := range otherScans {
		if strings.HasPrefix(label, prefix) {
			used[prefix] = true
			return 0
		}
	}
	if scans {
		return 1
	}
	for _, next := range r.mentions(called) {
		n += m.passes(r, called, next, used, depth+1)
	}
	return n
}

// sameReceiver reports whether both are methods of one type, as where a reader calls itself.
func sameReceiver(a, b *types.Func) bool {
	x, y := a.Signature().Recv(), b.Signature().Recv()
	return x != nil && y != nil && types.Identical(x.Type(), y.Type())
}

// mentions lists the functions that a function names, each once, in the order of the source.
func (r *reach) mentions(fn *types.Func) (out []*types.Func) {
	f := r.index[fn.Origin()]
	if f == nil {
		return nil
	}
	for n := range ast.Preorder(f.decl.Body) {
		if id, ok := n.(*ast.Ident); ok {
			if called, ok := f.pkg.info.Uses[id].(*types.Func); ok && !slices.Contains(out, called.Origin()) {
				out = append(out, called.Origin())
			}
		}
	}
	return out
}

// forms lists the module's types that variables on the path have and that hold bytes.
func (m *module) forms(r *reach) []string {
	found := map[string]bool{}
	for fn := range r.functions {
		f := r.index[fn]
		for n := range ast.Preorder(f.decl) {
			var t types.Type
			if id, ok := n.(*ast.Ident); ok && f.pkg.info.Defs[id] != nil {
				t = f.pkg.info.Defs[id].Type()
			} else if lit, ok := n.(*ast.CompositeLit); ok {
				t = f.pkg.info.TypeOf(lit)
			}
			if named := namedIn(t); named != nil && m.owns(named) && holdsBytes(named, map[types.Type]bool{}) {
				found[m.short(named.Origin().String())] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// owns reports whether a type is declared in the module.
func (m *module) owns(t *types.Named) bool {
	p := t.Obj().Pkg()
	return p != nil && (p.Path() == m.path || strings.HasPrefix(p.Path(), m.path+"/"))
}

// short leaves the path of the module out of a name.
func (m *module) short(name string) string {
	name = strings.ReplaceAll(name, m.path+"/", "")
	return strings.ReplaceAll(name, m.path, path.Base(m.path))
}

// namedIn is the defined type that a type points to or consists of.
func namedIn(t types.Type) *types.Named {
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		return u
	case *types.Pointer:
		return namedIn(u.Elem())
	case *types.Slice:
		return namedIn(u.Elem())
	case *types.Map:
		return namedIn(u.Elem())
	}
	return nil
}

// holdsBytes reports whether a value of the type has bytes in it, however deep.
func holdsBytes(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		return holdsBytes(u.Underlying(), seen)
	case *types.Pointer:
		return holdsBytes(u.Elem(), seen)
	case *types.Array:
		return holdsBytes(u.Elem(), seen)
	case *types.Map:
		return holdsBytes(u.Elem(), seen)
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Byte || holdsBytes(u.Elem(), seen)
	case *types.Struct:
		for field := range u.Fields() {
			if holdsBytes(field.Type(), seen) {
				return true
			}
		}
	}
	return false
}
