package lookback

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/try"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A taskPreview tells about each line of a task the questions that it would have answered, and the worst call that
// it allows.
type taskPreview struct {
	decider *try.Decider
	task    *task.Task
	root    string
}

// newTaskPreview decides by the lines of the task too.
func newTaskPreview(a *app.App, t *task.Task, root string) *taskPreview {
	return &taskPreview{task: t, root: root, decider: try.NewDecider(a, func(_ string, c *gate.Config) {
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

// A worstCall is a call that a line allows, and its decision.
type worstCall struct {
	call     umpire.Call
	decision umpire.Decision
}

// worst returns the worst call of a line that the search finds, or nil. Its candidates are the line's own command with
// each option that the tables know, or a call of each tool that the line's path or host concerns.
func (p *taskPreview) worst(line int) (worst *worstCall, err error) {
	for _, call := range candidatesOf(&p.task.Lines[line]) {
		d, uses, err := p.decide(call, false)
		if err != nil {
			return nil, err
		}
		worse := worst == nil || d.Consequence < worst.decision.Consequence ||
			d.Consequence == worst.decision.Consequence && d.Risk < worst.decision.Risk
		if d.Verdict == umpire.Allow && uses[line] && worse {
			worst = &worstCall{call, d}
		}
	}
	return worst, nil
}

// maxCandidates bounds the search for the worst call of a line.
const maxCandidates = 2000

func candidatesOf(l *task.Line) (calls []umpire.Call) {
	add := func(tool string, input map[string]string) {
		data, err := json.Marshal(input)
		if err == nil && len(calls) < maxCandidates {
			calls = append(calls, umpire.Call{ID: "candidate", Tool: tool, Input: data})
		}
	}
	switch m := l.Match; {
	case m.Command != "":
		add("Bash", map[string]string{"command": m.Command})
	case m.CommandPrefix != "":
		for _, command := range commandsOf(m.CommandPrefix) {
			add("Bash", map[string]string{"command": command})
		}
	case m.PathGlob != "":
		file := strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(m.PathGlob)
		add(l.Tool, map[string]string{"file_path": file, "path": file, "pattern": "x", "content": "", "old_string": "a",
			"new_string": "b"})
		add("Read", map[string]string{"file_path": file})
		add("Write", map[string]string{"file_path": file, "content": ""})
		add("Bash", map[string]string{"command": "rm -f " + shell.Quote(file)})
	case m.Domain != "":
		host := strings.TrimPrefix(m.Domain, "*.")
		add("WebFetch", map[string]string{"url": "https://" + host + "/", "prompt": "x"})
		add("Bash", map[string]string{"command": "curl -d x https://" + host + "/"})
	default:
		add(l.Tool, map[string]string{})
	}
	return calls
}

// commandsOf returns a command with each option that the tables know, alone and with a value and an operand.
func commandsOf(prefix string) (lines []string) {
	words, err := policy.SplitPrefix(prefix)
	if err != nil || len(words) == 0 {
		return nil
	}
	lines = []string{prefix, prefix + " x", prefix + " -- x"}
	known, ok := shell.Describe(words[0], nil)
	for _, word := range words[1:] {
		for i := range known.Subs {
			if ok && known.Subs[i].Names[0] == word {
				lines = appendOptions(lines, prefix, known.Options)
				known = known.Subs[i]
				break
			}
		}
	}
	return appendOptions(lines, prefix, known.Options)
}

func appendOptions(lines []string, prefix string, options []shell.Option) []string {
	for i := range options {
		for _, name := range options[i].Names {
			lines = append(lines, prefix+" "+name, prefix+" "+name+" x", prefix+" "+name+"=x", prefix+" "+name+" x y")
		}
	}
	return lines
}

// tellCard returns the card of a task as text.
func tellCard(a *app.App, card *task.Card, session umpire.SessionID) string {
	t := &card.Task
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", view.Visible(t.Title))
	fmt.Fprintf(&b, a.Text.Of("Session %s may make these calls without a question, for %s at most:\n\n"),
		view.Visible(string(session)), view.Age(t.For))
	for i := range t.Lines {
		l, about := &t.Lines[i], &card.Lines[i]
		fmt.Fprintf(&b, "  %4dx  %-10s  %s\n", l.Times, l.Most, view.Visible(l.Rule()))
		say := func(text string) { fmt.Fprintf(&b, "           %s\n", text) }
		if card.Questions > 0 {
			say(fmt.Sprintf(a.Text.Of("answers %d of %d questions so far"), about.Answers, card.Questions))
		}
		if about.Worst != "" {
			say(view.Joined(a.Text.Of("at worst"), ": ", about.Worst))
		}
	}
	b.WriteString("\n")
	if card.Questions > 0 {
		said := a.Text.Of("It would have answered %d of the session's %d questions so far.\n\n")
		fmt.Fprintf(&b, said, card.Answered, card.Questions)
	}
	return b.String()
}
