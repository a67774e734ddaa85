package judge

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/place"
)

func TestMakefile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, target string
		want         []string // nil: it cannot be told
	}{
		"a recipe":             {"test:\n\tgo test ./...\n", "test", []string{"go test ./..."}},
		"the default":          {"# all of it\nall: lint test\n.PHONY: all\nlint:\n\tgo vet ./...\ntest:\n\t@go test ./...\n", "", []string{"go vet ./...", "go test ./..."}},
		"variables":            {"GO := go\nPKG = ./...\ntest:\n\t$(GO) test ${PKG} # $@\n", "test", []string{"go test ./... # test"}},
		"of the shell":         {"test:\n\tfor f in a; do echo $$f; done\n", "test", []string{"for f in a; do echo $f; done"}},
		"a long line":          {"test:\n\tgo test \\\n\t  ./...\n", "test", []string{"go test \\\n  ./..."}},
		"make within":          {"all:\n\t-$(MAKE) test\n", "all", []string{"make test"}},
		"two targets":          {"a b: c\n\techo $@\nc:\n\techo c\n", "b", []string{"echo c", "echo b"}},
		"none":                 {"test:\n\tx\n", "other", nil},
		"a function":           {"A := $(shell evil)\ntest:\n\tx\n", "test", nil},
		"a function in a line": {"test:\n\techo $(shell evil)\n", "test", nil},
		"a nested name":        {"a = b\ntest:\n\t$($(a))\n", "test", nil},
		"not known":            {"test:\n\t$(X) a\n", "test", nil},
		"one letter":           {"X = evil\ntest:\n\t$X a\n", "test", nil},
		"set by the caller":    {"X ?= a\ntest:\n\t$(X)\n", "test", nil},
		"added to":             {"X += a\ntest:\n\tx\n", "test", nil},
		"another shell":        {"SHELL = ./evil\ntest:\n\tx\n", "test", nil},
		"its flags":            {".SHELLFLAGS = -c evil\ntest:\n\tx\n", "test", nil},
		"exported":             {"export PATH := ./evil\ntest:\n\tx\n", "test", nil},
		"an include":           {"include other.mk\ntest:\n\tx\n", "test", nil},
		"a quiet include":      {"-include other.mk\ntest:\n\tx\n", "test", nil},
		"a condition":          {"ifdef X\ntest:\n\tevil\nelse\ntest:\n\tx\nendif\n", "test", nil},
		"a variable of it":     {"test: X = a\ntest:\n\tx\n", "test", nil},
		"twice":                {"test:\n\tx\ntest:\n\ty\n", "test", nil},
		"two colons":           {"test::\n\tx\n", "test", nil},
		"a pattern":            {"%:\n\tevil\ntest:\n\tx\n", "test", nil},
		"on the line":          {"test: ; evil\n", "test", nil},
		"a built-in rule":      {"test: a.o\n\tx\n", "test", nil},
		"no recipe":            {"test:\n", "test", nil},
		"the makefile itself":  {"Makefile:\n\tevil\ntest:\n\tx\n", "test", nil},
		"a special target":     {".ONESHELL:\ntest:\n\tx\n", "test", nil},
		"a hidden comment":     {"A = a \\# b\ntest:\n\tx $(A)\n", "test", nil},
		"a comment goes on":    {"# a \\\ntest:\n\tx\n", "test", nil},
		"a circle":             {"A = $(B)$(B)\nB = $(A)$(A)\ntest:\n\t$(A)\n", "test", nil},
		"a carriage return":    {"test:\r\n\tx\r\n", "test", nil},
		"spaces":               {"test:\n        x\n", "test", nil},
		"a define":             {"define X\nevil\nendef\ntest:\n\tx\n", "test", nil},
		"a loop of targets":    {".PHONY: a b\na: b\n\tx\nb: a\n\ty\n", "a", []string{"y", "x"}},
	} {
		m, err := parseMakefile(tt.text)
		var got []string
		if err == nil {
			got, err = m.recipe(tt.target)
		}
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v, %v", name, got, err)
		} else if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestRecipe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	g := &place.Bounds{Root: root}
	write(t, root, "package.json", `{"scripts": {"lint": "eslint .", "prelint": "echo a", "postlint": "echo b", "x": 1}}`)
	write(t, root, "a/package.json", `{"scripts": {"test": "jest", "pretest": "x"}}`)
	write(t, root, "a/b/file", "")
	write(t, root, "c/node_modules/file", "")
	write(t, root, "Makefile", "test:\n\tgo test ./...\n")
	write(t, root, "d/Makefile", "test:\n\tx\n")
	write(t, root, "d/Makefile.sh", "test:\n\tevil\n")
	if r := findRecipe(g, filepath.Join(root, "a", "b"), "npm", "test"); r.Dir != filepath.Join(root, "a") || strings.Join(r.Lines, "|") != "x|jest" || r.Main != 1 || r.Unread != "" {
		t.Errorf("%+v", r)
	}
	if r := findRecipe(g, root, "npm", "lint"); r.Unread == "" {
		t.Errorf("a script that is not a text: %+v", r)
	}
	write(t, root, "e/package.json", `{"scripts": {"lint": "evil", "LINT": "x"}, "Scripts": {"lint": "eslint ."}}`)
	if r := findRecipe(g, filepath.Join(root, "e"), "npm", "lint"); strings.Join(r.Lines, "|") != "evil" {
		t.Errorf("names that differ by case: %+v", r)
	}
	for _, none := range []string{"a", "c"} {
		if r := findRecipe(g, filepath.Join(root, none), "npm", "lint"); r.File != "" {
			t.Errorf("%s: %+v", none, r)
		}
	}
	if r := findRecipe(g, root, "make", ""); r.Unread != "" || r.Name != "test" || len(r.Lines) != 1 {
		t.Errorf("%+v", r)
	}
	if r := findRecipe(g, filepath.Join(root, "d"), "make", "test"); r.Unread == "" {
		t.Errorf("make makes its makefile from a script: %+v", r)
	}
	if r := findRecipe(g, filepath.Join(root, "none"), "make", "test"); r.File == "" || r.Unread == "" {
		t.Errorf("a folder that is not there: %+v", r)
	}
}
