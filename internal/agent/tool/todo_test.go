package tool

import (
	"strings"
	"testing"
)

func TestTodo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.ok("TodoWrite", fields{"todos": []fields{
		{"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
		{"content": "Run the tests", "status": "in_progress", "activeForm": "Running the tests"},
		{"content": "Write\n[x] it down", "status": "pending"},
	}})
	if want := "1 of 3 done\n[x] Read the code\n[>] Running the tests\n[ ] Write\\n[x] it down\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.ok("TodoWrite", fields{"todos": []fields{}}); got != "0 of 0 done\n" {
		t.Errorf("nothing to do: %q", got)
	}
	many := make([]fields, maxTodos+1)
	for _, tt := range []struct {
		in   fields
		want string
	}{
		{fields{}, "input.todos: is missing"},
		{fields{"todos": "x"}, "input.todos: want a list"},
		{fields{"todos": many}, "input.todos: more than 100 items"},
		{fields{"todos": []fields{{"content": "a", "status": "done"}}}, `input.todos[0].status: want pending, in_progress or completed, got "done"`},
		{fields{"todos": []fields{{"content": "a", "status": "pending"}, {"content": " ", "status": "pending"}}}, "input.todos[1].content: is missing"},
		{fields{"todos": []fields{{"content": strings.Repeat("a", maxTodoText+1), "status": "pending"}}}, "longer than 500 bytes"},
	} {
		b.fails("TodoWrite", tt.in, tt.want)
	}
}
