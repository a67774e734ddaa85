package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Unknown recipes are nil in these tables; a name without a task is "-".
type taskCase struct {
	text, name string
	want       []string
}

func checkTasks(t *testing.T, cases map[string]taskCase, parse func(text, name string) (map[string]task, string, error)) {
	t.Helper()
	for title, tt := range cases {
		tasks, name, err := parse(tt.text, tt.name)
		var got []string
		if err == nil {
			got, _, err = linesOf(tasks, name)
		}
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %q, %v", title, got, err)
		} else if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s:\n%s", title, diff)
		}
	}
}

func TestJustfile(t *testing.T) {
	t.Parallel()
	checkTasks(t, map[string]taskCase{
		"a recipe":                  {"test:\n  go test ./...\n", "test", []string{"go test ./..."}},
		"the default":               {"# c\na: b\n  @x\nb:\n  -y\n\n  z\n", "", []string{"y", "z", "x"}},
		"quiet":                     {"@test:\n\tx\n", "test", []string{"x"}},
		"an alias":                  {"alias t := test\ntest:\n  x\n", "t", []string{"x"}},
		"a variable":                {"a := 'b'\nc := \"d\"\ntest:\n  x\n", "test", []string{"x"}},
		"plain attributes":          {"[private]\n[group('a')]\n[doc(\"b\")]\ntest:\n  x\n", "test", []string{"x"}},
		"another with a template":   {"a x:\n  y {{x}} {{ uppercase(x) }}\ntest:\n  x\n", "test", []string{"x"}},
		"a template":                {"test:\n  x {{y}}\n", "test", nil},
		"a template over two lines": {"a:\n  y {{ '\ntest:\n  x\n  '}}\n", "test", nil},
		"a string over two lines":   {"a x='\ntest:\n  x\n':\n  y\n", "test", nil},
		"three quotes":              {"a x='''\"\"' :\ntest:\n  x\n", "test", nil},
		"a bracket over two lines":  {"a: (b\n'c')\ntest:\n  x\n", "test", nil},
		"parameters":                {"test *args:\n  x\n", "test", nil},
		"arguments":                 {"a b:\n  x\ntest: (a 'c')\n  x\n", "test", nil},
		"what comes after":          {"a:\n  x\ntest: && a\n  y\n", "test", nil},
		"a script":                  {"test:\n  #!/bin/sh\n  x\n", "test", nil},
		"a line that goes on":       {"test:\n  x \\\n  y\n", "test", nil},
		"a command":                 {"a := `evil`\ntest:\n  x\n", "test", nil},
		"a calculated variable":     {"a := env('X')\ntest:\n  x\n", "test", nil},
		"a shell":                   {"set shell := ['./x', '-c']\ntest:\n  x\n", "test", nil},
		"a file of variables":       {"set dotenv-load\ntest:\n  x\n", "test", nil},
		"an exported variable":      {"export PATH := 'x'\ntest:\n  x\n", "test", nil},
		"an import":                 {"import 'x'\ntest:\n  x\n", "test", nil},
		"a module":                  {"mod x\ntest:\n  x\n", "test", nil},
		"another folder":            {"[no-cd]\ntest:\n  x\n", "test", nil},
		"an attribute":              {"[default]\ntest:\n  x\n", "test", nil},
		"several attributes":        {"[private, no-cd]\ntest:\n  x\n", "test", nil},
		"twice":                     {"test:\n  x\ntest:\n  y\n", "test", nil},
		"none":                      {"a:\n  x\n", "test", nil},
		"a circle":                  {"test: a\n  x\na: test\n  y\n", "test", nil},
		"nothing":                   {"test:\n", "test", nil},
		"a carriage return":         {"test:\r\n  x\r\n", "test", nil},
		"indented":                  {"  test:\n    x\n", "test", nil},
		"below a comment":           {"test:\n  x\n# c\n  y\n", "test", nil},
	}, func(text, name string) (map[string]task, string, error) {
		tasks, first, err := parseJustfile(text)
		if name == "" {
			name = first
		}
		return tasks, name, err
	})
}

