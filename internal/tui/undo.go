package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// An Undo is a call that changed files, and can be taken back.
type Undo struct {
	ID      string
	Call    umpire.CallID
	Session umpire.SessionID
	At      time.Time
	Command string
	Paths   []string // that it changed
}

// An Undoer takes back what calls have changed.
type Undoer interface {
	// Undoable lists what can be taken back, the latest first.
	Undoable(ctx context.Context) ([]Undo, error)
	// Undo takes one of them back, by its id or its call's. It returns the id by which that can
	// be taken back in turn, and says what became of the files.
	Undo(ctx context.Context, id string) (again string, said []string, err error)
}

// An undoScreen asks which of several calls to take back.
type undoScreen struct {
	list list
	all  []Undo
}

// An undoableMsg is what can be taken back in the session and its sub-agents'.
type undoableMsg struct{ all []Undo }

// undoCall takes back what a call has changed: the one that is named, the only one, or one of
// a list.
func undoCall(m *model, words string) tea.Cmd {
	switch {
	case m.conf.Undo == nil:
		m.log.say(noteEntry, m.text("nothing of this session can be taken back"))
		return nil
	case m.turn.stop != nil:
		m.log.say(warningEntry, m.text("the agent works in this session: Esc stops it"))
		return nil
	case words != "":
		return m.takeBack(words)
	}
	list := m.listUndoable()
	return m.do(func(ctx context.Context) tea.Msg {
		all, err := list(ctx)
		switch {
		case err != nil:
			return noteMsg{err: err}
		case len(all) == 1:
			return m.undoNow(ctx, all[0].ID)
		}
		return undoableMsg{all}
	})
}

// listUndoable returns a function that lists what can be taken back here.
func (m *model) listUndoable() func(context.Context) ([]Undo, error) {
	family := map[umpire.SessionID]bool{m.session.ID: true}
	for id := range m.family {
		family[id] = true
	}
	return func(ctx context.Context) ([]Undo, error) {
		all, err := m.conf.Undo.Undoable(ctx)
		var here []Undo
		for i := range all {
			if family[all[i].Session] {
				here = append(here, all[i])
			}
		}
		return here, err
	}
}

func (b *base) takeBack(id string) tea.Cmd {
	return b.do(func(ctx context.Context) tea.Msg { return b.undoNow(ctx, id) })
}

// undoNow takes a call back, and says what became of its files.
func (b *base) undoNow(ctx context.Context, id string) tea.Msg {
	again, said, err := b.conf.Undo.Undo(ctx, id)
	if err != nil {
		return noteMsg{err: err}
	}
	said = append(said, b.textf("To have it again: /undo %s", again))
	return noteMsg{text: strings.Join(said, "\n")}
}

func (msg undoableMsg) apply(m *model) {
	if len(msg.all) == 0 {
		m.log.say(noteEntry, m.text("nothing of this session can be taken back"))
		return
	}
	m.screen = &undoScreen{all: msg.all}
}

func (s *undoScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if leavesScreen(msg) || !isKey {
		return m.closeScreen()
	}
	if k.String() == "enter" && s.list.at < len(s.all) {
		m.closeScreen()
		return m.takeBack(s.all[s.list.at].ID)
	}
	s.list.press(k.String(), m.height/2, len(s.all))
	return nil
}

func (s *undoScreen) draw(m *model, width, height int) []string {
	s.list.title = m.text("Changes of this session that can be taken back")
	s.list.set(s.rows(m))
	return s.list.draw("", m.text("j/k: move · Enter: take it back · Esc: back"), width, height)
}

// rows are the calls in a table, with the paths that they changed.
func (s *undoScreen) rows(m *model) []string {
	var rows []string
	for i := range s.all {
		u := &s.all[i]
		age := fmt.Sprintf(m.text("%s ago"), view.Age(m.conf.Now().Sub(u.At)))
		rows = append(rows, drawCells([]int{18, 10, 30}, u.ID, age, u.Command, strings.Join(u.Paths, " ")))
	}
	return rows
}

func (s *undoScreen) readLines(m *model) ([]string, bool) { return s.rows(m), true }
