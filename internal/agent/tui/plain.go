package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// The plain mode is the same chat without a screen: it writes events line by line, never
// redraws, and reads input a line at a time.

// A plain drives the model without a screen.
type plain struct {
	m        *model
	out      io.Writer
	messages chan tea.Msg
	written  *entry          // the last one written
	card     *view.Card      // the last one written
	offered  []view.Option   // the possible answers to the card
	running  umpire.CallID   // the call that was last reported as running
	prompted bool            // the prompt for a message was written
	wanted   *view.Card      // the card whose prompt was written
	held     *view.Card      // the card held back for a moment
	done     <-chan struct{} // closed when messages are no longer received
	open     bool            // a line is open for the person's input
}

// A lineMsg is a typed line, with its time. The last one says that the input has ended.
type lineMsg struct {
	text string
	at   time.Time
	end  bool
}

// RunPlain talks line by line until the person leaves, input ends or ctx does.
func (c *Chat) RunPlain(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &plain{m: newModel(c.conf), out: c.conf.Out, messages: make(chan tea.Msg), done: ctx.Done()}
	p.m.still, p.m.reach = true, earlierSpoken
	p.m.conf.Once = false // its lines stay on the terminal, so it may leave at once
	c.connect(ctx, p.m, func(message any) { p.send(message) })
	go p.readInput(c.conf.In) // ends with the process: a terminal read cannot be cancelled
	p.startCommand(p.m.Init())
	err := p.loop(ctx, c.conf.Once)
	p.print() // ends a line that was begun
	cancel()
	c.work.Wait()
	return err
}

// send hands a message to the loop, unless that has ended.
func (p *plain) send(msg tea.Msg) {
	select {
	case p.messages <- msg:
	case <-p.done:
	}
}

// startCommand runs a command concurrently with the loop.
func (p *plain) startCommand(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, one := range msg {
				p.startCommand(one)
			}
		default:
			p.send(msg)
		}
	}()
}

// maxLine bounds a line that is typed.
const maxLine = 1 << 20

func (p *plain) readInput(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		p.send(lineMsg{text: lines.Text(), at: p.m.conf.Now()})
	}
	p.send(lineMsg{end: true})
}

// loop handles messages and writes new output, until the chat is left or its only turn
// has ended.
func (p *plain) loop(ctx context.Context, once bool) error {
	for {
		p.writeNew()
		var msg tea.Msg
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case msg = <-p.messages:
		}
		switch msg := msg.(type) {
		case tea.QuitMsg:
			return nil
		case eventMsg:
			if err := p.event(&msg.event); err != nil {
				return err
			}
		case lineMsg:
			p.startCommand(p.typed(msg))
		default:
			_, cmd := p.m.Update(msg)
			if _, ended := msg.(turnMsg); ended && once {
				p.writeNew()
				return nil
			}
			p.startCommand(cmd)
		}
	}
}

// event writes an event of the session as a line of JSON, if that is wanted.
func (p *plain) event(e *umpire.Event) error {
	if p.m.conf.Events == nil {
		return nil
	}
	_, err := p.m.conf.Events.Write(view.VisibleJSON(strictjson.EncodeLine(e)))
	return err
}

// typed handles a line: an answer if a card waits, or else a message or a command.
func (p *plain) typed(line lineMsg) tea.Cmd {
	p.prompted, p.wanted, p.open = false, nil, false
	switch {
	case line.end:
		return p.m.quit()
	case p.m.ask.isOpen() && !strings.HasPrefix(line.text, "/"):
		return p.choose(line)
	}
	p.m.input.SetValue(line.text)
	return p.m.submit()
}

// choose takes an answer. Text typed before the card was shown for a moment does not count.
func (p *plain) choose(line lineMsg) tea.Cmd {
	a := &p.m.ask
	if p.card != a.card || line.at.Sub(a.shown) < settleTime || a.state == cardLoading {
		return nil
	}
	key, words, _ := strings.Cut(strings.TrimSpace(line.text), " ")
	words = cleanTyped(strings.TrimSpace(words))
	if section, is := map[string]func() []string{
		"e": p.explain, "v": p.raw, "d": func() []string { return p.m.ask.diff },
	}[key]; is {
		p.say(section()...)
		return nil
	}
	at := slices.IndexFunc(p.offered, func(o view.Option) bool { return o.Key == key })
	if at < 0 {
		return nil
	}
	answer := p.offered[at].Answer
	left := cardView{a}.leftOut()
	if len(left) > 0 && !a.blind && view.Approves(&answer, a.current()) {
		a.blind = true
		p.say(p.m.textf("Not shown in full: %s", view.List(left, ", ")),
			p.m.textf("Type %s again to approve it without seeing that", key))
		return nil
	}
	switch {
	case words == "" && answer.Choice == umpire.Try:
		return p.m.ask.try()
	case words == "":
	case answer.Choice == umpire.Refuse:
		answer.Reason = words
	case answer.Choice == umpire.Approve && answer.Scope > umpire.ScopeSession:
		rule, err := policy.ParseShort(words)
		if err != nil {
			p.say(p.m.problem(err))
			return nil
		}
		answer.Rule = policy.FormatShort(rule)
	default:
		return nil
	}
	return p.m.ask.sendAnswer(answer)
}

