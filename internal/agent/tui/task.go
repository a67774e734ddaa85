package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
)

// A taskScreen shows a task drafted from the questions of a session. The person changes its lines, and approves it
// after all of them were on the screen.
type taskScreen struct {
	session umpire.Session
	desk    task.Desk
	card    *task.Card // nil until it is there
	left    []string   // calls that no line can allow
	at      int        // the chosen line of the screen
	ends    []int      // the line after each row, as drawn last
	top     int        // the first line on the screen
	seen    int        // so many lines were on the screen, from the first on
	code    string     // to be typed; "" if not asked for
	field   textinput.Model
	shown   time.Time // when the card was last new
	busy    bool
	problem string
}

// openTask drafts a task for the session of the chat.
func openTask(m *model, _ string) tea.Cmd { return openTaskOf(m, m.session, "") }

// openTaskOf drafts a task for a session, or a wider one than the task with an id.
func openTaskOf(m *model, session umpire.Session, old string) tea.Cmd {
	if m.conf.Tasks == nil {
		m.log.say(noteEntry, m.text("a task cannot be approved here; see umpire task"))
		return nil
	}
	s := &taskScreen{session: session, busy: true}
	m.screen = s
	return s.describe(m, func(ctx context.Context) tea.Msg {
		desk, err := m.conf.Tasks(ctx, &s.session)
		if err != nil {
			return s.show(m, nil, nil, err)
		}
		s.desk = desk
		made, left := desk.Draft(s.find(ctx, m, old))
		card, err := desk.Describe(ctx, &made)
		return s.show(m, card, left, err)
	})
}

// find returns the task in force that has an id, or nil.
func (s *taskScreen) find(ctx context.Context, m *model, id string) *task.Task {
	all, _ := m.conf.Gate.Grants().List(ctx, s.session.Root) // without it, the draft has no lines of an old one
	for i := range all {
		if all[i].ID != id || id == "" {
			continue
		}
		if old, err := task.Parse(all[i].TaskText); err == nil {
			return &old
		}
	}
	return nil
}

// describe works on the card, and has the screen drawn again when its keys begin to count.
func (s *taskScreen) describe(m *model, work func(context.Context) tea.Msg) tea.Cmd {
	worked := m.do(work)
	return func() tea.Msg {
		msg := worked()
		return tea.BatchMsg{func() tea.Msg { return msg }, m.redraw(settleTime)}
	}
}

// settled reports whether the card has been there long enough to be approved.
func (s *taskScreen) settled(m *model) bool { return m.conf.Now().Sub(s.shown) >= settleTime }

// show takes the card of the task as it is now.
func (s *taskScreen) show(m *model, card *task.Card, left []string, err error) tea.Msg {
	return updateMsg(func() {
		s.busy, s.problem, s.seen, s.ends = false, "", 0, nil
		if err != nil {
			s.problem = m.problem(err)
			return
		}
		s.card, s.left, s.shown = card, left, m.conf.Now()
		if len(card.Task.Lines) == 0 {
			s.problem = m.text("nothing in this session has asked yet, so there is no draft")
		}
	})
}

func (s *taskScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	switch {
	case !isKey:
		return nil
	case s.code != "":
		return s.pressCode(m, k)
	case leavesScreen(msg):
		return m.closeScreen()
	case s.busy || s.card == nil || len(s.card.Task.Lines) == 0:
		return nil
	}
	s.problem = ""
	switch key := k.String(); key {
	case "y":
		if s.settled(m) {
			return s.confirm(m)
		}
	case "+", "-", "x":
		if row := s.row(); row < len(s.card.Task.Lines) {
			return s.change(m, row, key)
		}
	default:
		moved := list{at: s.at}
		moved.press(key, m.height/scopeLines, s.length())
		s.at = moved.at
	}
	return nil
}

// length returns the number of lines.
func (s *taskScreen) length() int {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// row returns the row of the chosen line.
func (s *taskScreen) row() int {
	row, _ := slices.BinarySearch(s.ends, s.at+1)
	return row
}

// change changes the chosen line, and has the task described as it is then.
func (s *taskScreen) change(m *model, row int, key string) tea.Cmd {
	made := s.card.Task
	made.Lines = slices.Clone(made.Lines)
	switch line := &made.Lines[row]; key {
	case "+":
		line.Times *= 2
	case "-":
		line.Times = max(1, line.Times/2)
	case "x":
		if made.Lines = slices.Delete(made.Lines, row, row+1); len(made.Lines) == 0 {
			return m.closeScreen()
		}
	}
	s.busy = true
	return s.describe(m, func(ctx context.Context) tea.Msg {
		made, err := task.Parse(made.String())
		if err != nil {
			return s.show(m, nil, nil, err)
		}
		card, err := s.desk.Describe(ctx, &made)
		return s.show(m, card, s.left, err)
	})
}

// confirm approves the task if all of it was on the screen. One that lets data leave or get lost needs a code.
func (s *taskScreen) confirm(m *model) tea.Cmd {
	if len(s.ends) == 0 || s.seen < s.length() {
		s.problem = m.text("scroll to the last line first: j")
		return nil
	}
	if s.card.Risky || s.card.Task.Most().AtLeast(umpire.Outward) {
		s.code, s.field = m.conf.TaskCode(), newField("")
		return nil
	}
	return s.approve(m)
}

// pressCode takes a key while the code is asked for.
func (s *taskScreen) pressCode(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		s.code = ""
		return nil
	case "enter":
		if typed := trimTyped(s.field.Value()); typed != s.code {
			s.code, s.problem = "", m.text("wrong code: nothing was approved")
			return nil
		}
		s.code = ""
		return s.approve(m)
	}
	var cmd tea.Cmd
	s.field, cmd = s.field.Update(k)
	return cmd
}

