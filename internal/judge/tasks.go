package judge

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/shell"
)

// A task is a recipe that may run others of its file.
type task struct {
	steps []step
	// main is the index of the step that gets the arguments of the call, or -1.
	main int
	// unread is the reason why the task's commands are unknown.
	unread error
}

// A step is a command line, or a task by its name.
type step struct{ line, task string }

// errOpaque means that a task does more than name command lines, and is not read.
var errOpaque = errors.New("it contains more than command lines")

// unreadTask returns a task with an action that is not understood.
func unreadTask(name string, what any) task {
	return task{unread: umpire.Errorf("%s: %w: %v", shownName(name), errOpaque, what)}
}

// linesOf returns the command lines that a task runs, in their order.
func linesOf(tasks map[string]task, name string) (out []string, main int, err error) {
	main = -1
	var add func(name string, depth int) error
	add = func(name string, depth int) error {
		t, ok := tasks[name]
		switch {
		case !ok:
			return umpire.Errorf("there is no task %s", shownName(name))
		case t.unread != nil:
			return t.unread
		case depth > maxMakeDepth:
			return errors.New("the tasks form a cycle")
		}
		for i, s := range t.steps {
			if s.task != "" {
				if err := add(s.task, depth+1); err != nil {
					return err
				}
				continue
			}
			if depth == 0 && t.main == i {
				main = len(out)
			}
			if out = append(out, s.line); len(out) > maxMakeLines {
				return errOpaque
			}
		}
		return nil
	}
	if err = add(name, 0); err == nil && len(out) == 0 {
		err = errors.New("the task runs nothing")
	}
	return out, main, err
}

// recipeOf returns the recipe of a task of a file.
func recipeOf(dir, file, name string, tasks map[string]task, err error) shell.Recipe {
	r := shell.Recipe{File: file, Name: name, Dir: dir, Main: -1}
	if err == nil {
		r.Lines, r.Main, err = linesOf(tasks, name)
	}
	if err != nil {
		r.Lines, r.Unread = nil, err.Error()
	}
	return r
}

// searchUp returns the nearest folder, from dir upwards, with files of these names; fold ignores
// case.
func searchUp(dir string, fold bool, names ...string) (in string, found []string, err error) {
	for {
		found, err = findPresent(dir, fold, names)
		above := filepath.Dir(dir)
		if err != nil || len(found) > 0 || above == dir {
			return dir, found, err
		}
		dir = above
	}
}

// findPresent returns those of the names that exist in a folder.
func findPresent(dir string, fold bool, names []string) (found []string, err error) {
	if !fold {
		for _, name := range names {
			if files.Exists(dir, name) {
				found = append(found, name)
			}
		}
		return found, nil
	}
	all, err := listEntries(dir)
	for _, entry := range all {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, entry) }) {
			found = append(found, entry)
		}
	}
	return found, err
}

// readCode reads a file that names code. It does not follow a link that leads out of the project,
// or out of the file's own folder if that is outside.
func readCode(g *place.Bounds, dir, name string) ([]byte, error) {
	file, err := files.Canonical(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if !files.Within(dir, file) && !(files.Within(g.Root, dir) && files.Within(g.Root, file)) {
		return nil, umpire.Errorf("%s is a link that leads out of the project", shownName(name))
	}
	return files.ReadSmall(file, maxManifest)
}
