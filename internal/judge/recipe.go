package judge

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/shell"
)

// findRecipe returns the commands that a program runs for a name from the project. An unreadable folder
// or file gives an unread recipe.
func findRecipe(g *place.Bounds, dir, program, name string) shell.Recipe {
	dir, err := files.Canonical(dir)
	if err != nil {
		return shell.Recipe{File: "?", Unread: err.Error()}
	}
	r := readRecipe(g, dir, program, name)
	if r.Unread != "" && len(r.Lines) == 0 {
		data, _ := readCode(g, cmp.Or(r.Dir, dir), r.File) // an unreadable file gives no recipes
		r.Text = string(data)
	}
	return r
}

func readRecipe(g *place.Bounds, dir, program, name string) shell.Recipe {
	switch program {
	case "npm":
		return packageRecipe(g, dir, name)
	case "make":
		return makeRecipe(g, dir, name)
	case "just":
		return justRecipe(g, dir, name)
	case "task", "go-task":
		return taskRecipe(g, dir, program, name)
	case "poe", "pdm", "hatch":
		return pyprojectRecipe(g, dir, program, name)
	}
	return shell.Recipe{}
}

// packageRecipe reads a script of the package that contains a folder: that of the nearest folder
// with a package.json or installed packages.
func packageRecipe(g *place.Bounds, dir, name string) shell.Recipe {
	for !files.Exists(dir, "package.json") {
		above := filepath.Dir(dir)
		if above == dir || files.Exists(dir, "node_modules") {
			return shell.Recipe{}
		}
		dir = above
	}
	data, err := readCode(g, dir, "package.json")
	if err != nil {
		return shell.Recipe{File: "package.json", Name: name, Unread: err.Error()}
	}
	r := packageScript(data, name)
	if r.Dir = dir; r.File != "" && r.Unread == "" {
		r.Unread = otherShell(g, dir)
	}
	return r
}

// shellSettings are a project's files in which package managers look for the program that runs
// their scripts.
var shellSettings = []string{".npmrc", "pnpm-workspace.yaml", ".yarnrc", "bunfig.toml"}

// otherShell names the setting that may choose another program than the shell for the scripts of a
// package. It returns "" if there is no such setting.
func otherShell(g *place.Bounds, dir string) string {
	for _, name := range shellSettings {
		if file := findManifest(g, dir, name); file != "" && saysAny(file, []string{"shell"}) {
			return name + " may choose the program that runs scripts"
		}
	}
	return ""
}

// packageScript finds a script of a package.json, with those that run before and after it.
func packageScript(data []byte, name string) shell.Recipe {
	r := shell.Recipe{File: "package.json", Name: "scripts." + name, Main: -1}
	// A map keeps names that differ in case apart, as npm does; the fields of a struct would not.
	var fields map[string]json.RawMessage
	var scripts map[string]string
	err := json.Unmarshal(data, &fields)
	if err == nil && fields["scripts"] != nil {
		err = json.Unmarshal(fields["scripts"], &scripts)
	}
	if err != nil {
		r.Unread = err.Error()
		return r
	}
	main, ok := scripts[name]
	if !ok {
		return shell.Recipe{}
	}
	for _, script := range []string{"pre" + name, name, "post" + name} {
		line, ok := scripts[script]
		if !ok {
			continue
		}
		if script == name {
			r.Main, line = len(r.Lines), main
		}
		r.Lines = append(r.Lines, line)
	}
	return r
}

// makefiles are the names that make looks for, in its order.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// makeRecipe reads a target of the makefile of a folder.
func makeRecipe(g *place.Bounds, dir, target string) shell.Recipe {
	names, err := listEntries(dir)
	if err != nil {
		return shell.Recipe{File: "Makefile", Unread: err.Error()}
	}
	file := ""
	for _, name := range makefiles {
		if file == "" && files.Exists(dir, name) {
			file = name
		}
	}
	if file == "" {
		return shell.Recipe{}
	}
	r := shell.Recipe{File: file, Name: target, Dir: dir, Main: -1}
	for _, name := range names {
		if isRemade(name, file) {
			r.Unread = "make may make the makefile anew from " + shownName(name)
			return r
		}
	}
	data, err := readCode(g, dir, file)
	if err != nil {
		r.Unread = err.Error()
		return r
	}
	made, err := parseMakefile(string(data))
	if err == nil {
		r.Lines, err = made.recipe(target)
	}
	if err != nil {
		r.Unread = err.Error()
		return r
	}
	if r.Name == "" {
		r.Name = made.first
	}
	for name := range made.vars {
		r.Vars = append(r.Vars, name)
	}
	return r
}

// isRemade reports whether make builds a makefile from this file by built-in rules.
func isRemade(name, makefile string) bool {
	lower, makefile := strings.ToLower(name), strings.ToLower(makefile)
	return strings.HasPrefix(lower, makefile+".") || strings.HasPrefix(lower, makefile+",") ||
		lower == "s."+makefile || lower == "rcs" || lower == "sccs"
}