// approve approves the text that the screen shows.
func (s *taskScreen) approve(m *model) tea.Cmd {
	t := s.card.Task
	s.busy = true
	return m.do(func(ctx context.Context) tea.Msg {
		approved, err := m.conf.Gate.Grants().ApproveTask(ctx, umpire.TaskApproval{
			Session: s.session.ID, Text: t.String(), Digest: t.Digest(),
		})
		return updateMsg(func() {
			if s.busy = false; err != nil {
				s.problem = m.problem(err)
				return
			}
			id := approved[0].ID
			m.log.say(noteEntry, strings.TrimSpace(m.textf("approved %s; to end it: umpire task end %s\n", id, id)))
			m.screen = nil
		})
	})
}

func (s *taskScreen) draw(m *model, width, height int) []string {
	hint := m.text("y: approve · j/k: move · + -: more or fewer calls · x: remove a line · Esc: back")
	switch {
	case s.code != "":
		s.field.SetWidth(len(s.code) + 1)
		hint = m.textf("Type %s and Enter", s.code) + ": " + fieldView(&s.field, "")
	case s.problem != "":
		hint = s.problem
	case s.busy || !s.settled(m):
		hint = "…"
	}
	title, rows := s.rows(m)
	var lines []string
	chosen := s.row()
	s.ends = nil
	for i, row := range rows {
		mark, style := "  ", plainStyle
		if i == chosen {
			mark, style = "› ", boldStyle
		}
		lines = append(lines, paintLines(style, indentLines(mark, row[:1], width))...)
		lines = append(lines, paintLines(dimStyle, indentLines("    ", row[1:], width))...)
		s.ends = append(s.ends, len(lines))
	}
	room := max(1, height-3)
	s.at = max(0, min(s.at, len(lines)-1))
	s.top = max(0, min(s.top, s.at, len(lines)-room), s.at-room+1)
	shown := lines[s.top:min(s.top+room, len(lines))]
	if s.top <= s.seen {
		s.seen = max(s.seen, s.top+len(shown))
	}
	head := []string{boldStyle.Render(cutLine(title, width)), ""}
	return append(fillHeight(append(head, shown...), height-1), boldStyle.Render(cutLine(hint, width)))
}

// rows returns the title of the screen, and its rows: the lines of the task, each with the questions that it answers
// and the worst call that it allows, and the calls that no line can allow.
func (s *taskScreen) rows(m *model) (title string, rows [][]string) {
	title = m.text("Approve a task")
	if s.card == nil {
		return title, nil
	}
	t := &s.card.Task
	title += ": " + view.Visible(t.Title) + " · " + view.Age(t.For)
	for i := range t.Lines {
		l, about := &t.Lines[i], &s.card.Lines[i]
		most := m.conf.Text.Word("consequence", l.Most.String())
		row := []string{
			drawCells([]int{4, 10}, fmt.Sprint(l.Times, "x"), most, l.Rule()),
			m.textf("answers %d of %d questions so far", about.Answers, s.card.Questions),
		}
		if about.Worst != "" {
			row = append(row, view.Joined(m.text("at worst"), ": ", about.Worst))
		}
		rows = append(rows, row)
	}
	for _, call := range s.left {
		rows = append(rows, []string{view.Joined(m.text("always asks"), ": ", view.Visible(call))})
	}
	return title, rows
}

// readLines returns the draft, and how to approve it, which takes a screen or a file.
func (s *taskScreen) readLines(m *model) ([]string, bool) {
	if s.problem != "" {
		return safeLines(s.problem), !s.busy
	}
	title, rows := s.rows(m)
	lines := append([]string{title}, slices.Concat(rows...)...)
	how := m.textf("To approve it: umpire task draft --session %s > task.txt, then umpire task approve task.txt",
		s.session.ID)
	return append(lines, how), !s.busy
}
