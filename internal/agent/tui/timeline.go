package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A timelineScreen shows the events of the session and its sub-agents, as they happen.
type timelineScreen struct {
	list list
	open bool // the chosen event is shown in full
	// undo maps calls to their records that can be undone, once known.
	undo map[umpire.CallID]string
}

// openTimeline opens the timeline, and loads the list of undoable changes, which it marks.
func openTimeline(m *model, _ string) tea.Cmd {
	s := newTimeline()
	m.screen = s
	if m.conf.Undo == nil {
		return nil
	}
	list := m.listUndoable()
	return m.do(func(ctx context.Context) tea.Msg {
		all, err := list(ctx)
		return updateMsg(func() {
			if err != nil && m.screen == s {
				m.log.say(warningEntry, m.problem(err))
			}
			s.undo = map[umpire.CallID]string{}
			for i := range all {
				s.undo[all[i].Call] = all[i].ID
			}
		})
	})
}

func newTimeline() *timelineScreen { return &timelineScreen{list: list{follow: true, at: maxEvents}} }

func (s *timelineScreen) update(m *model, msg tea.Msg) tea.Cmd {
	if leavesScreen(msg) && !s.open {
		return m.closeScreen()
	}
	k, isKey := msg.(tea.KeyPressMsg)
	switch {
	case !isKey:
	case leavesScreen(msg) || k.String() == "enter":
		s.open = !s.open && !leavesScreen(msg)
	case !s.open:
		s.list.press(k.String(), m.height/2, len(m.events))
	}
	return nil
}

func (s *timelineScreen) draw(m *model, width, height int) []string {
	rows := s.rows(m)
	s.list.title = m.text("Timeline") + "  " + string(m.session.ID)
	s.list.set(rows)
	if s.open && len(rows) > 0 {
		lines := append([]string{boldStyle.Render(cutLine(s.list.title, width)), ""}, foldLines(s.inFull(m), width)...)
		return append(fillHeight(lines, height-1), dimStyle.Render(cutLine(m.text("Esc: back"), width)))
	}
	return s.list.draw(
		m.text("nothing has happened yet"), m.text("j/k: move · Enter: in full · Esc: back"), width, height,
	)
}

func (s *timelineScreen) rows(m *model) []string {
	rows := make([]string, len(m.events))
	for i := range m.events {
		e := &m.events[i]
		rows[i] = m.eventLine(e)
		if id := s.undo[e.Call]; id != "" && e.Kind == umpire.EventCallFinished {
			rows[i] += "  " + m.textf("you can undo: %s", undoCommand(m.base, id))
		}
	}
	return rows
}

// inFull is the chosen event and everything that is known of it.
func (s *timelineScreen) inFull(m *model) []string {
	e := &m.events[s.list.at]
	lines := []string{m.eventLine(e), ""}
	for _, line := range view.EventDetail(e, m.conf.Text) {
		lines = append(lines, "  "+line)
	}
	return lines
}

// readEvents is how many of the last events are read out.
const readEvents = 50

func (s *timelineScreen) readLines(m *model) ([]string, bool) {
	rows := s.rows(m)
	return rows[max(0, len(rows)-readEvents):], m.conf.Undo == nil || s.undo != nil
}
