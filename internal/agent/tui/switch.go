package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
)

// A switchedMsg says that the chat has switched to another session.
type switchedMsg struct {
	session umpire.Session
	before  earlier
	err     error
}

// resumeSession switches to another session: the named one, or one from a list.
func resumeSession(m *model, words string) tea.Cmd {
	if words == "" {
		return openSessions(m, "")
	}
	return m.change(func(ctx context.Context) (umpire.Session, error) {
		return m.conf.Host.Resume(ctx, umpire.SessionID(words))
	})
}

// forkSession starts a session with the conversation of this one, or of the named one.
func forkSession(m *model, words string) tea.Cmd {
	id := m.session.ID
	if words != "" {
		id = umpire.SessionID(words)
	}
	return m.change(func(ctx context.Context) (umpire.Session, error) { return m.conf.Host.Fork(ctx, id) })
}

// change goes to another session, unless the agent works in this one.
func (m *model) change(to func(context.Context) (umpire.Session, error)) tea.Cmd {
	if m.turn.stop != nil {
		m.log.say(warningEntry, m.text("the agent is working in this session: Esc stops it"))
		return nil
	}
	return m.do(func(ctx context.Context) tea.Msg {
		s, err := to(ctx)
		if err != nil {
			return switchedMsg{err: err}
		}
		return switchedMsg{session: s, before: m.readEarlier(ctx, s.ID)}
	})
}

// switched begins with another session as if the chat had been started with it.
func (m *model) switched(msg switchedMsg) tea.Cmd {
	if msg.err != nil {
		m.log.say(warningEntry, m.problem(msg.err))
		return nil
	}
	m.session, m.screen, m.events = msg.session, nil, nil
	m.family = map[umpire.SessionID]bool{msg.session.ID: true}
	m.ask, m.facts, m.scroll = approval{base: m.base}, facts{}, 0
	m.log, m.before = transcript{}, msg.before
	m.conf.Session, m.conf.Resumed, m.conf.Task = msg.session, true, ""
	return m.Init()
}
