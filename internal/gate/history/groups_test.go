package history_test

import (
	"fmt"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
)

// Calls of two sessions with the same id stay apart, and an event that may not begin a group is left out.
func TestGroupByCall(t *testing.T) {
	t.Parallel()
	events := []umpire.Event{
		{Seq: 1, Session: "a", Call: "1"}, {Seq: 2, Session: "b", Call: "1"}, {Seq: 3, Session: "a"},
		{Seq: 4, Session: "a", Call: "1"}, {Seq: 5, Session: "a"}, {Seq: 6, Session: "a", Call: "2"}, {Seq: 7, Session: "b", Call: "1"},
	}
	var got []string
	for _, group := range history.GroupByCall(events, func(at int, e *umpire.Event) bool { return at < 5 && e.Seq != 3 }) {
		said := ""
		for i := range group {
			said += fmt.Sprint(group[i].Seq)
		}
		got = append(got, said)
	}
	if want := "[14 27 5]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
