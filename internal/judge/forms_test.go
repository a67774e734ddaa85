package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// A form is a place where a project can give a command line a name. In its text, NAME stands
// for that name and SCRIPT for the command line. Adding unread makes the file more than a plain
// list of command lines.
type form struct {
	line, file, text, unread string
	// own means that the command lines run programs from the project's packages, so each of
	// them counts as project code.
	own bool
}

var forms = []form{
	{"npm run NAME", "package.json", `{"scripts": {"NAME": "SCRIPT"}}`, `{"scripts": {"NAME": ["SCRIPT"]}}`, true},
	{"npm run NAME", "package.json", `{"scripts": {"preNAME": "SCRIPT", "NAME": "true", "postNAME": "true"}}`, `{"scripts": {"NAME": {}}}`, true},
	{"yarn run NAME", "package.json", `{"scripts": {"NAME": "true", "postNAME": "SCRIPT"}}`, `{"scripts": {"NAME": "true",}}`, true},
	{"pnpm run NAME", "package.json", `{"scripts": {"NAME": "SCRIPT"}}`, `scripts`, true},
	{"bun run NAME", "package.json", `{"scripts": {"NAME": "SCRIPT"}}`, `[]`, true},
	{"make NAME", "Makefile", "NAME:\n\tSCRIPT\n", "include other.mk\nNAME:\n\tSCRIPT\n", false},
	{"make NAME", "Makefile", "A := SCRIPT\nNAME: first\n\t@true\nfirst:\n\t$(A)\n", "NAME:\n\t$(shell SCRIPT)\n", false},
	{"just NAME", "justfile", "NAME:\n    SCRIPT\n", "set shell := ['./x']\nNAME:\n    SCRIPT\n", false},
	{"just NAME", "Justfile", "x := 'y'\n\nalias t := NAME\n\n# c\n[private]\nfirst:\n  @SCRIPT\nNAME: first\n  true\n", "import 'x'\nNAME:\n  true\n", false},
	{"just NAME", ".justfile", "NAME:\n\t-SCRIPT\n", "NAME x='y':\n\ttrue {{x}}\n", false},
	{"just NAME", "justfile", "NAME:\n\tSCRIPT\n", "NAME:\n\t#!/usr/bin/env python3\n\tprint(1)\n", false},
	{"task NAME", "Taskfile.yml", "version: '3'\ntasks:\n  NAME: SCRIPT\n", "version: '3'\nincludes:\n  x: ./x\ntasks:\n  NAME: SCRIPT\n", false},
	{"task NAME", "Taskfile.yaml", "version: '3'\ntasks:\n  NAME:\n    cmds:\n      - SCRIPT\n", "version: '3'\ntasks:\n  NAME:\n    dir: sub\n    cmds: ['true']\n", false},
	{"go-task NAME", "taskfile.yml", "version: '3'\ntasks:\n  a: SCRIPT\n  NAME:\n    deps: [a]\n    cmds:\n      - task: a\n", "version: '3'\ntasks:\n  NAME: '{{.X}}'\n", false},
	{"task NAME", "Taskfile.dist.yml", "tasks:\n  NAME:\n    cmds:\n      - cmd: |\n          true\n          SCRIPT\n", "vars: {X: y}\ntasks:\n  NAME: 'true'\n", false},
	{"task NAME", "pyproject.toml", "[tool.taskipy.tasks]\nNAME = 'SCRIPT'\n", "[tool.taskipy.settings]\nuse_vars = true\n[tool.taskipy.tasks]\nNAME = 'SCRIPT'\n", false},
	{"task NAME", "pyproject.toml", "[tool.taskipy.tasks]\npre_NAME = 'SCRIPT'\nNAME = { cmd = 'true', help = 'x' }\n", "[tool.taskipy.tasks]\nNAME = { cmd = 'SCRIPT', cwd = 'x' }\n", false},
	{"poe NAME", "pyproject.toml", "[tool.poe.tasks]\nNAME = { shell = 'SCRIPT' }\n", "[tool.poe.tasks]\nNAME = { script = 'a:b' }\n", true},
	{"poe NAME", "pyproject.toml", "[tool.poe.tasks]\na.shell = 'SCRIPT'\nNAME = ['a']\n", "[tool.poe]\ninclude = 'x'\n[tool.poe.tasks]\nNAME = 'true'\n", true},
	{"pdm run NAME", "pyproject.toml", "[tool.pdm.scripts]\nNAME = {shell = 'SCRIPT'}\n", "[tool.pdm.scripts]\nNAME = {call = 'a:b'}\n", true},
	{"pdm run NAME", "pyproject.toml", "[tool.pdm.scripts]\nNAME = 'true'\npost_NAME = {shell = 'SCRIPT'}\n", "[tool.pdm.scripts]\n_.env_file = '.env'\nNAME = 'true'\n", true},
	{"hatch run NAME", "pyproject.toml", "[tool.hatch.envs.default.scripts]\nNAME = 'SCRIPT'\n", "[tool.hatch.envs.default.scripts]\nNAME = '{env:X}'\n", true},
	{"hatch run NAME", "pyproject.toml", "[tool.hatch.envs.default]\ndependencies = ['x']\n[tool.hatch.envs.default.scripts]\nNAME = ['- SCRIPT', 'true']\n", "[tool.hatch.env]\nrequires = ['x']\n[tool.hatch.envs.default.scripts]\nNAME = 'true'\n", true},
}

