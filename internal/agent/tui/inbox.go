package tui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// An Inbox shows the questions of all sessions on a terminal, whichever agent asks, and has
// them answered. Run it once.
type Inbox struct{ chat Chat }

// NewInbox returns an inbox that has not started. It does not need the session and the host
// of the configuration.
func NewInbox(conf Config) *Inbox {
	conf.Inbox = true
	return &Inbox{Chat{conf: conf}}
}

// Run shows the inbox on the whole screen until the person leaves or ctx ends, then restores
// the terminal. Open questions stay open.
func (i *Inbox) Run(ctx context.Context) error {
	s := newInboxScreen(i.chat.conf)
	return i.chat.show(ctx, s, s.model)
}

// An inboxScreen is the state of the inbox's screen: the model of a chat without a
// conversation, with the queue above the card.
type inboxScreen struct{ *model }

// A queue is the inbox's state of the questions of all sessions.
type queue struct {
	known map[umpire.RequestID]bool // the questions at the last read
	read  bool                      // it was read at least once
	word  bool                      // the last keys belong to a word
	since time.Time                 // when the gate started, if known
	only  umpire.ProjectID          // the shown project, or "" for all of the inbox's projects
}

// newInboxScreen returns the screen before anything is read.
func newInboxScreen(conf Config) *inboxScreen {
	m := newModel(conf)
	m.queue = &queue{}
	m.standing = func() func(context.Context) refreshMsg {
		known, project := maps.Clone(m.ask.sessions), cmp.Or(m.queue.only, conf.Session.Project)
		return func(ctx context.Context) refreshMsg { return readQueue(ctx, conf, project, known) }
	}
	return &inboxScreen{m}
}

// readQueue reads all that waits, with the sessions that are not known yet.
func readQueue(
	ctx context.Context, conf Config, project umpire.ProjectID, known map[umpire.SessionID]umpire.Session,
) refreshMsg {
	all, err := conf.Gate.Pending(ctx, umpire.PendingQuery{Project: project})
	if err != nil {
		return refreshMsg{err: err}
	}
	found := refreshMsg{pending: all, family: map[umpire.SessionID]umpire.Session{}}
	if conf.Serving && conf.Since != nil {
		found.since = conf.Since()
	}
	for i := range all {
		id := all[i].Session
		s, is := known[id]
		if !is {
			s, err = conf.Gate.Sessions().Get(ctx, id)
		}
		if is || err == nil {
			found.family[id] = s
		}
	}
	return found
}

// shownHistory is how many of the last events are read when the inbox begins.
const shownHistory = 500

// Init loads the open questions and the history.
func (s *inboxScreen) Init() tea.Cmd {
	id, project := s.session.ID, s.session.Project
	history := s.do(func(ctx context.Context) tea.Msg {
		events, err := s.conf.Gate.Events(ctx, umpire.Filter{Project: project, Last: shownHistory})
		if err != nil {
			return noteMsg{err: err}
		}
		return historyMsg{id, events}
	})
	return tea.Batch(s.refresh(), history, s.clock())
}

// clock has the ages move on.
func (s *inboxScreen) clock() tea.Cmd {
	if s.still {
		return nil
	}
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return clockMsg{} })
}

// A clockMsg arrives every second.
type clockMsg struct{}

// Update handles a message.
func (s *inboxScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var more tea.Cmd
	switch msg := msg.(type) {
	case clockMsg:
		more = s.clock()
		if s.facts.problem != "" { // the gate may be there again
			more = tea.Batch(more, s.refresh())
		}
		return s, more
	case refreshMsg:
		if msg.err == nil {
			more = s.announce(msg.pending)
		}
	}
	_, cmd := s.model.Update(msg)
	return s, tea.Batch(cmd, more)
}

// announce rings if there is a new question.
func (s *inboxScreen) announce(list []umpire.Pending) tea.Cmd {
	known := map[umpire.RequestID]bool{}
	var fresh *umpire.Pending
	for i := range list {
		known[list[i].Request] = true
		if !s.queue.known[list[i].Request] {
			fresh = &list[i]
		}
	}
	rings := s.queue.read && fresh != nil
	s.queue.known, s.queue.read = known, true
	if !rings || s.conf.Silent {
		return nil
	}
	signal := "\a"
	if s.conf.Notify != "" {
		// Notices name no command: a terminal may hand them to a whole desktop.
		text := view.Joined(s.conf.Text.Count(len(list), waitsText, waitText), ": ",
			view.Visible(fresh.Tool)+" · "+s.conf.Text.Word("of risk", fresh.Risk))
		signal += fmt.Sprintf(s.conf.Notify, strings.ReplaceAll(text, ";", ","))
	}
	return tea.Raw(signal)
}

// View draws the screen.
func (s *inboxScreen) View() tea.View {
	v := s.model.View()
	v.WindowTitle = "umpire watch"
	if n := len(s.ask.list); n > 0 {
		v.WindowTitle = fmt.Sprintf("(%d) %s", n, v.WindowTitle)
	}
	return v
}

