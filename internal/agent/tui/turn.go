package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A turn is the state of the agent's current work.
type turn struct {
	stop     func() // ends the turn; nil while the agent is idle
	stopping bool
	since    time.Time
	queued   int    // messages sent during the turn
	saying   string // the reply so far

	call    umpire.CallID // the running call
	about   string
	began   time.Time
	output  string // the end of its output
	ticking bool
}

// A turnMsg says that a turn has ended.
type turnMsg struct {
	note string
	err  error
}

// submit sends the message in the field, or runs it as a command.
func (m *model) submit() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
	if text == "" {
		if m.over {
			return m.quit()
		}
		return nil
	}
	m.wrote.rememberMessage(text)
	m.input.Reset()
	m.scroll = 0
	if name, rest, is := asCommand(text); is {
		return m.command(name, rest)
	}
	return m.send(text)
}

// send gives the agent a message, or queues it during a turn.
func (m *model) send(text string) tea.Cmd {
	if m.turn.stop == nil {
		m.log.say(userEntry, text)
		return m.startTurn(text)
	}
	m.turn.queued++
	m.log.addEntry(&entry{kind: userEntry, text: text, queued: true})
	prompt := umpire.Prompt{Session: m.session.ID, Text: text}
	return m.do(func(ctx context.Context) tea.Msg {
		_, err := m.conf.Gate.Conversations().Prompt(ctx, prompt)
		return noteMsg{err: err}
	})
}

// startTurn has the agent work.
func (m *model) startTurn(task string) tea.Cmd {
	stop, report := m.beginTurn(m.session, task)
	m.turn = turn{stop: stop, since: m.conf.Now(), ticking: m.turn.ticking}
	return tea.Batch(report, m.tick())
}

// cancelTurn stops the agent. While calls wait, the person must answer them instead.
func (m *model) cancelTurn() tea.Cmd {
	switch {
	case m.turn.stop == nil || m.turn.stopping:
	case m.ask.isOpen():
		m.log.say(noteEntry, m.text("a call waits: Tab goes to it, and c there cancels the turn"))
	default:
		m.turn.stopping = true
		m.turn.stop()
		m.log.say(noteEntry, m.text("stopping…"))
	}
	return nil
}

// turnEnded reports how a turn ended, and continues with messages that were queued too late for it.
func (m *model) turnEnded(msg turnMsg) tea.Cmd {
	was := m.turn
	m.turn = turn{ticking: was.ticking}
	m.handler.dropReply()
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
		m.showNote(noteMsg{text: msg.note})
		if was.queued > 0 {
			return tea.Batch(m.startTurn(""), m.refresh())
		}
	}
	if m.conf.Once && !m.over {
		m.over = true
		m.log.say(noteEntry, m.text("That was all. Press Enter to leave."))
	}
	return m.refresh()
}

// sayCall shows a call with its result.
func (b *base) sayCall(msg endedMsg) {
	r := &msg.result
	e := &entry{
		kind: callEntry, text: subjectOf(msg.call.Tool, msg.call.Input), status: r.Status, detail: resultText(r),
	}
	interrupted := r.Status == umpire.ResultCancelled && r.Code == "" // and not refused
	refused := r.Status == umpire.ResultDenied || r.Status == umpire.ResultCancelled
	if refused && !interrupted && msg.call.Reason != "" {
		e.detail = b.conf.Text.Reason(msg.call.Reason)
	}
	b.log.addEntry(e)
}

// ended records that a call has its result.
func (t *turn) ended(call umpire.CallID) {
	if t.call == call {
		t.call, t.output = "", ""
	}
}

// resultText is a call's result for a person: of a refusal only the reason that a person
// gave, without the advice for the model.
func resultText(r *umpire.Result) string {
	if r.Code != umpire.CodeDenied && r.Code != umpire.CodeCancelled {
		return r.Output
	}
	_, reason, _ := strings.Cut(r.Output, " Reason: ")
	return strings.TrimSuffix(reason, ". Please adjust your approach.")
}

// maxOutput limits the displayed output of a running call, in bytes.
const maxOutput = 4 << 10

// printed adds output of a running call. Of a line that overwrites itself, it keeps the
// last version.
func (t *turn) printed(msg outputMsg) {
	if msg.call != t.call {
		t.call, t.output = msg.call, ""
	}
	t.output += msg.text
	t.output = strings.ToValidUTF8(t.output[max(0, len(t.output)-maxOutput):], "")
}

// started records a running call and its subject.
func (t *turn) started(e *umpire.Event, about string) {
	t.call, t.about, t.began, t.output = e.Call, strings.TrimSpace(e.Tool+" "+about), e.At, ""
}

// resumeCall restores the running call from history. Watching omits the events in
// history, so no later event would report it.
func (t *turn) resumeCall(b *base, history []umpire.Event) {
	finished := map[umpire.CallID]bool{}
	for i := range slices.Backward(history) {
		switch e := &history[i]; e.Kind { // the other kinds neither start nor finish a call
		case umpire.EventCallFinished, umpire.EventCallIndeterminate:
			finished[e.Call] = true
		case umpire.EventCallStarted:
			if e.Call != t.call && !finished[e.Call] {
				t.started(e, b.commands(e))
			}
			return
		}
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

// A tickMsg updates the elapsed time of a running turn.
type tickMsg struct{}

// tickEvery is how often a running turn is redrawn without news.
const tickEvery = time.Second

// tick starts the clock while the agent works.
func (m *model) tick() tea.Cmd {
	if m.turn.ticking || m.still {
		return nil
	}
	m.turn.ticking = true
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *model) ticked() tea.Cmd {
	m.turn.ticking = false
	if m.turn.stop == nil && !m.ask.isOpen() {
		return nil
	}
	return m.tick()
}

// liveOutput is how many lines of a running call are shown.
const liveOutput = 3

// live draws the current work of the agent.
func (t *turn) live(b *base, asks bool) []string {
	switch {
	case t.saying != "":
		return append(append([]string{""}, drawMarkdown(t.saying, b.width)...), "", t.working(b))
	case t.stop == nil || asks:
		return nil
	case t.call != "":
		return t.liveCall(b)
	}
	return []string{t.working(b)}
}

// working says that the agent is working, and for how long.
func (t *turn) working(b *base) string {
	line := "… " + b.text("working; Esc stops")
	if took := b.conf.Now().Sub(t.since).Truncate(time.Second); took > 0 {
		line += " · " + took.String()
	}
	return dimStyle.Render(cutLine(line, b.width))
}

func (t *turn) liveCall(b *base) []string {
	took := b.conf.Now().Sub(t.began).Truncate(time.Second)
	clock := dimStyle.Render(" " + max(0, took).String())
	lines := []string{cutLine(warnStyle.Render("● ")+oneLine(t.about, max(10, b.width-12))+clock, b.width)}
	if strings.TrimSpace(t.output) == "" {
		return lines
	}
	printed := strings.Split(strings.TrimRight(t.output, "\r\n"), "\n")
	for _, line := range printed[max(0, len(printed)-liveOutput):] {
		line = strings.TrimSuffix(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		lines = append(lines, dimStyle.Render("  "+oneLine(line, b.width-2)))
	}
	return lines
}
