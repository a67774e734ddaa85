package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A model is the state of the screen. Update changes it, commands work and report back
// with messages, and View draws it.
type model struct {
	*base
	// beginTurn starts a turn. The function that it returns ends the turn.
	beginTurn func(s umpire.Session, task string) (stop func(), report tea.Cmd)
	handler   *TurnHandler
	// standing returns a function that reads the state of the gate.
	standing func() func(context.Context) refreshMsg
	queue    *queue // of an inbox; nil in a chat

	before earlier
	input  textarea.Model
	wrote  wrote
	screen screen // in front of the conversation; may be nil

	turn   turn
	ask    approval
	facts  facts
	events []umpire.Event // of the session and its sub-agents, the oldest first
	family map[umpire.SessionID]bool

	refreshing, stale bool      // a state request is running; the state has changed since it began
	quitAt            time.Time // until when another Ctrl+C quits
	leaving           bool
	over              bool // the one turn of this chat has ended
}

// A screen covers the conversation until the person leaves it.
type screen interface {
	// update takes a key or a paste.
	update(m *model, msg tea.Msg) tea.Cmd
	// draw returns at most height lines.
	draw(m *model, width, height int) []string
	// readLines returns the text line by line, once it is loaded.
	readLines(m *model) (lines []string, loaded bool)
}

// maxInputLines is how many lines of a message are seen at once.
const maxInputLines = 5

func newModel(conf Config) *model {
	if conf.Now == nil {
		conf.Now = time.Now
	}
	b := &base{conf: conf, session: conf.Session, reach: earlierShown, width: 80, height: 24}
	m := &model{
		base: b, ask: approval{base: b},
		family: map[umpire.SessionID]bool{conf.Session.ID: true},
	}
	if conf.Tasks != nil {
		m.ask.openTask = func(s umpire.Session, wider string) tea.Cmd { return openTaskOf(m, s, wider) }
	}
	m.standing = func() func(context.Context) refreshMsg {
		id, project := m.session.ID, m.session.Project
		return func(ctx context.Context) refreshMsg { return readStanding(ctx, m.conf.Gate, id, project) }
	}
	m.input = textarea.New()
	m.input.SetPromptFunc(len(prompt), func(line textarea.PromptInfo) string {
		return map[bool]string{true: prompt, false: strings.Repeat(" ", len(prompt))}[line.LineNumber == 0]
	})
	m.input.ShowLineNumbers = false
	m.input.CharLimit = maxMessage
	m.input.DynamicHeight, m.input.MinHeight, m.input.MaxHeight = true, 1, maxInputLines
	m.input.MaxContentHeight = 1000
	m.input.Placeholder = m.text("Message, or /help")
	m.input.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("shift+enter", "alt+enter", "ctrl+j"))
	m.input.KeyMap.Paste = key.NewBinding() // terminals paste by themselves; this would start a program
	m.input.SetVirtualCursor(false)
	m.input.SetStyles(textarea.Styles{Focused: inputStyle(), Blurred: inputStyle()})
	m.input.Focus()
	m.input.SetWidth(m.width)
	return m
}

// prompt precedes the message being written.
const prompt = "> "

// maxMessage bounds a message of the user, in characters.
const maxMessage = 200_000

func inputStyle() textarea.StyleState {
	return textarea.StyleState{Prompt: userStyle, Placeholder: dimStyle, Text: lipgloss.NewStyle()}
}

// Init loads the open questions and the history, and starts with the first message, if any.
func (m *model) Init() tea.Cmd {
	commands := []tea.Cmd{m.refresh(), m.history()}
	m.sayEarlier(m.before)
	m.before = earlier{}
	m.welcome()
	switch {
	case m.conf.Task != "":
		m.log.say(userEntry, m.conf.Task)
		commands = append(commands, m.startTurn(m.conf.Task))
	case m.conf.Resumed:
		commands = append(commands, m.startTurn(""))
	}
	return tea.Batch(commands...)
}