// drawQueue draws the open questions, above the card of the current one.
func drawQueue(m *model) []string {
	if m.queue == nil || m.isLow() && m.onCard() {
		return nil
	}
	a := &m.ask
	if !a.isOpen() {
		return []string{drawInboxHead(m, m.text("nothing waits"))}
	}
	lines := []string{drawInboxHead(m, countWaiting(m))}
	room := max(1, m.height/5)
	first := max(0, min(a.at-room/2, len(a.list)-room))
	for i := first; i < min(first+room, len(a.list)); i++ {
		mark, style := "  ", dimStyle
		if i == a.at {
			mark, style = "▸ ", plainStyle
		}
		row := style.Render(drawQueueRow(m, &a.list[i], m.width-2))
		lines = append(lines, consequenceStyle(a.list[i].Consequence).Render(mark)+row)
	}
	return append(lines, "")
}

// drawQueueRow draws a question in one line: risk, project, agent, subject and age.
func drawQueueRow(m *model, p *umpire.Pending, width int) string {
	project := nameProject(m, p)
	age := view.Age(m.conf.Now().Sub(p.AskedAt))
	left := drawCells([]int{8, 12, 12}, m.conf.Text.Word("of risk", p.Risk),
		project, cmp.Or(p.Agent, "-"), titleOf(&m.ask, p))
	left = cutLine(left, width-len(age)-2)
	return left + strings.Repeat(" ", max(1, width-stringWidth(left)-len(age)-1)) + age
}

// drawInboxKeys draws the keys of an empty inbox.
func drawInboxKeys(m *model) []string {
	return []string{
		cutLine(" "+drawKeys(
			"u", m.text("undo"), "t", m.text("timeline"), "?", m.text("keys"), "q", m.text("leave"),
		), m.width),
	}
}

// pressInbox handles a key with a special meaning in the inbox, or one that is part of a word.
// The inbox has no message field, and a word does not answer.
func pressInbox(m *model, k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	a, now := &m.ask, m.conf.Now()
	free := a.step == stepNone && a.held == ""
	if m.queue.word = m.queue.word && !a.settled(); m.queue.word && k.Text != "" {
		a.shown = now // keys count again after the word
		return a.settle(), true
	}
	switch key := k.String(); {
	case key == "tab" && a.step == stepNone:
		return nil, true
	case free && key == "q":
		return m.quit(), true
	case free && (key == "T" || key == "t" && !offersTrial(a)):
		return openTimeline(m, ""), true
	case free && key == "u":
		return openUndo(m), true
	case free && key == "f":
		return filterProject(m), true
	case free && key == "?":
		return m.openScreen(&helpScreen{}), true
	case a.isOpen() && a.step == stepNone && a.typing(k):
		a.held, a.shown, m.queue.word = "", now, true
		a.complaint = m.text("words do not answer a card: press a single key")
		return a.settle(), true
	}
	return nil, !a.isOpen()
}

// inboxHelp lists the keys of an inbox with their actions.
var inboxHelp = [][2]string{
	{"j k", "next and previous question"},
	{"y s p g", "allow: once, for the session, as a rule of the project, as a rule everywhere"},
	{"a", "show how far each of these reaches"},
	{"Space", "scroll in a card; you can allow it after you have seen all of it"},
	{"w", "allow more: a subcommand, a folder or the tool"},
	{"n c", "deny, with an optional reason; cancel: deny and stop the turn"},
	{"t", "try it first, if the card offers it"},
	{"e v d o", "explain, raw input, fields beside the diff, folded parts"},
	{"Y", "allow all of the same risk once"},
	{"PgUp/PgDn", "scroll up or down"},
	{"u", "undo the changes of a call, the latest first"},
	{"f", "show only the project of this card, or all again"},
	{"t T", "show the timeline; t does this only if there is nothing to try"},
	{"q", "quit; waiting calls keep waiting"},
}

// codeFor returns the code that the person has to type back before an answer counts, or "" if the answer needs no code.
func (a *approval) codeFor(answer *umpire.Answer, list []umpire.Pending) string {
	if a.conf.Code == nil || answer.Choice != umpire.Approve {
		return ""
	}
	for i := range list {
		if code := a.conf.Code(answer, &list[i]); code != "" {
			return code
		}
	}
	return ""
}

// A codedAnswer is an answer that waits until its code was typed.
type codedAnswer struct {
	code   string
	answer umpire.Answer
	list   []umpire.Pending
}

// confirmCode takes the code that was typed.
func (a *approval) confirmCode() tea.Cmd {
	coded := a.coded
	a.step, a.coded = stepNone, codedAnswer{}
	if coded.code == "" || trimTyped(a.input.Value()) != coded.code {
		a.complaint = a.text("wrong code: nothing was approved")
		return nil
	}
	return a.hand(coded.answer, coded.list)
}