func TestTaskfile(t *testing.T) {
	t.Parallel()
	checkTasks(t, map[string]taskCase{
		"a line":               {"tasks:\n  test: go test ./...\n", "test", []string{"go test ./..."}},
		"a list":               {"version: '3'\ntasks:\n  test:\n    - a\n    - b c\n", "test", []string{"a", "b c"}},
		"what it needs":        {"tasks:\n  a: x\n  b: y\n  test:\n    deps: [a, {task: b}]\n", "test", nil},
		"needs":                {"tasks:\n  a: x\n  b: y\n  test:\n    deps:\n      - a\n      - task: b\n    cmds: [z]\n", "test", []string{"x", "y", "z"}},
		"needs alone":          {"tasks:\n  a: x\n  test:\n    deps: [a]\n", "test", []string{"x"}},
		"another in between":   {"tasks:\n  a: x\n  test:\n    cmds:\n      - y\n      - task: a\n      - cmd: z\n        silent: true\n", "test", []string{"y", "x", "z"}},
		"a quoted name":        {"tasks:\n  \"test\": x\n  'lint:fix': y\n", "lint:fix", []string{"y"}},
		"several lines":        {"tasks:\n  test:\n    desc: a\n    cmd: |\n      a\n      b\n", "test", []string{"a\nb\n"}},
		"another is not plain": {"tasks:\n  a:\n    vars: {}\n  test: x\n", "test", nil},
		"another has a folder": {"tasks:\n  a:\n    dir: b\n    cmd: y\n  test: x\n", "test", []string{"x"}},
		"a template":           {"tasks:\n  test: x {{.Y}}\n", "test", nil},
		"a task by a template": {"tasks:\n  test:\n    cmds:\n      - task: x{{.Y}}\n", "test", nil},
		"a list of templates":  {"tasks:\n  test:\n    cmds:\n      - for: [a]\n        cmd: x\n", "test", nil},
		"a need by a template": {"tasks:\n  test:\n    deps:\n      - '{{.X}}'\n    cmd: x\n", "test", nil},
		"a need with texts":    {"tasks:\n  a: x\n  test:\n    deps:\n      - task: a\n        vars:\n          X: y\n", "test", nil},
		"what it needs is not": {"tasks:\n  test:\n    deps: a\n    cmd: x\n", "test", nil},
		"a folder":             {"tasks:\n  test:\n    dir: a\n    cmd: x\n", "test", nil},
		"variables":            {"tasks:\n  test:\n    env:\n      PATH: a\n    cmd: x\n", "test", nil},
		"for all":              {"env:\n  PATH: a\ntasks:\n  test: x\n", "test", nil},
		"a file of them":       {"dotenv: [x]\ntasks:\n  test: x\n", "test", nil},
		"an include":           {"includes:\n  a: b\ntasks:\n  test: x\n", "test", nil},
		"a command and a list": {"tasks:\n  test:\n    cmd: x\n    cmds: [y]\n", "test", nil},
		"a later command":      {"tasks:\n  test:\n    cmds:\n      - defer: x\n", "test", nil},
		"an anchor":            {"tasks:\n  a: &x y\n  test: *x\n", "test", nil},
		"none":                 {"tasks:\n  a: x\n", "test", nil},
		"no tasks":             {"version: '3'\n", "test", nil},
		"nothing":              {"tasks:\n  test:\n    desc: a\n", "test", nil},
		"a circle":             {"tasks:\n  test:\n    deps: [test]\n    cmd: x\n", "test", nil},
	}, func(text, name string) (map[string]task, string, error) {
		tasks, err := parseTaskfile(text)
		return tasks, name, err
	})
}

