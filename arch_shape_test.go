package umpire_test

// Budgets that sizes do not show: the number of methods of a type, the width of lines, and the
// number of packages that declare functions of one name.

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
	maxPackages = 6   // packages that declare functions or methods of one private name
	maxWings    = 16  // folders in internal
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

// declaringPackages returns the packages that declare a function or method of each private name.
func declaringPackages(tree archTree) map[string][]string {
	packages := map[string][]string{}
	for _, fn := range declaredFuncs(tree) {
		if ast.IsExported(fn.name) || fn.name == "init" || fn.name == "main" {
			continue
		}
		if !slices.Contains(packages[fn.name], fn.dir) {
			packages[fn.name] = append(packages[fn.name], fn.dir)
		}
	}
	return packages
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

// wideLines returns the numbers of the lines that are wider than maxColumns.
func wideLines(text string) (wide []int) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > maxColumns {
			wide = append(wide, number)
		}
	}
	return wide
}

func checkMethods(tree archTree) (complaints []string) {
	methods := countMethods(tree)
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if methods[name] > maxMethods {
			complaints = append(complaints, fmt.Sprintf(
				"type %s has %d methods, the limit is %d", name, methods[name], maxMethods))
		}
	}
	return complaints
}

func checkWidths(tree archTree) (complaints []string) {
	for _, f := range tree.written() {
		for _, line := range f.wide {
			complaints = append(complaints, fmt.Sprintf("%s:%d is over %d columns", f.name, line, maxColumns))
		}
	}
	return complaints
}

func checkNames(tree archTree) (complaints []string) {
	packages := declaringPackages(tree)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if in := packages[name]; len(in) > maxPackages {
			complaints = append(complaints, fmt.Sprintf("%s is declared in %d packages, the limit is %d: %s",
				name, len(in), maxPackages, strings.Join(in, ", ")))
		}
	}
	return complaints
}

// checkWings keeps what ls internal shows short enough to learn.
func checkWings(tree archTree) (complaints []string) {
	wings := map[string]bool{}
	for _, f := range tree {
		if below, ok := strings.CutPrefix(f.dir, "internal/"); ok {
			wing, _, _ := strings.Cut(below, "/")
			wings[wing] = true
		}
	}
	if len(wings) > maxWings {
		complaints = append(complaints, fmt.Sprintf("internal has %d wings, the limit is %d: %s",
			len(wings), maxWings, strings.Join(slices.Sorted(maps.Keys(wings)), ", ")))
	}
	return complaints
}
