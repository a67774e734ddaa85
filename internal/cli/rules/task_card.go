package rules

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A taskPreview tells about each line of a task the questions that it would have answered, and the worst call that
// it allows.
type taskPreview struct {
	decider *app.Decider
	task    *task.Task
	root    string
}

// newTaskPreview decides by the lines of the task too.
func newTaskPreview(a *app.App, t *task.Task, root string) *taskPreview {
	return &taskPreview{task: t, root: root, decider: app.NewDecider(a, func(_ string, c *gate.Config) {
		c.Rules = append(c.Rules, taskRules(t)...)
	})}
}

// taskRules returns the lines of a task as allow rules of the project, which answer no more than the task does.
func taskRules(t *task.Task) (rules []umpire.Rule) {
	for i := range t.Lines {
		g := t.Lines[i].Grant("")
		rules = append(rules, umpire.Rule{
			ID: lineID(i), Action: umpire.Allow, Tool: g.Tool, Match: g.Match, Cap: g.Cap, Source: umpire.SourceProject,
		})
	}
	return rules
}

func lineID(i int) umpire.RuleID { return umpire.RuleID(fmt.Sprintf("task-line-%d", i)) }

// decide returns the decision on a call, and reports which lines allow a part of it.
func (p *taskPreview) decide(call umpire.Call, own bool) (d umpire.Decision, uses []bool, err error) {
	call.Dir = p.root
	d, err = p.decider.Decide(p.root, call, own)
	uses = make([]bool, len(p.task.Lines))
	for _, r := range d.Reasons {
		for i := range uses {
			uses[i] = uses[i] || r.Verdict == umpire.Allow && r.Rule != nil && r.Rule.ID == lineID(i)
		}
	}
	return d, uses, err
}

// countAnswered returns how many of the questions the task would have answered, and how many of these each line.
func (p *taskPreview) countAnswered(questions []*question) (answered int, byLine []int, err error) {
	byLine = make([]int, len(p.task.Lines))
	for _, q := range questions {
		d, uses, err := p.decide(*q.call, q.past.own)
		if err != nil {
			return 0, nil, err
		}
		if d.Verdict != umpire.Allow {
			continue
		}
		answered += q.past.times
		for i, used := range uses {
			if used {
				byLine[i] += q.past.times
			}
		}
	}
	return answered, byLine, nil
}

// worst returns the worst call of a line that the search finds, or nil.
func (p *taskPreview) worst(line int) (*worstCall, error) {
	l := &p.task.Lines[line]
	return findWorst(l.Tool, l.Match, func(call umpire.Call) (umpire.Decision, bool, error) {
		d, uses, err := p.decide(call, false)
		return d, uses[line], err
	})
}

// tellCard returns the card of a task as text.
func tellCard(lang *catalogue.Language, card *task.Card, session umpire.SessionID) string {
	t := &card.Task
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", view.Visible(t.Title))
	fmt.Fprintf(&b, lang.Of("Session %s may make these calls without a question, for %s at most:\n\n"),
		view.Visible(string(session)), view.Age(t.For))
	for i := range t.Lines {
		l, about := &t.Lines[i], &card.Lines[i]
		fmt.Fprintf(&b, "  %4dx  %-10s  %s\n", l.Times, l.Most, view.Visible(l.Rule()))
		say := func(text string) { fmt.Fprintf(&b, "           %s\n", text) }
		if card.Questions > 0 {
			say(fmt.Sprintf(lang.Of("answers %d of %d questions so far"), about.Answers, card.Questions))
		}
		if about.Worst != "" {
			say(view.Joined(lang.Of("at worst"), ": ", about.Worst))
		}
	}
	b.WriteString("\n")
	if card.Questions > 0 {
		said := lang.Of("It would have answered %d of the session's %d questions so far.\n\n")
		fmt.Fprintf(&b, said, card.Answered, card.Questions)
	}
	return b.String()
}
