package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A sessionsScreen lists the sessions of the project, to resume or fork one.
type sessionsScreen struct {
	list     list
	sessions []umpire.Session
	loaded   bool
	problem  string
}

// openSessions lists the sessions.
func openSessions(m *model, _ string) tea.Cmd {
	s := &sessionsScreen{}
	m.screen = s
	project, root := m.session.Project, m.session.Root
	return m.do(func(ctx context.Context) tea.Msg {
		found, err := m.conf.Gate.Sessions().List(ctx, umpire.SessionQuery{})
		found = slices.DeleteFunc(found, func(s umpire.Session) bool {
			return s.Project != project && s.Root != root || s.External // another agent resumes its sessions itself
		})
		return updateMsg(func() {
			if err != nil {
				s.problem = m.problem(err)
			}
			s.sessions, s.loaded = found, true
		})
	})
}

func (s *sessionsScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if leavesScreen(msg) || !isKey {
		return m.closeScreen()
	}
	chosen := s.list.at < len(s.sessions)
	switch key := k.String(); {
	case key == "enter" && chosen:
		m.closeScreen()
		return resumeSession(m, string(s.sessions[s.list.at].ID))
	case key == "f" && chosen:
		m.closeScreen()
		return forkSession(m, string(s.sessions[s.list.at].ID))
	default:
		s.list.press(key, m.height/2, len(s.sessions))
	}
	return nil
}

func (s *sessionsScreen) draw(m *model, width, height int) []string {
	rows := s.rows(m)
	s.list.title = m.text("Sessions of project") + " " + m.session.Project.Short()
	s.list.set(rows)
	empty := m.text("no sessions")
	if s.problem != "" {
		empty = s.problem
	}
	return s.list.draw(empty, m.text("j/k: move · Enter: resume · f: fork · Esc: back"), width, height)
}

// rows returns the sessions as a table; a star marks the current one.
func (s *sessionsScreen) rows(m *model) []string {
	var rows []string
	for i := range s.sessions {
		one := &s.sessions[i]
		mark := " "
		if one.ID == m.session.ID {
			mark = "*"
		}
		active := fmt.Sprintf(m.text("%s ago"), view.Age(m.conf.Now().Sub(one.ActiveAt)))
		rows = append(rows, drawCells(
			[]int{1, 18, 11, 8, 10}, mark, string(one.ID), m.conf.Text.Word("session state", string(one.State)),
			one.Mode.String(), active, one.Dir,
		))
	}
	return rows
}

func (s *sessionsScreen) readLines(m *model) ([]string, bool) {
	if s.problem != "" {
		return safeLines(s.problem), true
	}
	return s.rows(m), s.loaded
}