// welcome names the session.
func (b *base) welcome() {
	what := b.text("session %s of project %s")
	if b.conf.Resumed {
		what = b.text("resuming session %s of project %s")
	}
	b.log.say(noteEntry, fmt.Sprintf(what, b.session.ID, b.session.Project.Short())+"  "+b.session.Dir)
}

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer m.noteSeen()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, minWidth), max(msg.Height, minHeight)
		m.input.SetWidth(m.width)
		return m, m.repaint()
	case repaintMsg:
		return m, tea.ClearScreen
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tickMsg:
		return m, m.ticked()
	case settledMsg: // drawn again, with keys that count
	default:
		return m, m.held(msg)
	}
	return m, nil
}

// held handles a report. If the person has scrolled up, it keeps the visible lines in
// place.
func (m *model) held(msg tea.Msg) tea.Cmd {
	if m.scroll == 0 || m.anchored {
		return m.handleReport(msg)
	}
	before := m.pane().length()
	cmd := m.handleReport(msg)
	if m.scroll > 0 {
		m.scroll = max(1, m.scroll+m.pane().length()-before)
	}
	return cmd
}

// A repaintMsg has the whole screen drawn again.
type repaintMsg struct{}

// repaintAfter is when the screen is drawn a second time after its size has changed.
const repaintAfter = 300 * time.Millisecond

// repaint redraws the whole screen after a change of its size, because the terminal may
// have altered the old one. It does so again a moment later, because some terminals report
// a new size too early.
func (b *base) repaint() tea.Cmd {
	if b.still {
		return tea.ClearScreen
	}
	return tea.Batch(tea.ClearScreen, tea.Tick(repaintAfter, func(time.Time) tea.Msg { return repaintMsg{} }))
}

// A screen smaller than this is drawn as if it were as large, and cut by the terminal.
const (
	minWidth  = 20
	minHeight = 5
)

// handleReport handles the messages of commands and the turn.
func (m *model) handleReport(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case sayingMsg:
		m.turn.saying = m.handler.currentReply()
	case againMsg:
		m.turn.saying = m.handler.currentReply()
		m.log.say(noteEntry, m.text("the reply broke off, and the model is asked again"))
	case saidMsg:
		m.turn.saying = ""
		m.log.say(assistantEntry, msg.text)
	case endedMsg:
		m.sayCall(msg)
		m.turn.ended(msg.call.ID)
	case outputMsg:
		m.turn.printed(msg)
	case turnMsg:
		return m.turnEnded(msg)
	case refreshMsg:
		return m.refreshed(msg)
	case historyMsg:
		m.remember(msg)
	case watchMsg:
		return m.watched(msg)
	case answeredMsg:
		return m.answered(msg)
	case noteMsg:
		m.showNote(msg)
	case heldMsg:
		return msg.command(m)
	case switchedMsg:
		return m.switched(msg)
	case updateMsg:
		msg()
	}
	return nil
}

// An updateMsg is a message that applies itself: loaded data of a screen. One for a screen that was
// left meanwhile has no effect.
type updateMsg func()

// A noteMsg is a line for the transcript; an error is shown as one.
type noteMsg struct {
	text string
	err  error
}

func (b *base) showNote(msg noteMsg) {
	if msg.err != nil {
		b.log.say(warningEntry, b.problem(msg.err))
		return
	}
	if msg.text != "" {
		b.log.say(noteEntry, msg.text)
	}
}

// press takes a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return m.interrupt()
	}
	m.quitAt = time.Time{}
	if m.screen != nil {
		return m.screen.update(m, k)
	}
	switch k.String() {
	case "pgup", "pgdown":
		m.ask.complaint = "" // it takes room that the card needs
		m.pane().scrollBy(m.room(), k.String() == "pgup")
		return nil
	case "space", "home", "end", "?":
		if m.onCard() && m.ask.held == "" && m.ask.step.takesPaging() {
			return pageCard(m, k.String())
		}
	}
	if m.queue != nil {
		if cmd, taken := pressInbox(m, k); taken {
			return cmd
		}
	}
	if m.onCard() {
		return m.pressCard(k)
	}
	return m.pressInput(k)
}