func TestPyproject(t *testing.T) {
	t.Parallel()
	for program, cases := range map[string]map[string]taskCase{
		"poe": {
			"a text":           {"[tool.poe.tasks]\ntest = 'pytest -q'\n", "test", []string{"pytest -q"}},
			"a command":        {"[tool.poe.tasks.test]\ncmd = 'pytest'\nhelp = 'a'\n", "test", []string{"pytest"}},
			"others":           {"[tool.poe.tasks]\na = 'x'\nb.shell = 'y | z'\ntest = ['a', 'b']\n", "test", []string{"x", "y | z"}},
			"a variable":       {"[tool.poe.tasks]\ntest = 'pytest $X'\n", "test", nil},
			"for no shell":     {"[tool.poe.tasks]\ntest = 'go vet < -vettool=./evil'\n", "test", nil},
			"over two lines":   {"[tool.poe.tasks]\ntest = \"\"\"go vet\n -vettool=./evil\"\"\"\n", "test", nil},
			"a function":       {"[tool.poe.tasks]\ntest.script = 'a:b'\n", "test", nil},
			"an expression":    {"[tool.poe.tasks]\ntest.expr = '1'\n", "test", nil},
			"variables":        {"[tool.poe.tasks]\ntest = {cmd = 'x', env = {PATH = 'y'}}\n", "test", nil},
			"another shell":    {"[tool.poe.tasks]\ntest = {shell = 'x', interpreter = 'python'}\n", "test", nil},
			"for all":          {"[tool.poe.env]\nPATH = 'x'\n[tool.poe.tasks]\ntest = 'x'\n", "test", nil},
			"another meaning":  {"[tool.poe]\ndefault_task_type = 'script'\n[tool.poe.tasks]\ntest = 'a:b'\n", "test", nil},
			"a script of them": {"[tool.poe]\ninclude_script = 'a:b'\n[tool.poe.tasks]\ntest = 'x'\n", "test", nil},
			"not TOML":         {"[tool.poe.tasks]\ntest = 'x'\ntest = 'y'\n", "test", nil},
			"not a table":      {"[tool]\npoe = 'x'\n", "test", nil},
		},
		"pdm": {
			"around":          {"[tool.pdm.scripts]\npre_test = 'a'\ntest = 'b'\npost_test = {shell = 'c; d'}\n", "test", []string{"a", "b", "c; d"}},
			"a function":      {"[tool.pdm.scripts]\ntest = {call = 'a:b'}\n", "test", nil},
			"a bad one first": {"[tool.pdm.scripts]\npre_test = {call = 'a:b'}\ntest = 'b'\n", "test", nil},
			"before each":     {"[tool.pdm.scripts]\npre_run = 'evil'\ntest = 'b'\n", "test", nil},
			"for all":         {"[tool.pdm.scripts]\n_ = {env_file = 'x'}\ntest = 'b'\n", "test", nil},
			"words":           {"[tool.pdm.scripts]\ntest = {cmd = ['a', 'b']}\n", "test", nil},
			"others":          {"[tool.pdm.scripts]\na = 'x'\ntest = {composite = ['a']}\n", "test", nil},
			"a folder":        {"[tool.pdm.scripts]\ntest = {cmd = 'a', working_dir = 'x'}\n", "test", nil},
			"a circle":        {"[tool.pdm.scripts]\ntest = 'a'\npre_test = 'b'\npre_pre_test = 'c'\n", "test", []string{"c", "b", "a"}},
		},
		"taskipy": {
			"around":    {"[tool.taskipy.tasks]\npre_test = 'a'\ntest = 'b | c'\npost_test = 'd'\n", "test", []string{"a", "b | c", "d"}},
			"settings":  {"[tool.taskipy.settings]\ncwd = 'x'\n[tool.taskipy.tasks]\ntest = 'b'\n", "test", nil},
			"a table":   {"[tool.taskipy.tasks]\ntest = {cmd = 'a', help = 'b'}\n", "test", []string{"a"}},
			"a folder":  {"[tool.taskipy.tasks]\ntest = {cmd = 'a', cwd = 'b'}\n", "test", nil},
			"variables": {"[tool.taskipy.variables]\nx = 'y'\n[tool.taskipy.tasks]\ntest = 'b'\n", "test", nil},
		},
		"hatch": {
			"a list":          {"[tool.hatch.envs.default.scripts]\ntest = ['a', '- b']\n", "test", []string{"a", "b"}},
			"a template":      {"[tool.hatch.envs.default.scripts]\ntest = 'pytest {args:tests}'\n", "test", nil},
			"another":         {"[tool.hatch.envs.default.scripts]\ncat = 'rm'\ntest = 'cat x'\n", "test", nil},
			"variables":       {"[tool.hatch.envs.default]\nenv-vars = {PATH = 'x'}\nscripts = {test = 'a'}\n", "test", nil},
			"another kind":    {"[tool.hatch.envs.default]\ntype = 'x'\nscripts = {test = 'a'}\n", "test", nil},
			"a plugin":        {"[tool.hatch.env]\nrequires = ['x']\n[tool.hatch.envs.default.scripts]\ntest = 'a'\n", "test", nil},
			"of another name": {"[tool.hatch.envs.x.scripts]\ntest = 'a'\n", "test", nil},
		},
	} {
		runner := pythonRunners[slices.IndexFunc(pythonRunners, func(p pythonRunner) bool { return p.program == program })]
		checkTasks(t, cases, func(text, name string) (map[string]task, string, error) {
			tasks, err := runner.readTasks([]byte(text))
			return tasks, name, err
		})
	}
}