func (p *plain) explain() []string {
	lines := strings.Split(p.card.AskerAt(p.m.conf.Now()), "\n")
	card := p.card
	p.m.do(func(ctx context.Context) tea.Msg {
		p.m.ask.why = p.m.loadWhy(ctx, card)
		return nil
	})()
	return append(lines, cardView{&p.m.ask}.whyLines()...)
}

func (p *plain) raw() []string { return []string{laidOutJSON(p.m.ask.current().Input)} }

// print writes lines of the program itself. It repeats the open question below them.
func (p *plain) print(lines ...string) {
	if p.open {
		fmt.Fprintln(p.out)
		p.prompted, p.wanted, p.open = false, nil, false
	}
	for _, line := range lines {
		fmt.Fprintln(p.out, line)
	}
}

// want writes a prompt.
func (p *plain) want(text string) {
	fmt.Fprint(p.out, text)
	p.open = true
}

// say writes lines of any origin, made safe.
func (p *plain) say(texts ...string) {
	for _, text := range texts {
		p.print(safeLines(text)...)
	}
}

// writeNew writes the output since the last time.
func (p *plain) writeNew() {
	p.writeEntries()
	p.writeScreen()
	p.writeRunning()
	p.writeCard()
	p.writeKeys()
	if p.m.turn.stop == nil && !p.m.ask.isOpen() && !p.prompted && !p.m.leaving && p.m.screen == nil {
		p.prompted = true
		p.want("> ")
	}
}

func (p *plain) writeEntries() {
	all := p.m.log.entries
	for _, e := range all[1+slices.Index(all, p.written):] {
		p.writeEntry(e)
		p.written = e
	}
}

// writeEntry writes an entry. A message of the person's is there already.
func (p *plain) writeEntry(e *entry) {
	switch e.kind {
	case userEntry:
		switch {
		case e.queued:
			p.say(strings.TrimSpace(view.Bracketed("", p.m.text("queued"))))
		case e.earlier:
			p.say("> " + e.text)
		}
	case assistantEntry:
		p.say(e.text)
	case callEntry:
		p.say("[" + p.m.conf.Text.Word("status", string(e.status)) + "] " + oneLine(e.text, maxWritten))
		p.writeOutput(e.detail)
	case noteEntry, warningEntry:
		p.say(e.text)
	}
}

// maxWritten bounds a line about a call, in columns.
const maxWritten = 400

// writeOutput writes the beginning of a call's output.
func (p *plain) writeOutput(text string) {
	if text == "" {
		return
	}
	lines := safeLines(text)
	for _, line := range lines[:min(len(lines), outputShown)] {
		p.print("  | " + cutLine(line, maxWritten))
	}
	if more := len(lines) - outputShown; more > 0 {
		p.print("  " + p.m.conf.Text.Count(more, "… %d more line", "… %d more lines"))
	}
}

// writeScreen writes the current full-screen view, once it is loaded.
func (p *plain) writeScreen() {
	if p.m.screen == nil {
		return
	}
	lines, loaded := p.m.screen.readLines(p.m)
	if !loaded {
		return
	}
	p.m.screen, p.prompted = nil, false
	for _, line := range lines {
		p.print(ansi.Strip(line))
	}
}

func (p *plain) writeRunning() {
	call := p.m.turn.call
	if call != "" && call != p.running {
		p.say("[" + p.m.text("running") + "] " + oneLine(p.m.turn.about, maxWritten))
	}
	p.running = call
}

// cardPause is how long a card is held back. Cards and messages arrive on different
// paths, and an earlier message should appear above the card.
const cardPause = 200 * time.Millisecond

// holds reports whether the card is held back for now.
func (p *plain) holds() bool {
	a := &p.m.ask
	if a.card == nil || a.card == p.card {
		return false
	}
	if a.comparing {
		return true // the diff is part of the card
	}
	if p.held != a.card {
		p.held = a.card
		p.startCommand(tea.Tick(cardPause, func(time.Time) tea.Msg { return settledMsg{} }))
	}
	return p.m.conf.Now().Sub(a.shown) < cardPause
}

// writeCard writes a question and the possible answers.
func (p *plain) writeCard() {
	a := &p.m.ask
	if p.holds() || a.card == p.card && (a.complaint == "" || a.card == nil) {
		return
	}
	if p.card = a.card; a.card == nil {
		return
	}
	if a.complaint != "" {
		p.say(a.complaint)
		a.complaint = ""
	} else {
		a.shown = p.m.conf.Now() // from here on it is shown
		p.startCommand(p.m.ask.settle())
		p.print(a.card.Whole())
		for _, f := range a.folded {
			p.print(f.Text)
		}
	}
	p.offered = a.card.Options()
	for _, o := range p.offered {
		p.print("  " + view.Padded(o.Key, 3) + o.Text)
	}
	p.wanted = nil
}

// writeKeys lists the possible answers, once the card can be answered.
func (p *plain) writeKeys() {
	if p.card == nil || p.card == p.wanted || !p.m.ask.settled() || p.m.ask.state == cardLoading {
		return
	}
	p.wanted = p.card
	var keys []string
	for _, o := range p.offered {
		keys = append(keys, o.Key)
	}
	p.want(p.m.textf("Type %s and Enter: ", strings.Join(append(keys, "e", "v", "d"), "/")))
}
