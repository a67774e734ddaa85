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

// An Undo is an undoable call that changed files.
type Undo struct {
	ID      string
	Call    umpire.CallID
	Session umpire.SessionID
	At      time.Time
	Command string
	Paths   []string // that it changed
}

// An Undoer undoes the changes of calls.
type Undoer interface {
	// Undoable lists the changes that can be undone, the latest first.
	Undoable(ctx context.Context) ([]Undo, error)
	// Undo undoes one of them, by its id or its call's. It returns the id with which that can
	// be undone in turn, and lines that describe the result for the files.
	Undo(ctx context.Context, id string) (again string, said []string, err error)
}

// An undoScreen asks which of several calls to undo.
type undoScreen struct {
	list list
	all  []Undo
	at   time.Time // when it was opened
}

// undoCall undoes the changes of a call: the named one, the only one, or one chosen from a
// list.
func undoCall(m *model, words string) tea.Cmd {
	switch {
	case m.conf.Undo == nil:
		m.log.say(noteEntry, m.text("nothing to undo in this session"))
		return nil
	case m.turn.stop != nil:
		m.log.say(warningEntry, m.text("the agent is working in this session: Esc stops it"))
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
		return updateMsg(func() { chooseUndo(m, all) })
	})
}

// openUndo asks which call of any session to undo, the latest first, even if there is only one.
func openUndo(m *model) tea.Cmd {
	if m.conf.Undo == nil {
		return nil
	}
	return m.do(func(ctx context.Context) tea.Msg {
		all, err := m.conf.Undo.Undoable(ctx)
		if err != nil {
			return noteMsg{err: err}
		}
		return updateMsg(func() { chooseUndo(m, all) })
	})
}

// listUndoable returns a function that lists the undoable changes for this screen.
func (m *model) listUndoable() func(context.Context) ([]Undo, error) {
	family := map[umpire.SessionID]bool{m.session.ID: true}
	for id := range m.family {
		family[id] = true
	}
	everywhere := m.queue != nil
	return func(ctx context.Context) ([]Undo, error) {
		all, err := m.conf.Undo.Undoable(ctx)
		if everywhere {
			return all, err
		}
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

// undoNow undoes a call, and describes the result for its files.
func (b *base) undoNow(ctx context.Context, id string) tea.Msg {
	again, said, err := b.conf.Undo.Undo(ctx, id)
	if err != nil {
		return noteMsg{err: err}
	}
	said = append(said, b.textf("To redo it: %s", undoCommand(b, again)))
	return noteMsg{text: strings.Join(said, "\n")}
}

// undoCommand returns the command with which the person undoes a change.
func undoCommand(b *base, id string) string {
	if b.conf.Inbox {
		return "umpire undo " + id
	}
	return "/undo " + id
}

// chooseUndo asks which of the changes to undo.
func chooseUndo(m *model, all []Undo) {
	if len(all) == 0 {
		nothing := m.text("nothing to undo in this session")
		if m.queue != nil {
			nothing = m.text("nothing to undo")
		}
		m.log.say(noteEntry, nothing)
		return
	}
	m.screen = &undoScreen{all: all, at: m.conf.Now()}
}

func (s *undoScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if leavesScreen(msg) || !isKey {
		return m.closeScreen()
	}
	if m.queue != nil && (m.conf.Now().Sub(s.at) < settleTime || isWordKey(k)) {
		s.at = m.conf.Now() // typing a word does not undo
		return nil
	}
	if k.String() == "enter" && s.list.at < len(s.all) {
		m.closeScreen()
		return m.takeBack(s.all[s.list.at].ID)
	}
	s.list.press(k.String(), m.height/2, len(s.all))
	return nil
}

// isWordKey reports whether a key types a character and does not move the selection.
func isWordKey(k tea.KeyPressMsg) bool { return k.Text != "" && k.Text != "j" && k.Text != "k" }

func (s *undoScreen) draw(m *model, width, height int) []string {
	s.list.title = m.text("Changes of this session you can undo")
	if m.queue != nil {
		s.list.title = m.text("Changes you can undo")
	}
	s.list.set(s.rows(m))
	return s.list.draw("", m.text("j/k: move · Enter: undo · Esc: back"), width, height)
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
