package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// Facts are the contents of the status line.
type facts struct {
	state   umpire.PermissionState
	kind    umpire.PermissionType
	risk    string
	blocked *umpire.Blocked
	problem string // why the gate cannot be reached, or ""
}

// A refreshMsg has the state of the gate.
type refreshMsg struct {
	session umpire.Session
	pending []umpire.Pending
	family  map[umpire.SessionID]umpire.Session
	since   time.Time // the gate runs; of an inbox only
	err     error
}

// refresh asks the gate for its state, one request at a time.
func (m *model) refresh() tea.Cmd {
	if m.refreshing {
		m.stale = true
		return nil
	}
	m.refreshing, m.stale = true, false
	read := m.standing()
	return m.do(func(ctx context.Context) tea.Msg { return read(ctx) })
}

// readStanding reads a session with the questions that wait in it and in its sub-agents.
func readStanding(ctx context.Context, gate umpire.Gate, id umpire.SessionID, project umpire.ProjectID) refreshMsg {
	s, err := gate.Sessions().Get(ctx, id)
	if err != nil {
		return refreshMsg{err: err}
	}
	found := refreshMsg{session: s, family: map[umpire.SessionID]umpire.Session{id: s}}
	all, err := gate.Pending(ctx, umpire.PendingQuery{Project: project})
	if err != nil {
		return refreshMsg{err: err}
	}
	strangers := map[umpire.SessionID]bool{}
	for i := range all {
		if belongsTo(ctx, gate.Sessions(), found.family, strangers, all[i].Session) {
			found.pending = append(found.pending, all[i])
		}
	}
	return found
}

// maxDepth bounds how deep sub-agents of sub-agents are followed.
const maxDepth = 8

// belongsTo reports whether a session is of the family: it, or one that it descends from.
func belongsTo(
	ctx context.Context, sessions umpire.SessionReader, family map[umpire.SessionID]umpire.Session,
	strangers map[umpire.SessionID]bool, id umpire.SessionID,
) bool {
	var line []umpire.Session
	for next := id; len(line) < maxDepth; {
		if _, known := family[next]; known {
			for _, s := range line {
				family[s.ID] = s
			}
			return true
		}
		if strangers[next] || next == "" {
			break
		}
		s, err := sessions.Get(ctx, next)
		if err != nil {
			break
		}
		line, next = append(line, s), s.Parent
	}
	strangers[id] = true
	return false
}

// refreshed applies the state of the gate.
func (m *model) refreshed(msg refreshMsg) tea.Cmd {
	m.refreshing = false
	again := tea.Cmd(nil)
	if m.stale {
		again = m.refresh()
	}
	if msg.err != nil {
		m.facts.problem = m.problem(msg.err)
		return again
	}
	if msg.session.ID != m.session.ID {
		return again // of the session before this one
	}
	epoch := m.session.Epoch
	m.session = msg.session
	m.session.Epoch = epoch // the epoch of this process, even if another one runs the session now
	for id := range msg.family {
		m.family[id] = true
	}
	m.facts.problem = ""
	if m.queue != nil {
		m.queue.since = msg.since
	}
	return tea.Batch(again, m.asked(msg.pending, msg.family))
}

// judge updates the status line.
func (m *model) judge() {
	m.facts.state, m.facts.blocked = m.session.Permission, m.session.Blocked
	if m.facts.state == "" {
		m.facts.state = umpire.StateIdle
	}
	m.facts.kind, m.facts.risk = "", ""
	if p := m.ask.current(); p != nil {
		m.facts.state, m.facts.kind, m.facts.risk = umpire.StateWaiting, p.Type, p.Risk
		m.facts.blocked = &umpire.Blocked{Code: p.Code, Detail: p.Reason}
		return
	}
	for i := range slices.Backward(m.events) {
		if e := &m.events[i]; e.Type != "" {
			m.facts.kind, m.facts.risk = e.Type, e.Risk
			break
		}
	}
}

// blockedText says why a call does not run: in words if possible, or else by its code.
func (b *base) blockedText(blocked *umpire.Blocked) string {
	return cmp.Or(b.conf.Text.Reason(blocked.Detail), b.conf.Text.Word("code", string(blocked.Code)))
}

