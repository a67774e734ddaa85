package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
)

// A fakeDesk drafts one text.
type fakeDesk struct{ text string }

func (f fakeDesk) Draft(*task.Task) (task.Task, []string) {
	t, err := task.Parse(f.text)
	if err != nil {
		panic(err)
	}
	return t, []string{"rm -rf \x1b[31mall"}
}

func (f fakeDesk) Describe(_ context.Context, t *task.Task) (*task.Card, error) {
	card := &task.Card{Task: *t, Questions: 3, Answered: 2}
	for range t.Lines {
		card.Lines = append(card.Lines, task.CardLine{Answers: 1, Worst: "git add --all " + strings.Repeat("x", 60)})
	}
	return card, nil
}

func (g *fakeGate) Grants() umpire.GrantKeeper { return fakeGrants{fakeGate: g} }

type fakeGrants struct {
	*fakeGate
	umpire.GrantKeeper
}

func (g fakeGrants) List(context.Context, string) ([]umpire.GrantStatus, error) { return nil, nil }

func (g fakeGrants) Revoke(context.Context, umpire.Revocation) ([]umpire.GrantStatus, error) {
	return nil, nil
}

func (g fakeGrants) ApproveTask(_ context.Context, a umpire.TaskApproval) ([]umpire.GrantStatus, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tasks = append(g.tasks, a)
	return []umpire.GrantStatus{{ID: "k123"}}, nil
}

const drafted = "task: Build it\nfor: 1h\nmay:\n20x reversible Bash(git add:*)\n20x reversible Edit(src/**)\n"

func withTasks(t *testing.T, text string, width, height int) *drive {
	d := driven(t, nil, width, height)
	d.m.conf.Tasks = func(context.Context, *umpire.Session) (task.Desk, error) { return fakeDesk{text}, nil }
	d.m.conf.TaskCode = func() string { return "abcd" }
	return d
}

// TestTaskIsEditedAndApproved: keys change and remove lines, and the text on the screen is the one that is approved.
func TestTaskIsEditedAndApproved(t *testing.T) {
	t.Parallel()
	d := withTasks(t, drafted, 80, 24)
	d.press("/task", "enter")
	d.sees("Approve a task: Build it", "20x", "Bash(git add:*)", "answers 1 of 3 questions so far", "always asks: rm -rf \\x1b[31mall")
	d.pass(settleTime)
	d.screenText()
	for range 20 {
		d.press("+")
	}
	d.sees("want between 1 and 1000 times")
	d.press("-")
	d.pass(settleTime)
	d.screenText()
	d.press("j", "j", "j", "j", "x")
	d.sees("320x")
	d.sawNot("Edit(src/**)")
	d.pass(settleTime)
	d.screenText()
	d.press("y")
	d.sees("approved k123; to end it: umpire task end k123")
	want := "task: Build it\nfor: 1h\nmay:\n  320x  reversible  Bash(git add:*)\n"
	if len(d.gate.tasks) != 1 || d.gate.tasks[0].Text != want || d.gate.tasks[0].Session != d.gate.session.ID {
		t.Errorf("%+v", d.gate.tasks)
	}
}

// TestTaskIsReadFirst: no key approves a task before its last line was on the screen, and one with an outward line needs
// the code.
func TestTaskIsReadFirst(t *testing.T) {
	t.Parallel()
	d := withTasks(t, drafted+"1x outward Bash(=git push)\n", 40, 9)
	d.press("/task", "enter")
	d.pass(settleTime)
	d.screenText()
	d.press("y")
	d.sees("scroll to the last line first")
	for range 20 {
		d.press("j")
		d.screenText()
	}
	d.press("y")
	d.sees("Type abcd and Enter")
	d.press("abce", "enter")
	d.sees("wrong code: nothing was approved")
	if len(d.gate.tasks) > 0 {
		t.Fatal("approved without its code")
	}
	d.press("y", "abcd", "enter")
	d.sees("approved k123")
}