// TestTasksOfOneProject: two programs of one name, and files beside each other.
func TestTasksOfOneProject(t *testing.T) {
	t.Parallel()
	taskipy, taskfile := "[tool.taskipy.tasks]\ntest = 'a'\n", "tasks:\n  test: b\n"
	for title, tt := range map[string]struct {
		files   map[string]string
		program string
		want    string // "" for unread
	}{
		"a Taskfile":            {map[string]string{"Taskfile.yml": taskfile}, "task", "b"},
		"tasks of Python":       {map[string]string{"pyproject.toml": taskipy}, "task", "a"},
		"both":                  {map[string]string{"pyproject.toml": taskipy, "Taskfile.yml": taskfile}, "task", ""},
		"both, and go-task":     {map[string]string{"pyproject.toml": taskipy, "Taskfile.yml": taskfile}, "go-task", "b"},
		"settings of task":      {map[string]string{"Taskfile.yml": taskfile, ".taskrc.yml": "x: y\n"}, "task", ""},
		"the first Taskfile":    {map[string]string{"Taskfile.dist.yml": "tasks:\n  test: c\n", "Taskfile.yml": taskfile}, "task", "b"},
		"two justfiles":         {map[string]string{"justfile": "test:\n  a\n", ".justfile": "test:\n  b\n"}, "just", ""},
		"a justfile in capital": {map[string]string{"JUSTFILE": "test:\n  a\n"}, "just", "a"},
		"a file of poe":         {map[string]string{"poe_tasks.toml": "x = 1\n", "pyproject.toml": "[tool.poe.tasks]\ntest = 'a'\n"}, "poe", ""},
		"a file of hatch":       {map[string]string{"hatch.toml": "x = 1\n", "pyproject.toml": "[tool.hatch.envs.default.scripts]\ntest = 'a'\n"}, "hatch", ""},
	} {
		g, _ := clone(t)
		for name, text := range tt.files {
			write(t, g.Root, name, text)
		}
		r := findRecipe(g, g.Root, tt.program, "test")
		if r.File == "" || (r.Unread != "") != (tt.want == "") || strings.Join(r.Lines, "|") != tt.want {
			t.Errorf("%s: %+v, want %q", title, r, tt.want)
		}
	}
}
