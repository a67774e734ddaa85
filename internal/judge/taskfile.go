package judge

import (
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/shell"
)

// taskfiles are the names that task looks for, in its order.
var taskfiles = []string{
	"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
	"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
}

// taskRecipe reads a task of the nearest Taskfile. A Python package has a program of the same name,
// which keeps its tasks in pyproject.toml.
func taskRecipe(g *place.Bounds, dir, program, name string) shell.Recipe {
	in, found, _ := searchUp(dir, false, taskfiles...) // looking for names does not fail
	python := shell.Recipe{}
	if program == "task" {
		python = pyprojectRecipe(g, dir, "taskipy", name)
	}
	switch {
	case len(found) == 0:
		return python
	case python.File != "":
		return shell.Recipe{File: found[0], Name: name, Dir: in, Unread: "pyproject.toml has tasks as well"}
	case files.Exists(in, ".taskrc.yml") || files.Exists(in, ".taskrc.yaml"):
		return shell.Recipe{File: found[0], Name: name, Dir: in, Unread: "a .taskrc changes how tasks are read"}
	}
	if name == "" {
		name = "default"
	}
	var tasks map[string]task
	data, err := readCode(g, in, found[0])
	if err == nil {
		tasks, err = parseTaskfile(string(data))
	}
	return recipeOf(in, found[0], name, tasks, err)
}

// parseTaskfile reads the tasks of a Taskfile that contains only tasks.
func parseTaskfile(text string) (map[string]task, error) {
	file, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	for _, name := range file.order {
		if !strings.Contains(" version tasks silent ", " "+name+" ") {
			return nil, unreadTask("Taskfile", name).unread
		}
	}
	tasks := map[string]task{}
	for _, name := range file.fields["tasks"].order {
		tasks[name] = taskOf(name, file.fields["tasks"].fields[name])
	}
	return tasks, nil
}

// taskOf reads a task: a command line, a list of them, or fields.
func taskOf(name string, v value) task {
	t := task{main: -1}
	commands := v
	if v.fields != nil {
		for _, field := range v.order {
			if !strings.Contains(" desc summary silent internal deps cmds cmd ", " "+field+" ") {
				return unreadTask(name, field)
			}
		}
		for _, need := range v.fields["deps"].list {
			called, ok := taskCall(need)
			if !ok {
				return unreadTask(name, "what it needs")
			}
			t.steps = append(t.steps, called)
		}
		one, list := v.fields["cmd"], v.fields["cmds"]
		_, needs := v.fields["deps"]
		_, lists := v.fields["cmds"]
		if one.text != nil && lists || needs && v.fields["deps"].list == nil {
			return unreadTask(name, "its fields")
		}
		if commands = list; one.text != nil {
			commands = one
		} else if !lists && needs {
			return t
		}
	}
	if commands.text != nil {
		commands = value{list: []value{commands}}
	}
	for _, c := range commands.list {
		s, ok := taskStep(c)
		if !ok {
			return unreadTask(name, "a command that is more than a line")
		}
		t.steps = append(t.steps, s)
	}
	return t
}

// taskCall returns the step of a named task, given by its name alone or in a field.
func taskCall(v value) (step, bool) {
	if v.text == nil && len(v.fields) == 1 {
		v = v.fields["task"]
	}
	if v.text == nil || strings.Contains(*v.text, "{{") {
		return step{}, false
	}
	return step{task: *v.text}, *v.text != ""
}

// taskStep returns the step of a task's command.
func taskStep(v value) (step, bool) {
	if _, calls := v.fields["task"]; calls {
		return taskCall(v)
	}
	for _, field := range v.order {
		if !strings.Contains(" cmd silent ignore_error ", " "+field+" ") {
			return step{}, false
		}
	}
	if v.fields != nil {
		v = v.fields["cmd"]
	}
	if v.text == nil || strings.Contains(*v.text, "{{") {
		return step{}, false
	}
	return step{line: *v.text}, true
}
