package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A turn is what the agent is doing.
type turn struct {
	stop     func() // ends it; nil while the agent does nothing
	stopping bool
	since    time.Time
	queued   int    // messages that came while it went on
	saying   string // a reply that is still coming in

	call    umpire.CallID // that runs
	about   string
	began   time.Time
	output  string // the last of what it has printed
	ticking bool
}

// A turnMsg says that a turn has ended.
type turnMsg struct {
	note string
	err  error
}

// submit sends the message that was written, or does what it commands.
func (m *model) submit() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
	if text == "" {
		if m.over {
			return m.quit()
		}
		return nil
	}
	m.wrote.keep(text)
	m.input.Reset()
	m.scroll = 0
	if name, rest, is := asCommand(text); is {
		return m.command(name, rest)
	}
	return m.send(text)
}

// send gives the agent a message, or queues it behind what it is doing.
func (m *model) send(text string) tea.Cmd {
	if m.turn.stop == nil {
		m.log.say(userEntry, text)
		return m.startTurn(text)
	}
	m.turn.queued++
	m.log.add(&entry{kind: userEntry, text: text, queued: true})
	prompt := umpire.Prompt{Session: m.session.ID, Text: text}
	return m.do(func(ctx context.Context) tea.Msg {
		_, err := m.conf.Gate.Prompt(ctx, prompt)
		return noteMsg{err: err}
	})
}

// startTurn has the agent work.
func (m *model) startTurn(task string) tea.Cmd {
	stop, report := m.begin(m.session, task)
	m.turn = turn{stop: stop, since: m.conf.Now(), ticking: m.turn.ticking}
	return tea.Batch(report, m.tick())
}

// cancelTurn stops what the agent does. While calls wait that is for an answer to say.
func (m *model) cancelTurn() tea.Cmd {
	switch {
	case m.turn.stop == nil || m.turn.stopping:
	case m.ask.open():
		m.log.say(noteEntry, m.text("a call waits: Tab goes to it, and c there cancels the turn"))
	default:
		m.turn.stopping = true
		m.turn.stop()
		m.log.say(noteEntry, m.text("stopping…"))
	}
	return nil
}

// turnEnded says how a turn ended, and goes on with what was queued too late for it.
func (m *model) turnEnded(msg turnMsg) tea.Cmd {
	was := m.turn
	m.turn = turn{ticking: was.ticking}
	m.ear.forget()
	switch {
	case m.leaving:
		return nil
	case was.stopping:
		m.log.say(noteEntry, m.text("stopped"))
	case msg.err != nil:
		m.log.say(warningEntry, m.problem(msg.err))
		if was.queued > 0 {
			m.log.say(noteEntry, m.textf("messages that wait to be sent with the next one: %d", was.queued))
		}
	default:
		m.note(noteMsg{text: msg.note})
		if was.queued > 0 {
			return tea.Batch(m.startTurn(""), m.refresh())
		}
	}
	m.endOnce()
	return m.refresh()
}

// endOnce says after the first turn of a chat for one task how to leave it.
func (m *model) endOnce() {
	if !m.conf.Once || m.over {
		return
	}
	m.over = true
	m.log.say(noteEntry, m.text("That was all. Press Enter to leave."))
}

// callEnded shows a call with its result.
func (m *model) callEnded(msg endedMsg) {
	e := &entry{kind: callEntry, text: subject(msg.call.Tool, msg.call.Input), status: msg.result.Status, detail: told(&msg.result)}
	interrupted := msg.result.Status == umpire.ResultCancelled && msg.result.Code == "" // and not refused
	refused := msg.result.Status == umpire.ResultDenied || msg.result.Status == umpire.ResultCancelled
	if refused && !interrupted && msg.call.Reason != "" {
		e.detail = m.conf.Text.Reason(msg.call.Reason)
	}
	m.log.add(e)
	if m.turn.call == msg.call.ID {
		m.turn.call, m.turn.output = "", ""
	}
}

// told is what a call gave, for a person: of a refusal that is the reason that a person
// gave, and not what the model is told beside it.
func told(r *umpire.Result) string {
	if r.Code != umpire.CodeDenied && r.Code != umpire.CodeCancelled {
		return r.Output
	}
	_, reason, _ := strings.Cut(r.Output, " Reason: ")
	return strings.TrimSuffix(reason, ". Please adjust your approach.")
}

// maxOutput bounds what is kept of what a running call prints.
const maxOutput = 4 << 10

// printed takes in what a call that runs prints. A line that is drawn over itself is
// shown as it is last.
func (t *turn) printed(msg outputMsg) {
	if msg.call != t.call {
		t.call, t.output = msg.call, ""
	}
	t.output += msg.text
	t.output = strings.ToValidUTF8(t.output[max(0, len(t.output)-maxOutput):], "")
}

// started takes in that a call runs.
func (m *model) started(e *umpire.Event) {
	m.turn.call, m.turn.about, m.turn.began, m.turn.output = e.Call, e.Tool, e.At, ""
	if about := m.commands(e); about != "" {
		m.turn.about += " " + about
	}
}

// commands are those that a call runs, or else all that it does.
func (b *base) commands(e *umpire.Event) string {
	var lines []string
	for i := range e.Accesses {
		if a := &e.Accesses[i]; a.Kind == umpire.KindExec && a.Program != "" {
			lines = append(lines, view.CommandLine(append([]string{a.Program}, a.Args...)))
		}
	}
	if len(lines) == 0 {
		return b.accessText(e)
	}
	return strings.Join(lines, "; ")
}

// A tickMsg moves the clock of what runs.
type tickMsg struct{}

// tickEvery is how often a running turn is drawn again although nothing is heard.
const tickEvery = time.Second

// tick has the clock move on while the agent works.
func (m *model) tick() tea.Cmd {
	if m.turn.ticking || m.still {
		return nil
	}
	m.turn.ticking = true
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *model) ticked() tea.Cmd {
	m.turn.ticking = false
	if m.turn.stop == nil && !m.ask.open() {
		return nil
	}
	return m.tick()
}

// liveOutput is how many lines of a running call are shown.
const liveOutput = 3

// live draws what is going on right now.
func (m *model) live(width int) []string {
	switch {
	case m.turn.saying != "":
		return append(append([]string{""}, markdown(m.turn.saying, width)...), "", m.working(width))
	case m.turn.stop == nil || m.ask.open():
		return nil
	case m.turn.call != "":
		return m.liveCall(width)
	}
	return []string{m.working(width)}
}

// working says that the agent does something, and for how long it has.
func (m *model) working(width int) string {
	line := "… " + m.text("working; Esc stops")
	if took := m.conf.Now().Sub(m.turn.since).Truncate(time.Second); took > 0 {
		line += " · " + took.String()
	}
	return dimStyle.Render(cut(line, width))
}

func (m *model) liveCall(width int) []string {
	took := m.conf.Now().Sub(m.turn.began).Truncate(time.Second)
	head := warnStyle.Render("● ") + oneLine(m.turn.about, max(10, width-12)) + dimStyle.Render(" "+max(0, took).String())
	lines := []string{cut(head, width)}
	if strings.TrimSpace(m.turn.output) == "" {
		return lines
	}
	printed := strings.Split(strings.TrimRight(m.turn.output, "\r\n"), "\n")
	for _, line := range printed[max(0, len(printed)-liveOutput):] {
		line = strings.TrimSuffix(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		lines = append(lines, dimStyle.Render("  "+oneLine(line, width-2)))
	}
	return lines
}