// draw draws the status line: the state of the permissions, and the session.
func (f *facts) draw(b *base, working bool) []string {
	state := f.state
	if !working && state != umpire.StateWaiting {
		state = umpire.StateIdle // the last decision is settled
	}
	first := []string{b.text("permission") + " " + b.conf.Text.Word("state", string(state))}
	if f.kind != "" && state != umpire.StateIdle {
		first = append(first, b.conf.Text.Word("type", string(f.kind)), b.text("risk "+f.risk))
	}
	blocked := state == umpire.StateWaiting || state == umpire.StateDenied
	if f.blocked != nil && blocked {
		first = append(first, view.Visible(b.blockedText(f.blocked)))
	}
	if f.problem != "" {
		first = append(first, view.Joined(b.text("gate"), ": ", view.Visible(f.problem)))
	}
	second := []string{
		b.text("project") + " " + view.Visible(view.ProjectName(b.session.Project, b.session.Root)),
		b.text("mode") + " " + b.session.Mode.String(),
		b.text("session") + " " + view.Visible(string(b.session.ID)),
	}
	if b.conf.Model != "" {
		second = append(second, view.Visible(b.conf.Model))
	}
	return []string{drawBar(first, b.width), drawBar(second, b.width)}
}

// drawBar is a line across the screen.
func drawBar(parts []string, width int) string {
	line := cutLine(" "+strings.Join(parts, " · "), width)
	return barStyle.Render(line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line))))
}

// A watchMsg is an event of the project. err says that watching was interrupted.
type watchMsg struct{ event umpire.Event }

// maxEvents bounds the events that a screen keeps.
const maxEvents = 2000

// watched handles an event.
func (m *model) watched(msg watchMsg) tea.Cmd {
	e := &msg.event
	if !m.family[e.Session] && m.queue == nil {
		// It may be a sub-agent's.
		if e.Kind == umpire.EventPermissionAsked || e.Kind == umpire.EventSessionOpened {
			return m.refresh()
		}
		return nil
	}
	if n := len(m.events); n > 0 && m.events[n-1].Seq >= e.Seq {
		return nil
	}
	m.events = append(m.events, *e)
	m.events = m.events[max(0, len(m.events)-maxEvents):]
	mine := e.Session == m.session.ID
	switch e.Kind { // the other kinds change only the gate's state
	case umpire.EventCallStarted:
		m.turn.started(e, m.commands(e))
	case umpire.EventCallFinished:
		m.turn.ended(e.Call)
	case umpire.EventModelRequested:
		if mine {
			m.log.sent()
		}
	case umpire.EventNotice, umpire.EventRulesDegraded, umpire.EventCallIndeterminate:
		m.log.say(warningEntry, strings.TrimSpace(string(e.Kind)+" "+e.Tool+" "+m.conf.Text.Reason(e.Reason)))
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		m.ask.answeredElsewhere(e)
	}
	return m.refresh()
}

// A historyMsg has the earlier events of the session.
type historyMsg struct {
	session umpire.SessionID
	events  []umpire.Event
}

// history reads the session's timeline.
func (b *base) history() tea.Cmd {
	id := b.session.ID
	return b.do(func(ctx context.Context) tea.Msg {
		events, err := b.conf.Gate.Events(ctx, umpire.Filter{Session: id})
		if err != nil {
			return noteMsg{err: err}
		}
		return historyMsg{id, events[max(0, len(events)-maxEvents):]}
	})
}

// remember adds the earlier events.
func (m *model) remember(msg historyMsg) {
	if msg.session != m.session.ID {
		return
	}
	after := int64(0)
	if n := len(msg.events); n > 0 {
		after = msg.events[n-1].Seq
		m.turn.resumeCall(m.base, msg.events)
	}
	for i := range m.events {
		if m.events[i].Seq > after {
			msg.events = append(msg.events, m.events[i])
		}
	}
	m.events = msg.events
	m.judge()
}

// accessText describes the accesses of an event.
func (b *base) accessText(e *umpire.Event) string {
	var about []string
	for i := range e.Accesses {
		about = append(about, view.AccessText(&e.Accesses[i], b.conf.Text))
	}
	return strings.Join(about, "; ")
}

// eventLine is an event as a person reads it.
func (b *base) eventLine(e *umpire.Event) string {
	parts := []string{fmt.Sprintf("%6d  %s  %-24s", e.Seq, e.At.Local().Format(time.TimeOnly), e.Kind)}
	by := ""
	if e.Actor != "" {
		by = fmt.Sprintf(b.conf.Text.Of("by %s"), e.Actor)
	}
	for _, part := range []string{
		e.Tool, b.conf.Text.Word("of risk", e.Risk), view.Outcome(e, b.conf.Text), by, b.accessText(e),
	} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Reason != "" {
		parts = append(parts, "- "+b.conf.Text.Reason(e.Reason))
	}
	return view.Visible(clipLong(strings.Join(parts, "  ")))
}
