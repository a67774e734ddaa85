package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/shell"
)

// A pythonRunner is a program that runs tasks of pyproject.toml.
type pythonRunner struct {
	program string
	// table holds its settings, with its tasks in the table tasks below it.
	table, tasks string
	// plain are settings that do not affect the commands of a task. rivals are files that take
	// precedence over pyproject.toml or are read together with it.
	plain, rivals string
	// shell means that a task given as text is run by the shell. Otherwise a text is only read if
	// it means the same with and without a shell.
	shell bool
	// before and after are the name prefixes of tasks that run before and after another task.
	before, after string
}

var pythonRunners = []pythonRunner{
	{
		program: "poe", table: "poe", tasks: "tasks", plain: " verbosity ",
		rivals: "poe_tasks.toml poe_tasks.yaml poe_tasks.yml poe_tasks.json",
	},
	{
		program: "pdm", table: "pdm", tasks: "scripts",
		plain: " distribution dev-dependencies version build resolution source ", before: "pre_", after: "post_",
	},
	{program: "taskipy", table: "taskipy", tasks: "tasks", shell: true, before: "pre_", after: "post_"},
	{
		program: "hatch", table: "hatch", tasks: "scripts", plain: " version build metadata publish ",
		rivals: "hatch.toml", shell: true,
	},
}

// pyprojectRecipe reads a task of the nearest pyproject.toml.
func pyprojectRecipe(g *place.Bounds, dir, program, name string) shell.Recipe {
	const file = "pyproject.toml"
	at := slices.IndexFunc(pythonRunners, func(p pythonRunner) bool { return p.program == program })
	if at < 0 {
		return shell.Recipe{}
	}
	runner := &pythonRunners[at]
	rivals := strings.Fields(runner.rivals)
	in, found, _ := searchUp(dir, false, append([]string{file}, rivals...)...) // looking for names does not fail
	switch {
	case len(found) == 0:
		return shell.Recipe{}
	case len(found) > 1 || found[0] != file:
		return shell.Recipe{File: found[0], Name: name, Dir: in, Unread: "tasks stand in " + strings.Join(found, ", ")}
	}
	data, err := readCode(g, in, file)
	var tasks map[string]task
	if err == nil {
		tasks, err = runner.readTasks(data)
	}
	if _, ok := tasks[name]; err == nil && !ok {
		return shell.Recipe{} // a program, not a task
	}
	return recipeOf(in, file, name, tasks, err)
}

// readTasks returns the tasks of a file.
func (p *pythonRunner) readTasks(data []byte) (map[string]task, error) {
	file, err := decodeTOML(data)
	if err != nil {
		return nil, err
	}
	tools, _ := file["tool"].(map[string]any)
	settings, _ := tools[p.table].(map[string]any)
	texts, err := p.texts(settings)
	if err != nil {
		return nil, err
	}
	tasks := map[string]task{}
	for name, text := range texts {
		tasks[name] = p.task(name, text, texts)
	}
	if p.before != "" {
		for name := range texts {
			tasks[name] = addAround(name, p, tasks)
		}
	}
	return tasks, nil
}

// addAround combines a task with those that run before and after it.
func addAround(name string, p *pythonRunner, tasks map[string]task) task {
	t := tasks[name]
	if _, ok := tasks[p.after+name]; ok && t.unread == nil {
		t.steps = append(slices.Clip(t.steps), step{task: p.after + name})
	}
	if _, ok := tasks[p.before+name]; ok && t.unread == nil {
		t.steps = append([]step{{task: p.before + name}}, t.steps...)
		t.main++
	}
	return t
}

// texts returns the settings of each task. It fails if another setting may change the commands of
// tasks.
func (p *pythonRunner) texts(settings map[string]any) (map[string]any, error) {
	if p.table == "hatch" {
		return hatchScripts(settings, p.plain)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name != p.tasks && !strings.Contains(p.plain, " "+name+" ") {
			return nil, unreadTask("tool."+p.table, name).unread
		}
	}
	texts, _ := settings[p.tasks].(map[string]any)
	for _, name := range []string{"_", "pre_run", "post_run"} {
		if _, ok := texts[name]; ok && p.table == "pdm" {
			return nil, unreadTask("tool.pdm.scripts", name).unread
		}
	}
	return texts, nil
}

// hatchScripts returns the scripts of hatch's default environment.
func hatchScripts(settings map[string]any, plain string) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name != "envs" && !strings.Contains(plain, " "+name+" ") {
			return nil, unreadTask("tool.hatch", name).unread
		}
	}
	environments, _ := settings["envs"].(map[string]any)
	environment, _ := environments["default"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if !strings.Contains(
			" scripts dependencies extra-dependencies features python description skip-install detached ", " "+name+" ",
		) {
			return nil, unreadTask("tool.hatch.envs.default", name).unread
		}
	}
	scripts, _ := environment["scripts"].(map[string]any)
	return scripts, nil
}

// task reads one task; texts are all of them.
func (p *pythonRunner) task(name string, v any, texts map[string]any) task {
	t := task{main: 0}
	switch v := v.(type) {
	case string:
		return p.lineTask(name, v, p.shell, texts)
	case []any:
		t.main = -1
		for _, one := range v {
			text, ok := one.(string)
			if !ok || p.table == "pdm" || p.table == "taskipy" {
				return unreadTask(name, "a list")
			}
			if p.table == "poe" {
				t.steps = append(t.steps, step{task: text})
				continue
			}
			line := p.lineTask(name, strings.TrimPrefix(text, "- "), p.shell, texts)
			if line.unread != nil {
				return line
			}
			t.steps = append(t.steps, line.steps...)
		}
		return t
	case map[string]any:
		return p.tableTask(name, v, texts)
	}
	return unreadTask(name, fmt.Sprintf("%T", v))
}

// tableTask reads a task that is a table: a text for the shell or for no shell.
func (p *pythonRunner) tableTask(name string, v, texts map[string]any) task {
	for _, field := range slices.Sorted(maps.Keys(v)) {
		if !strings.Contains(" cmd shell help ", " "+field+" ") {
			return unreadTask(name, field)
		}
	}
	command, direct := v["cmd"].(string)
	script, shelled := v["shell"].(string)
	switch {
	case direct && !shelled:
		return p.lineTask(name, command, p.shell, texts)
	case shelled && !direct && (p.table == "poe" || p.table == "pdm"):
		t := p.lineTask(name, script, true, texts)
		if p.table == "poe" {
			t.main = -1 // its arguments are shell variables
		}
		return t
	}
	return unreadTask(name, "its fields")
}

// lineTask reads a text. A text with braces is a template for some of the programs.
func (p *pythonRunner) lineTask(name, text string, forShell bool, texts map[string]any) task {
	if strings.ContainsAny(text, "{}") || !forShell && strings.ContainsAny(text, "\n\\$;&|<>()*?[]~#!`") ||
		strings.TrimSpace(text) == "" {
		return unreadTask(name, "a text that is not plain")
	}
	if p.table == "hatch" {
		first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if _, another := texts[first]; another {
			return unreadTask(name, "another script")
		}
	}
	t := task{steps: []step{{line: text}}}
	if p.table == "hatch" {
		t.main = -1 // it takes arguments only by templates
	}
	return t
}
