package umpire_test

// The budgets for what sizes do not show: how many methods a type has, how wide
// lines are, and how many packages declare functions of one name. make shape lists the
// places.

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxMethods  = 40
	maxColumns  = 120 // a tab counts as four
	maxPackages = 6   // that declare functions or methods of one private name
)

func countMethods(tree archTree) map[string]int {
	methods := map[string]int{}
	for _, fn := range declaredFuncs(tree) {
		if fn.receiver != "" {
			methods[fn.dir+"."+fn.receiver]++
		}
	}
	return methods
}

func countWideLines(tree archTree) map[string]int {
	wide := map[string]int{}
	for _, f := range tree.written() {
		if f.wide > 0 {
			wide[f.dir] += f.wide
		}
	}
	return wide
}

func countNames(tree archTree) map[string]int {
	packages := map[string]map[string]bool{}
	for _, fn := range declaredFuncs(tree) {
		if ast.IsExported(fn.name) || fn.name == "init" || fn.name == "main" {
			continue
		}
		if packages[fn.name] == nil {
			packages[fn.name] = map[string]bool{}
		}
		packages[fn.name][fn.dir] = true
	}
	names := map[string]int{}
	for name, dirs := range packages {
		names[name] = len(dirs)
	}
	return names
}

// A declaredFunc is a function, or a method of receiver.
type declaredFunc struct{ dir, receiver, name string }

func declaredFuncs(tree archTree) (all []declaredFunc) {
	for _, f := range tree.written() {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			receiver := ""
			if fn.Recv != nil {
				for node := range ast.Preorder(fn.Recv.List[0].Type) {
					if name, ok := node.(*ast.Ident); ok {
						receiver = name.Name
						break
					}
				}
			}
			all = append(all, declaredFunc{f.dir, receiver, fn.Name.Name})
		}
	}
	return all
}

// countWide counts the lines of a text that are over maxColumns.
func countWide(text string) (wide int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > maxColumns {
			wide++
		}
	}
	return wide
}

func checkMethods(tree archTree) []string {
	return overLimit(countMethods(tree), maxMethods, "type %s has %d methods, the limit is %d")
}

func checkWidths(tree archTree) []string {
	return overLimit(countWideLines(tree), 0, "package %s has %d lines over 120 columns, the limit is %d")
}

func checkNames(tree archTree) []string {
	return overLimit(countNames(tree), maxPackages, "functions %s are declared in %d packages, the limit is %d")
}

// overLimit complains about each figure over the limit.
func overLimit(figures map[string]int, limit int, format string) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		if figures[name] > limit {
			complaints = append(complaints, fmt.Sprintf(format, name, figures[name], limit))
		}
	}
	return complaints
}
