package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Limits on a list of tasks, which must stay readable.
const (
	maxTodos    = 100
	maxTodoText = 500
)

var todoTool = tool{
	about: "Keeps a list of tasks that the person can follow. Each call gives the whole list, in the " +
		"place of the one before. " +
		"Use it for work of several steps, and keep it true: one item in_progress at a time, completed as soon as " +
		"it is.",
	schema: `{"type":"object","required":["todos"],"properties":{
		"todos":{"type":"array","items":{"type":"object","required":["content","status"],"properties":{
			"content":{"type":"string","description":"what is to be done"},
			"status":{"type":"string","enum":["pending","in_progress","completed"]},
			"activeForm":{"type":"string","description":"the same while it is being done: Running the tests"}}}}}}`,
	run: (*Set).todo,
}

// A todo is one item of the list.
type todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"`
	ActiveForm string `json:"activeForm"`
}

// todoMarks are the states of an item, with their marks.
var todoMarks = map[string]string{"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}

// todo checks the list and returns it as people read it. The conversation keeps it.
func (*Set) todo(_ context.Context, u *use) (string, error) {
	_, raw := u.in.field("todos")
	if raw == nil {
		return "", errors.New("input.todos: is missing")
	}
	var todos []todo
	if err := json.Unmarshal(raw, &todos); err != nil {
		return "", errors.New("input.todos: want a list of objects with content and status")
	}
	if len(todos) > maxTodos {
		return "", fmt.Errorf("input.todos: more than %d items", maxTodos)
	}
	var out strings.Builder
	done := 0
	for i, t := range todos {
		line, err := t.line()
		if err != nil {
			return "", fmt.Errorf("input.todos[%d].%w", i, err)
		}
		if t.Status == "completed" {
			done++
		}
		out.WriteString(line + "\n")
	}
	return fmt.Sprintf("%d of %d done\n%s", done, len(todos), out.String()), nil
}

// line returns the item as one line.
func (t *todo) line() (string, error) {
	mark, known := todoMarks[t.Status]
	switch {
	case strings.TrimSpace(t.Content) == "":
		return "", errors.New("content: is missing")
	case len(t.Content) > maxTodoText || len(t.ActiveForm) > maxTodoText:
		return "", fmt.Errorf("content: longer than %d bytes", maxTodoText)
	case !known:
		return "", fmt.Errorf("status: want pending, in_progress or completed, got %q", t.Status)
	}
	text := t.Content
	if t.Status == "in_progress" && t.ActiveForm != "" {
		text = t.ActiveForm
	}
	return mark + " " + visibleName(text), nil
}