// project creates a folder with files and returns a judge for a person who trusts none of it.
func project(t *testing.T, files map[string]string) *Judge {
	t.Helper()
	root, home := t.TempDir(), t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bounds, err := place.Open(root, place.Options{Root: root, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Builtin(), policy.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return &Judge{Bounds: bounds, Policy: rules, Home: home}
}

// decides returns the decision for a command line. held selects whether umpire's sandbox confines it.
func (j *Judge) decides(line string, held bool) umpire.Decision {
	call := umpire.Call{ID: "c", Tool: "Bash", Input: fmt.Appendf(nil, `{"command": %q}`, line), Dir: j.Bounds.Root}
	r := policy.Query{Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault}}
	if held {
		r.Sandbox = policy.Sandbox{Held: true, Mode: umpire.SandboxWorkspaceWrite}
	}
	return Decide(func() (*Judge, error) { return j, nil }, r, time.Now)
}

// fill inserts a name and a command line into a form.
func fill(text, name, script string) string {
	return strings.NewReplacer("NAME", name, "SCRIPT", script).Replace(text)
}

// TestForms: a command line is judged the same under every name that a project can give it. A
// file that umpire cannot read counts as unknown project code.
func TestForms(t *testing.T) {
	t.Parallel()
	held := map[bool]string{true: "held", false: "not held"}
	for _, f := range forms {
		for _, tt := range []struct {
			name, script  string
			held, notHeld umpire.Verdict
		}{
			{"test", "go test ./...", umpire.Allow, umpire.Ask},
			{"build", "go test ./...", umpire.Allow, umpire.Ask},
			{"build", "gofmt -l .", umpire.Allow, umpire.Allow},
			{"lint", "rm -rf ~", umpire.Deny, umpire.Deny},
			{"build", "rm -rf /", umpire.Deny, umpire.Deny},
			{"lint", "git push --force", umpire.Ask, umpire.Ask},
			{"build", "./x.sh", umpire.Ask, umpire.Ask},
			{"test", "./x.sh", umpire.Allow, umpire.Ask},
		} {
			j := project(t, map[string]string{f.file: fill(f.text, tt.name, tt.script)})
			line := fill(f.line, tt.name, "")
			for is, want := range map[bool]umpire.Verdict{true: tt.held, false: tt.notHeld} {
				if !is && want == umpire.Allow && f.own {
					want = umpire.Ask
				}
				if d := j.decides(line, is); d.Verdict != want {
					t.Errorf("%s, %s, %s: %s: %v, want %v: %s", f.file, f.text, tt.script, held[is], d.Verdict, want, d.Reason)
				}
			}
		}
		for name, want := range map[string]umpire.Verdict{"build": umpire.Ask, "test": umpire.Allow} {
			j := project(t, map[string]string{f.file: fill(f.unread, name, "gofmt -l .")})
			line := fill(f.line, name, "")
			if d := j.decides(line, true); d.Verdict != want {
				t.Errorf("%s, %s: held: %v, want %v: %s", f.file, f.unread, d.Verdict, want, d.Reason)
			}
			if d := j.decides(line, false); d.Verdict != umpire.Ask {
				t.Errorf("%s, %s: not held: %v: %s", f.file, f.unread, d.Verdict, d.Reason)
			}
		}
	}
}

// unreadForms are further places for a command line that umpire does not read.
var unreadForms = []form{
	{line: "npm run NAME", file: "package.json", unread: `{"scripts": {"NAME": "SCRIPT",}}`},
	{line: "make NAME", file: "Makefile", unread: "NAME:\n\t@$(shell date) SCRIPT\n"},
	{line: "make NAME", file: "Makefile", unread: "define x\nSCRIPT\nendef\nNAME:\n\t$(x)\n"},
	{line: "make NAME", file: "Makefile", unread: "NAME: ; -@SCRIPT\ninclude x\n"},
	{line: "just NAME", file: "justfile", unread: "NAME *args:\n  @-SCRIPT {{args}}\n"},
	{line: "just NAME", file: "justfile", unread: "NAME:\n  #!/bin/sh\n  set -e\n  SCRIPT\n"},
	{line: "task NAME", file: "Taskfile.yml", unread: "tasks:\n  NAME: {cmds: [SCRIPT]}\n"},
	{line: "task NAME", file: "Taskfile.yml", unread: "tasks: {NAME: {cmds: [{cmd: \"SCRIPT\"}]}}\n"},
	{line: "task NAME", file: "Taskfile.yml", unread: "tasks:\n  NAME:\n    dir: x\n    cmds:\n      - cmd: 'SCRIPT'\n"},
	{line: "task NAME", file: "Taskfile.yml", unread: "tasks:\n  NAME:\n    cmds:\n      - >-\n        SCRIPT\n"},
	{line: "task NAME", file: "Taskfile.yml", unread: "tasks:\n  NAME:\n    cmds:\n      - cmd: \"{{.X}} && SCRIPT\"\n"},
	{line: "poe NAME", file: "pyproject.toml", unread: "[tool.poe]\nenv = {}\n[tool.poe.tasks]\nNAME.shell = '''SCRIPT'''\n"},
}

// TestUnreadFormsAreGuessed: a denied command line stays denied in a file that umpire does not
// read.
func TestUnreadFormsAreGuessed(t *testing.T) {
	t.Parallel()
	for _, f := range append(unreadForms, forms...) {
		if !strings.Contains(f.unread, "SCRIPT") {
			continue
		}
		for _, name := range []string{"build", "test", "lint"} {
			for script, want := range map[string]bool{"rm -rf ~": true, "rm -rf /": true, "cd / && rm -rf *": true, "rm -rf build": false} {
				j := project(t, map[string]string{f.file: fill(f.unread, name, script)})
				if d := j.decides(fill(f.line, name, ""), true); (d.Verdict == umpire.Deny) != want {
					t.Errorf("%s: %s: %v: %s", f.file, fill(f.unread, name, script), d.Verdict, d.Reason)
				}
			}
		}
	}
}

// TestOtherShells: if a project file chooses the program that runs scripts, their text does not
// tell what runs. A denied line stays denied.
func TestOtherShells(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		".npmrc": "script-shell=./evil\n", "sub/.npmrc": "Script-Shell = ./evil\n", "pnpm-workspace.yaml": "scriptShell: ./evil\n",
		".yarnrc": "script-shell ./evil\n", "bunfig.toml": "[run]\nshell = 'bun'\n",
		"sub/../.npmrc": "scri${X?}pt-sh${X?}ell=./evil\n", "./.npmrc": "\"script\\u002dsh\\u0065ll\"=./evil\n",
	} {
		j := project(t, map[string]string{
			"sub/package.json": `{"scripts": {"build": "eslint .", "bad": "rm -rf ~"}}`, name: text,
		})
		for line, want := range map[string]umpire.Verdict{"cd sub && npm run build": umpire.Ask, "cd sub && npm run bad": umpire.Deny} {
			if d := j.decides(line, true); d.Verdict != want {
				t.Errorf("%s: %s: %v, want %v: %s", name, line, d.Verdict, want, d.Reason)
			}
		}
	}
	j := project(t, map[string]string{"package.json": `{"scripts": {"build": "eslint ."}}`, ".npmrc": "//r/:_authToken=${TOKEN}\nsave-exact=true\n"})
	if d := j.decides("npm run build", true); d.Verdict != umpire.Allow {
		t.Errorf("plain settings: %v: %s", d.Verdict, d.Reason)
	}
}

// TestFormsBehindLinks: umpire does not read a file through a link out of the project.
func TestFormsBehindLinks(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	for _, f := range forms {
		for place, want := range map[string]umpire.Verdict{other: umpire.Ask, "": umpire.Allow} {
			j := project(t, nil)
			if place == "" {
				place = filepath.Join(j.Bounds.Root, "real")
			}
			file := filepath.Join(place, f.file)
			if err := os.MkdirAll(place, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(fill(f.text, "build", "gofmt -l .")), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(file, filepath.Join(j.Bounds.Root, f.file)); err != nil {
				t.Fatal(err)
			}
			if d := j.decides(fill(f.line, "build", ""), true); d.Verdict != want {
				t.Errorf("%s -> %s: %v, want %v: %s", f.file, place, d.Verdict, want, d.Reason)
			}
		}
	}
}