// pageCard takes a key that reads on in a card.
func pageCard(m *model, key string) tea.Cmd {
	m.ask.complaint = ""
	switch key {
	case "space":
		m.pane().scrollBy(m.room(), false)
	case "home":
		m.showTop()
	case "end":
		m.scroll, m.anchored = 0, false
	case "?":
		return m.openScreen(&helpScreen{})
	}
	return nil
}

// pressCard takes a key while a card has the focus. If the key begins a message, it is
// written there instead.
func (m *model) pressCard(k tea.KeyPressMsg) tea.Cmd {
	a := &m.ask
	if a.step == stepNone && a.typing(k) {
		m.input.InsertString(a.held + k.Text)
		a.held, a.focused = "", false
		return nil
	}
	cmd := a.press(k)
	if m.hasty && a.held != "" {
		cmd = heldUntil(a).command(m)
	}
	m.judge()
	return cmd
}

// asked handles the list of open questions.
func (m *model) asked(list []umpire.Pending, sessions map[umpire.SessionID]umpire.Session) tea.Cmd {
	before := m.ask.card
	cmd := m.ask.takePending(list, sessions, m.input.Value() != "")
	m.judge()
	if m.ask.card == nil || m.ask.card == before {
		return cmd
	}
	return tea.Batch(m.tick(), cmd)
}

// answered handles the result of an answer.
func (m *model) answered(msg answeredMsg) tea.Cmd {
	a := &m.ask
	a.state = cardIdle
	for i := range msg.given {
		a.sayAnswer(&msg.answer, &msg.given[i])
		a.drop(msg.given[i].Request)
	}
	if late, is := errors.AsType[*umpire.ResolvedError](msg.err); is {
		m.log.say(noteEntry, view.DescribeStanding(late.Standing, m.conf.Text))
	} else if msg.err != nil {
		a.complaint = m.problem(msg.err)
		return m.refresh()
	}
	if len(msg.given) == 0 && msg.err == nil {
		return m.refresh()
	}
	return tea.Batch(m.asked(a.list, a.sessions), m.refresh())
}

// paste takes pasted text. It never answers a question.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.screen != nil:
		return m.screen.update(m, msg)
	case m.onCard():
		return m.ask.paste(msg)
	case m.queue != nil:
		return nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return cmd
}

// pressInput takes a key of a message that is being written.
func (m *model) pressInput(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		return m.submit()
	case "up", "down":
		if m.wrote.recall(&m.input, k.String() == "up") {
			return nil
		}
	case "tab":
		if m.ask.isOpen() {
			m.ask.focused = true
			return nil
		}
	case "esc":
		return m.cancelTurn()
	case "ctrl+d":
		if m.input.Value() == "" {
			return m.quit()
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(k)
	return cmd
}

// quitTime is within which a second Ctrl+C quits.
const quitTime = 2 * time.Second

// interrupt clears the message field, or else stops the turn, or if nothing is running,
// quits when pressed twice.
func (m *model) interrupt() tea.Cmd {
	now := m.conf.Now()
	if now.Before(m.quitAt) {
		return m.quit()
	}
	if m.screen == nil && !m.onCard() && m.input.Value() != "" {
		m.wrote.rememberMessage(m.input.Value())
		m.input.Reset()
		return nil
	}
	m.quitAt = now.Add(quitTime)
	if m.turn.stop != nil && !m.turn.stopping && !m.ask.isOpen() {
		return tea.Batch(m.cancelTurn(), m.redraw(quitTime))
	}
	return m.redraw(quitTime)
}

// onCard reports whether keys are for a card.
func (m *model) onCard() bool { return m.ask.isOpen() && m.ask.focused }

// quit leaves the chat. It ends a running turn, and open questions stay open.
func (m *model) quit() tea.Cmd {
	m.leaving = true
	if m.turn.stop != nil {
		m.turn.stop()
	}
	return tea.Quit
}
